// Package comparison turns several digests and a view into the fragments of HTML
// that a comparison of runs is made of: verdict, what changed, the runs side by
// side, latency per rate, spectra and quantile ratios, and in what else the runs
// differ.
//
// Its numbers are those of package compare, in the words of the command line, and
// its fragments are put into the same page as those of package report. It refuses
// to compute and to name a winner: what the number of runs cannot show is "~".
// Every name of a run is hostile text.
package comparison

import (
	"errors"
	"fmt"

	"queuebench/analysis"
	"queuebench/analysis/compare"
	"queuebench/figure"
	"queuebench/report"
	"queuebench/report/markup"
	"queuebench/report/texts"
)

// builder holds what all fragments are made from.
type builder struct {
	v      analysis.View
	o      report.Options
	kind   analysis.Kind
	sides  []*side // in the order of their first run
	base   int     // index into sides
	result *compare.Result
	why    string // why there is no result
}

// Build makes the document of several runs under a view. The percentiles of the
// view are those that are tested: compare.DefaultPercentiles where it names none.
// An error is for people to read. Runs that have no load in common are no error:
// the document says so.
func Build(ds []*analysis.Digest, v analysis.View, o report.Options) (report.Document, error) {
	if len(ds) < 2 {
		return report.Document{}, fmt.Errorf("a comparison needs two runs, and %d was opened", len(ds))
	}
	if o.Base < 0 || o.Base >= len(ds) {
		return report.Document{}, fmt.Errorf("base %d: %d runs are open", o.Base+1, len(ds))
	}
	if len(v.Percentiles) == 0 {
		v.Percentiles = nil
	}
	for _, d := range ds {
		if d == nil {
			return report.Document{}, errors.New("no digest")
		}
		if err := v.Check(d); errors.Is(err, analysis.ErrWarmup) {
			return report.Document{}, fmt.Errorf("run %s: %w", d.Manifest.Run, err)
		}
	}
	b := &builder{v: v, o: o, kind: v.Of(ds[o.Base]).Kind}
	b.gather(ds)
	if err := b.compare(); err != nil {
		return report.Document{}, err
	}
	doc := report.Document{Title: texts.Title(markup.Clean(b.title()))}
	for _, r := range []struct {
		id    string
		build func(*markup.Writer) error
	}{
		{"headline", b.headline}, {"changes", b.changes}, {"sides", b.cards}, {"per-rate", b.perRate}, {"results", b.results},
		{"loads", b.loads}, {"accounting", b.accounting}, {"facts", b.facts},
	} {
		var w markup.Writer
		if err := r.build(&w); err != nil {
			return report.Document{}, fmt.Errorf("%s: %w", r.id, err)
		}
		doc.Regions = append(doc.Regions, report.Region{ID: r.id, HTML: w.String()})
	}
	doc.Controls = b.controls(ds)
	return doc, nil
}

// compare holds the sides against the base. Sides without a common load leave no
// result, and a reason.
func (b *builder) compare() error {
	sides := []compare.Side{{Label: b.sides[b.base].label, Runs: b.sides[b.base].runs}}
	for i, s := range b.sides {
		if i != b.base {
			sides = append(sides, compare.Side{Label: s.label, Runs: s.runs})
		}
	}
	if len(sides) == 1 {
		b.why = texts.OneSide
		return nil
	}
	r, err := compare.Compare(sides, compare.Options{View: b.v})
	switch {
	case errors.Is(err, compare.ErrSides):
		b.why = texts.NothingAlike
	case err != nil:
		return err
	default:
		b.result = r
	}
	return nil
}

// percentiles are those that are tested.
func (b *builder) percentiles() []float64 {
	if len(b.v.Percentiles) > 0 {
		return b.v.Percentiles
	}
	return compare.DefaultPercentiles
}

func (b *builder) style() figure.Style {
	w := b.o.Width
	if w <= 0 {
		w = 760
	}
	return figure.Style{Width: w, Height: max(240, min(320, w*2/3)), Theme: figure.Page, LogScale: b.v.LogScale}
}
