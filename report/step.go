package report

import (
	"strconv"
	"time"

	"queuebench/analysis"
	"queuebench/figure"
	"queuebench/report/texts"
)

// step is one step in depth: the time line above, and below it, in elements of
// their own that a brush replaces, what is of the part that it looks at.
func (b *builder) step(i int) (string, error) {
	s := b.sum.Steps[i]
	var w writer
	title, scheduled := texts.At(b.stepName(s)), true
	if s.Loop != nil || s.Tail != nil || s.Drain != nil && s.Rate == 0 { // no rate was asked for
		title, scheduled = texts.UpperFirst(b.stepName(s)), false
	}
	w.raw(`<h2>`).text(title).raw(`</h2>`)
	w.raw(`<p class="note">`)
	w.text(texts.Lasted(scheduled, figure.Duration(duration(s.DurationNs)), figure.Duration(duration(s.WarmupNs)), s.WarmupRule))
	if !s.Complete {
		w.raw(` <b>` + texts.StepIncomplete + `</b>`)
	}
	w.raw(`</p>`)
	if s.Failure != "" {
		w.raw(`<p class="error">`).text(texts.StepFailed(s.Failure)).raw(`</p>`)
	}
	if t := b.digestStep(s); t != nil {
		series := analysis.SeriesOf(t, b.v)
		if err := w.figure(figure.LatencyOverTime(series, b.style()), b.brush(s)...); err != nil {
			return "", err
		}
		b.lines(&w, series)
	}
	for _, part := range []struct {
		id    string
		build func(*writer, analysis.StepSummary) error
	}{{partSpectrum, b.spectrum}, {"more", b.more}, {partNumbers, b.numbers}} {
		w.raw(`<div id="`, stepID(s), `-`, part.id, `">`)
		if err := part.build(&w, s); err != nil {
			return "", err
		}
		w.raw(`</div>`)
	}
	if b.sum.DurabilityDiffers() {
		w.el("p", texts.StepDurability(s.Durability))
	}
	b.stages(&w, s)
	if len(s.Settings) > 0 {
		w.raw(`<details data-key="settings-`, stepID(s), `"><summary>`+texts.StepSettings+`</summary>`)
		pairs(&w, s.Settings)
		w.raw(`</details>`)
	}
	return w.String(), nil
}

// The parts below a time line that are drawn again while something is dragged
// over it.
const (
	partSpectrum = "spectrum"
	partNumbers  = "numbers"
)

// brush says for the page's script what is selected in a time line: the window
// and the end of the warm-up, in seconds.
func (b *builder) brush(s analysis.StepSummary) []string {
	from, to := s.KeptNs()
	out := []string{"data-brush", numbers(time.Duration(from).Seconds(), time.Duration(to).Seconds()),
		"data-warmup", seconds(duration(s.WarmupNs)), "data-step", itoa(s.Step), "data-repeat", itoa(s.Repeat)}
	if s.Window != nil {
		out = append(out, "data-windowed", "true")
	}
	return out
}

// lines are the choice of what a time line draws, for pages with scripts.
func (b *builder) lines(w *writer, s analysis.Series) {
	usual := figure.UsualLines(s.Percentiles)
	w.raw(`<fieldset class="lines" hidden><legend>` + texts.Lines + `</legend>`)
	box := func(value, name string, on bool) {
		w.raw(`<label><input type="checkbox" data-line="`).text(value).raw(`"`)
		if on {
			w.raw(` checked`)
		}
		w.raw(`> `).text(name).raw(`</label> `)
	}
	for _, p := range s.Percentiles {
		key := analysis.FormatPercent(p)
		box(key, figure.PercentileName(p), b.v.Draws(key, usual[p]))
	}
	for _, part := range analysis.LineParts {
		if part == analysis.LineSlowest && len(s.Slowest) == 0 {
			continue
		}
		box(part, partNames[part], b.v.Draws(part, true))
	}
	w.raw(`</fieldset>`)
}

var partNames = map[string]string{
	analysis.LineMax: texts.LineMax, analysis.LineBand: texts.LineBand, analysis.LineDensity: texts.LineDensity, analysis.LineSlowest: texts.LineSlowest,
}

