// Package report turns a digest and a view into the fragments of HTML that a
// report is made of: headline, findings, accounting, figures, tables, facts.
//
// The same pure functions run natively, where a report is written, and in the
// page's worker, where it is recomputed, so that what was drawn before and what
// is drawn after a change cannot disagree. It refuses to compute anything that
// package analysis does not say, and treats every name, label and message of a
// run as hostile text.
package report

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"queuebench/analysis"
	"queuebench/figure"
	"queuebench/report/texts"
)

// Options say for whom the fragments are drawn.
type Options struct {
	// Width is that of the figures in CSS pixels; 0 for 760.
	Width int
	// Place is the one step that is drawn in depth; nil for all of them, as a page
	// without scripts has it.
	Place *Place
	// Part is what is drawn of it: PartDepth, or empty for the whole document.
	Part string
	// Base is the index of the run that a comparison holds the others against,
	// and Labels name its runs, one for each: those of one label are replicates
	// of one side. Empty: each run is a side, named by what sets it apart.
	Base   int
	Labels []string
}

// Region is a fragment that is replaced as a whole when the view changes.
type Region struct {
	ID   string // of the element that holds it: "headline", "step-0-0", …
	HTML string
}

// Controls are the values that the page's inputs show for a view.
type Controls struct {
	Fragment    string // canonical, without "#"
	WarmupS     string // seconds: what is cut from the longest step
	WarmupAuto  bool   // by the default rule
	WarmupText  string // for people: "2 s, a tenth of the step"
	Percentiles string
	Latency     string
	Scale       string
	Step        string // the value of the step that is shown
	Steps       []Choice
	Interval    string
	Intervals   []Choice
	Window      string // "from 5 s to 10 s"; empty for all of each step
	// Edges are the seconds at which the slider stops.
	Edges []string
	// Hint says what is cut, and by which rule.
	Hint string
	// Change is a sentence for those who hear the page: what it shows now.
	Change string
}

// Document is a run under a view, ready to be put into a page.
type Document struct {
	Title    string // plain text
	Summary  analysis.Summary
	Regions  []Region // in the order of the page
	Controls Controls
}

// Build makes the document of a digest under a view. An error is for people to
// read: it says what in the view or the digest is at fault.
func Build(d *analysis.Digest, v analysis.View, o Options) (Document, error) {
	if d == nil {
		return Document{}, fmt.Errorf("no digest")
	}
	if len(v.Percentiles) == 0 {
		v.Percentiles = nil
	}
	if err := v.Check(d); errors.Is(err, analysis.ErrWarmup) || errors.Is(err, analysis.ErrWindow) {
		return Document{}, err
	}
	v = v.Of(d)
	b := builder{d: d, v: v, o: o, percentiles: v.Percentiles}
	if o.Part != "" {
		return b.part()
	}
	sum := analysis.SummarizePage(d, v, b.interval)
	b.sum = sum
	if b.percentiles == nil {
		b.percentiles = analysis.DefaultPercentiles
	}
	doc := Document{Title: texts.Title(clean(d.Manifest.Run)), Summary: sum}
	add := func(id string, html string, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		doc.Regions = append(doc.Regions, Region{id, html})
		return nil
	}
	rate, rateErr := b.perRate()
	err := cmpErr(
		add("headline", b.headline(), nil),
		add("findings", b.findings(), nil),
		add("per-rate", rate, rateErr),
		add("accounting", b.accounting(), nil),
	)
	if err != nil {
		return Document{}, err
	}
	for i := range sum.Steps {
		if !o.shows(sum.Steps[i]) {
			continue
		}
		html, err := b.step(i)
		if err := add(stepID(sum.Steps[i]), html, err); err != nil {
			return Document{}, err
		}
	}
	if err := add("facts", b.facts(), nil); err != nil {
		return Document{}, err
	}
	doc.Controls = b.controls()
	return doc, nil
}

