package figure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg/draw"

	"queuebench/analysis"
)

// MaxRuns is the number of runs that a figure lays over each other: more lines
// could not be told apart.
const MaxRuns = maxSpectra

// RunSteps are the steps of one side of a comparison: of one run, or of several
// that are replicates of each other.
type RunSteps struct {
	Label string
	Class int // colour and dashes, the same in all figures of a comparison
	Steps []analysis.StepSummary
}

// RunsPerRate draws one percentile of a latency against the rate, a line for each
// run and, where its steps differ by more than the rate, for each of their
// settings.
func RunsPerRate(runs []RunSteps, kind analysis.Kind, percent float64, st Style) Figure {
	left := max(0, len(runs)-MaxRuns)
	f := Figure{
		Name:  "runs-per-rate-p" + strings.ReplaceAll(Number(percent), ".", "-"),
		Title: PercentileName(percent) + " of the " + kindName(kind) + " per rate",
		style: st,
	}
	var lines []rateLine
	var all analysis.Summary
	for _, r := range runs[:len(runs)-left] {
		all.Steps = append(all.Steps, r.Steps...)
		var variants []string
		for _, s := range r.Steps {
			if !slices.Contains(variants, s.Variant) {
				variants = append(variants, s.Variant)
			}
		}
		for _, v := range variants {
			label := printable(r.Label)
			if v != "" {
				label += ", " + printable(v)
			}
			l := rateLineOf(analysis.Summary{Steps: r.Steps}, kind, percent, v, label, r.Class)
			lines = append(lines, l)
		}
		f.Legend = append(f.Legend, LegendEntry{printable(r.Label), r.Class})
	}
	y, below := rateRange(lines, st.LogScale)
	f.Caption = fmt.Sprintf("Each mark is the %s of the %s (%s) of one step after its warm-up, at the rate that it ran at; each run keeps its colour and its dashes.",
		PercentileName(percent), kindName(kind), KindPath(kind)) + marksCaption(lines, below)
	if left > 0 {
		f.Caption += fmt.Sprintf(" %s in the table only.", plural(left, "more run is", "more runs are"))
	}
	rates, axis := ratesOf(all), rateAxisName(all)
	f.draw = func(c draw.Canvas, pal Palette, fc face) { drawPerRate(c, pal, fc, kind, axis, rates, lines, y) }
	return f
}

// RunDistribution is a distribution of one run.
type RunDistribution struct {
	Label string
	Class int
	analysis.Distribution
}

// RunSpectra lays the percentile spectra of one load over each other, a line for
// each run. The name tells loads apart, and is safe as a file's.
func RunSpectra(name, load string, runs []RunDistribution, st Style) Figure {
	kind := analysis.EndToEnd
	if len(runs) > 0 {
		kind = runs[0].Kind
	}
	f := Figure{Name: name, Title: upperFirst(kindName(kind)) + " by percentile, " + printable(load), style: st}
	left := max(0, len(runs)-MaxRuns)
	var ds []analysis.Distribution
	var lines []spectrum
	for i, r := range runs {
		ds = append(ds, r.Distribution)
		if i < MaxRuns {
			lines = append(lines, spectrumOf(r.Distribution, r.Class, printable(r.Label)))
		}
	}
	f.spectra(ds, lines, kind, left)
	f.Caption = strings.Replace(f.Caption, "more step is not", "more run is not", 1)
	f.Caption = strings.Replace(f.Caption, "more steps are not", "more runs are not", 1)
	return f
}

// RunRatios draws by how much each quantile of other runs differs from the
// base's, at one load: a line for each.
func RunRatios(name, load, base string, kind analysis.Kind, curves []RatioCurve, st Style) Figure {
	other := "each run"
	if len(curves) == 1 {
		other = curves[0].Label
	}
	f := QuantileRatio(base, other, kind, curves, st)
	f.Name, f.Title = name, upperFirst(printable(other))+" to "+printable(base)+", "+printable(load)
	f.Legend = slices.Clone(f.Legend)
	slices.SortStableFunc(f.Legend, func(a, b LegendEntry) int { return cmp.Compare(a.Class, b.Class) })
	return f
}

// Swatch is a short line in the colour and dashes of a class, as SVG for a legend
// in a page: the colour is the page's variable.
func Swatch(class int) string {
	dashes := ""
	for i, d := range lineStyle(lightPalette(), class).Dashes {
		if i > 0 {
			dashes += " "
		}
		dashes += Number(d.Points())
	}
	if dashes != "" {
		dashes = ` stroke-dasharray="` + dashes + `"`
	}
	return fmt.Sprintf(`<svg class="swatch" viewBox="0 0 34 10" width="34" height="10" aria-hidden="true"><path d="M0 5H34" fill="none" stroke="var(--fig-s%d)" stroke-width="2.4"%s/></svg>`, class, dashes)
}