// spectrum is the figure of a step's percentiles.
func (b *builder) spectrum(w *writer, s analysis.StepSummary) error {
	t := b.digestStep(s)
	if t == nil {
		return nil
	}
	if s.Window != nil {
		w.raw(`<p class="note window">`).text(texts.WindowOf(figure.Duration(duration(s.Window.FromNs)), figure.Duration(duration(s.Window.ToNs)))).raw(`</p>`)
	}
	dist := analysis.DistributionOf(b.d, t, b.v)
	if dist.N() == 0 {
		w.raw(`<p class="note">` + texts.NothingHere + `</p>`)
		return nil
	}
	f := figure.PercentileSpectrum([]analysis.Distribution{dist}, b.style())
	w.el("h3", f.Title)
	return w.figure(f)
}

// more are the figures that explain it, behind a line that opens.
func (b *builder) more(w *writer, s analysis.StepSummary) error {
	t := b.digestStep(s)
	if t == nil || s.Latencies[b.v.Kind.String()].N == 0 {
		return nil
	}
	flow := analysis.FlowOf(t, b.v)
	w.raw(`<details data-key="more-`, itoa(s.Step), `-`, itoa(s.Repeat), `"><summary>`).text(texts.More).raw(`</summary>`)
	for _, f := range []figure.Figure{
		figure.LatencyDistribution(analysis.DistributionOf(b.d, t, b.v), b.style()),
		figure.ThroughputOverTime(flow, b.style()),
		figure.BacklogOverTime(flow, b.style()),
	} {
		w.el("h3", f.Title)
		if b.crowded() {
			f.Data.Cells = nil
		}
		if err := w.figure(f); err != nil {
			return err
		}
	}
	if b.crowded() {
		w.raw(`<p class="note">`).text(texts.Crowded).raw(`</p>`)
	}
	w.raw(`</details>`)
	return nil
}

// crowded says that so many steps are drawn in depth that a page must be sparing:
// one for readers without scripts.
func (b *builder) crowded() bool {
	const few = 3
	return b.o.Place == nil && len(b.d.Steps) > few
}

// crowdedSlowest is how many slow messages such a page lists of each step.
const crowdedSlowest = 10

// numbers are the slowest messages, and the table of all latencies.
func (b *builder) numbers(w *writer, s analysis.StepSummary) error {
	if t := b.digestStep(s); t != nil {
		b.slowest(w, t)
	}
	b.latencies(w, s)
	return nil
}

// slowest is the table of the slowest messages, and where the time of each went.
// Its cells are bare as those behind a figure.
func (b *builder) slowest(w *writer, s *analysis.StepDigest) {
	all := analysis.SlowestOf(s, b.v)
	if len(all) == 0 {
		return
	}
	kept, note := len(all), analysis.SlowestNote
	if b.crowded() && kept > crowdedSlowest {
		all = all[:crowdedSlowest]
		note = texts.SlowestSome(len(all), kept, note)
	}
	w.raw(`<details class="data slowest" data-key="slowest-`, itoa(s.Step), `-`, itoa(s.Repeat), `"><summary>`)
	w.text(texts.Slowest(kept))
	w.raw(`</summary><div class="scroll tall" tabindex="0" role="region" aria-label="`).text(texts.SlowestOf(Place{s.Step, s.Repeat}.String())).raw(`"><table class="series" data-name="slowest-`, itoa(s.Step), `-`, itoa(s.Repeat), `"><caption>`)
	w.text(note).raw(`</caption><thead><tr>`)
	header := analysis.SlowestHeader(all)
	for _, name := range header {
		w.raw(`<th scope="col">`).text(name)
	}
	w.raw(`</thead><tbody>`)
	for i := range all {
		m := &all[i]
		w.raw(`<tr data-at="`, strconv.FormatFloat(time.Duration(m.Intended).Seconds(), 'g', 9, 64), ` `, strconv.FormatInt(m.Latency(), 10), `">`)
		for _, cell := range m.Cells(header) {
			w.raw(`<td>`).text(cell)
		}
	}
	w.raw(`</tbody></table></div></details>`)
}