// part is the document of what is asked for while something is dragged. Only the
// step that is shown is looked at, and intervals of percentiles are left for the
// whole page: they would take as long as all else.
func (b *builder) part() (Document, error) {
	if b.o.Part != PartDepth || b.o.Place == nil {
		return Document{}, fmt.Errorf("no part %q of a page", b.o.Part)
	}
	one := *b.d
	one.Steps = slices.DeleteFunc(slices.Clone(b.d.Steps), func(s analysis.StepDigest) bool { return *b.o.Place != Place{s.Step, s.Repeat} })
	b.sum = analysis.SummarizePage(&one, b.v, nil)
	if len(b.sum.Steps) == 0 {
		return Document{}, fmt.Errorf("the run has no step %s", b.o.Place)
	}
	if b.percentiles == nil {
		b.percentiles = analysis.DefaultPercentiles
	}
	step := b.sum.Steps[0]
	doc := Document{Summary: b.sum}
	for id, build := range map[string]func(*writer, analysis.StepSummary) error{partSpectrum: b.spectrum, partNumbers: b.numbers} {
		var w writer
		if err := build(&w, step); err != nil {
			return Document{}, fmt.Errorf("%s: %w", id, err)
		}
		doc.Regions = append(doc.Regions, Region{stepID(step) + "-" + id, w.String()})
	}
	b.d = &one
	doc.Controls = b.controls()
	return doc, nil
}

// cmpErr is the first error.
func cmpErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// builder holds what all fragments are made from.
type builder struct {
	d           *analysis.Digest
	v           analysis.View
	o           Options
	sum         analysis.Summary
	percentiles []float64
}

// interval tells which latencies have the intervals of their percentiles: what
// stands in the table per rate, and all of the steps in depth, unless a page has so
// many of them that it must be sparing.
func (b *builder) interval(s *analysis.StepDigest, k analysis.Kind) bool {
	return k == b.v.Kind || !b.crowded() && (b.o.Place == nil || *b.o.Place == Place{s.Step, s.Repeat})
}

func (b *builder) style() figure.Style {
	w := b.o.Width
	if w <= 0 {
		w = 760
	}
	return figure.Style{
		Width: w, Height: max(240, min(320, w*2/3)), Theme: figure.Page,
		LogScale: b.v.LogScale, Percentiles: b.percentiles, Draws: b.v.Draws,
	}
}

func stepID(s analysis.StepSummary) string { return fmt.Sprintf("step-%d-%d", s.Step, s.Repeat) }

// repeats says whether any step was run more than once: only then is the
// repeat worth a word.
func (b *builder) repeats() bool {
	return slices.ContainsFunc(b.d.Steps, func(s analysis.StepDigest) bool { return s.Repeat > 0 })
}

// stepName is what a step is called on the page.
func (b *builder) stepName(s analysis.StepSummary) string {
	name := rateName(s)
	if b.repeats() {
		name = texts.RepeatOf(name, s.Repeat+1)
	}
	return name
}

// rateName is what all repeats of a step are called.
func rateName(s analysis.StepSummary) string {
	name := loadName(s)
	if s.Variant != "" {
		name = texts.Variant(name, s.Variant)
	}
	return name
}

// loadName is the rate of a step, or what stands in its place.
func loadName(s analysis.StepSummary) string {
	if s.Loop != nil || s.Drain != nil || s.Imported || s.Tail != nil {
		return s.Name()
	}
	return texts.MsgPerS(rateText(s.Rate))
}

// digestStep finds the step of the digest behind a summary's step.
func (b *builder) digestStep(s analysis.StepSummary) *analysis.StepDigest {
	for i := range b.d.Steps {
		if t := &b.d.Steps[i]; t.Step == s.Step && t.Repeat == s.Repeat {
			return t
		}
	}
	return nil
}

// longest is the step with the longest schedule; nil where there is none.
func (b *builder) longest() *analysis.StepDigest {
	var best *analysis.StepDigest
	for i := range b.d.Steps {
		if best == nil || b.d.Steps[i].Duration > best.Duration {
			best = &b.d.Steps[i]
		}
	}
	return best
}

// imported says whether another tool measured the steps.
func (b *builder) imported() bool {
	return slices.ContainsFunc(b.sum.Steps, func(s analysis.StepSummary) bool { return s.Imported })
}

// seconds writes a duration as a plain number of seconds.
func seconds(d time.Duration) string { return figure.Number(d.Seconds()) }
