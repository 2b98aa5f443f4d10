package comparison

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"queuebench/analysis"
	"queuebench/analysis/compare"
	"queuebench/figure"
	"queuebench/report"
	"queuebench/report/markup"
	"queuebench/report/texts"
)

// loads has, for each load, the spectra of all runs over each other, and by how
// much each quantile differs from the base's.
func (b *builder) loads(w *markup.Writer) error {
	for i, l := range b.loadsOf() {
		w.Open("h2", "id", "load-"+itoa(i)).Text(texts.At(l.name)).Raw(`</h2>`)
		f := figure.RunSpectra(fmt.Sprintf("spectra-%d", i), l.name, b.spectra(l), b.style())
		if n := b.replicates(l); n > 1 {
			f.Caption += texts.MiddleLine(figure.PercentileName(b.tail()))
		}
		html, err := report.FigureHTML(f)
		if err != nil {
			return err
		}
		w.Raw(html)
		if err := b.ratios(w, i, l); err != nil {
			return err
		}
	}
	return nil
}

// tail is the highest percentile that is tested, p99 where that is among them.
func (b *builder) tail() float64 {
	ps := b.percentiles()
	if slices.Contains(ps, 99) {
		return 99
	}
	return ps[len(ps)-1]
}

func (b *builder) replicates(l *load) (most int) {
	for _, steps := range l.steps {
		most = max(most, len(steps))
	}
	return most
}

// spectra are the distributions of a load, of each side that of its middle
// replicate: a line that was measured, never a mean.
func (b *builder) spectra(l *load) (out []figure.RunDistribution) {
	for i, s := range b.sides {
		if len(l.steps[i]) == 0 {
			continue
		}
		at := b.middle(s, l.steps[i])
		v := b.v.Of(s.digests[at])
		v.Kind = b.kind
		d := analysis.DistributionOf(s.digests[at], s.steps[at], v)
		if d.N() > 0 {
			out = append(out, figure.RunDistribution{Label: s.label, Class: s.class, Distribution: d})
		}
	}
	return out
}

// middle is the replicate whose tail is the median one, by nearest rank.
func (b *builder) middle(s *side, steps []int) int {
	value := func(i int) float64 {
		p, ok := s.sum.Steps[i].Latencies[b.kind.String()].Percentiles[analysis.FormatPercent(b.tail())]
		switch {
		case !ok:
			return math.Inf(-1)
		case p.Beyond:
			return math.Inf(1)
		}
		return float64(p.Ns)
	}
	sorted := slices.Clone(steps)
	slices.SortStableFunc(sorted, func(x, y int) int { return cmp.Compare(value(x), value(y)) })
	return sorted[(len(sorted)-1)/2]
}

// ratios is the quantile-ratio curve of a load, a line for each side but the
// base, with the values behind it.
func (b *builder) ratios(w *markup.Writer, index int, l *load) error {
	if b.result == nil {
		return nil
	}
	var curves []figure.RatioCurve
	var points [][]compare.Point
	for _, p := range b.result.Pairs {
		for _, c := range p.Cells {
			if c.Name != l.name || len(c.Curve) == 0 {
				continue
			}
			curve := figure.RatioCurve{Label: p.New, Class: b.class(p.New)}
			for _, q := range c.Curve {
				curve.Points = append(curve.Points, figure.RatioPoint{Percent: q.Percent, Ratio: float64(q.Ratio), Low: float64(q.Low), High: float64(q.High)})
			}
			curves, points = append(curves, curve), append(points, c.Curve)
		}
	}
	if len(curves) == 0 {
		w.Raw(`<p class="note">`).Text(texts.NothingAgainst(b.sides[b.base].label)).Raw(`</p>`)
		return nil
	}
	f := figure.RunRatios(fmt.Sprintf("ratio-%d", index), l.name, b.sides[b.base].label, b.kind, curves, b.style())
	w.El("h3", f.Title)
	html, err := report.FigureHTML(f)
	if err != nil {
		return err
	}
	w.Raw(html)
	b.values(w, index, l, curves, points)
	return nil
}

func (b *builder) class(label string) int {
	for _, s := range b.sides {
		if s.label == label {
			return s.class
		}
	}
	return 0
}

// values is the data behind the figures of a load.
func (b *builder) values(w *markup.Writer, index int, l *load, curves []figure.RatioCurve, points [][]compare.Point) {
	w.Open("details", "class", "data", "data-key", "quantiles-"+itoa(index)).Raw(`<summary>` + texts.Quantiles + `</summary>`)
	w.Raw(`<div class="scroll tall" tabindex="0" role="region"`).Raw(` aria-label="`).Text(texts.QuantilesAt(l.name))
	w.Raw(`"><table class="series"><caption>`).Text(texts.QuantilesCaption(l.name)).Raw(`</caption><thead><tr><th scope="col">` + texts.RunName + `</th><th scope="col">` + texts.Percentile + `</th><th scope="col">` + texts.Base + `</th><th scope="col">` + texts.New + `</th><th scope="col">` + texts.Ratio + `</th><th scope="col">` + texts.Low + `</th><th scope="col">` + texts.High + `</th></tr></thead><tbody>`)
	for k, curve := range curves {
		for _, q := range points[k] {
			w.Raw(`<tr>`).El("td", curve.Label).El("td", analysis.FormatPercent(q.Percent))
			w.El("td", latencyText(q.BaseNs)).El("td", latencyText(q.NewNs))
			w.El("td", ratioText(q.Ratio)).El("td", ratioText(q.Low)).El("td", ratioText(q.High)).Raw(`</tr>`)
		}
	}
	w.Raw(`</tbody></table></div></details>`)
}

func latencyText(ns compare.Number) string {
	switch v := float64(ns); {
	case math.IsNaN(v):
		return analysis.Dash
	case math.IsInf(v, 1):
		return texts.Beyond
	default:
		return analysis.FormatLatency(int64(v))
	}
}

func ratioText(ratio compare.Number) string {
	switch v := float64(ratio); {
	case math.IsNaN(v):
		return analysis.Dash
	case math.IsInf(v, 1):
		return "∞"
	default:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
}
