package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"queuebench/analysis"
	"queuebench/figure"
	"queuebench/report/texts"
)

func (b *builder) controls() Controls {
	c := Controls{
		Fragment:    b.v.Fragment(),
		Latency:     b.v.Kind.String(),
		Scale:       "linear",
		WarmupAuto:  b.v.Warmup == nil,
		WarmupS:     "0",
		Edges:       []string{"0"},
		Percentiles: percentileList(b.percentiles),
	}
	if b.v.LogScale {
		c.Scale = "log"
	}
	cut := time.Duration(0)
	if b.v.Warmup != nil {
		cut = *b.v.Warmup
	}
	if s := b.longest(); s != nil {
		for _, t := range b.sum.Steps {
			if t.Step == s.Step && t.Repeat == s.Repeat && b.v.Warmup == nil {
				cut = time.Duration(t.WarmupNs)
			}
		}
		for _, iv := range s.Intervals {
			if iv.Start > 0 {
				c.Edges = append(c.Edges, seconds(iv.Start))
			}
		}
	}
	c.WarmupS = seconds(cut)
	c.WarmupText = figure.Duration(cut)
	if c.WarmupAuto {
		c.WarmupText = texts.ByDefault(c.WarmupText)
	}
	if b.o.Place != nil {
		c.Step = b.o.Place.String()
	} else if len(b.sum.Steps) > 0 {
		c.Step = Place{b.sum.Steps[0].Step, b.sum.Steps[0].Repeat}.String()
	}
	c.Steps, c.Intervals = b.choices(), b.intervals()
	if s := b.longest(); s != nil && b.v.Interval > s.Interval {
		c.Interval = b.v.Interval.String()
	}
	if b.v.Windowed() {
		c.Window = texts.From(figure.Duration(b.v.From))
		if b.v.To != 0 {
			c.Window = texts.FromTo(figure.Duration(b.v.From), figure.Duration(b.v.To))
		}
	}
	c.Change = b.change(cut)
	made, rule := cut, ""
	for _, t := range b.sum.Steps {
		if s := b.longest(); s != nil && t.Step == s.Step && t.Repeat == s.Repeat {
			made, rule = time.Duration(t.WarmupNs), t.WarmupRule
		}
	}
	c.Hint = texts.Cut(figure.Duration(made), rule)
	if c.Window != "" {
		c.Hint += texts.LookedAt(c.Window)
	}
	return c
}

// change tells those who hear the page what it shows now. Whatever control was
// used, what it says is in the text, or is gone from it, so that the text is
// another one and is said.
func (b *builder) change(cut time.Duration) string {
	var said []string
	if b.v.Kind != analysis.EndToEnd {
		said = append(said, b.v.Kind.Title())
	}
	if b.v.LogScale {
		said = append(said, texts.LogAxis)
	}
	for _, c := range b.choices() {
		if b.o.Place != nil && c.Value == b.o.Place.String() {
			said = append(said, texts.InDepth(c.Name))
		}
	}
	if b.v.Interval > 0 {
		said = append(said, texts.IntervalsOf(figure.Duration(b.v.Interval)))
	}
	if b.v.Lines != nil {
		said = append(said, texts.Drawn(b.v.Lines))
	}
	s := texts.Shown(said) + texts.WarmupWas(figure.Duration(cut))
	if b.v.Windowed() && len(b.sum.Steps) > 0 {
		from, to := b.sum.Steps[0].KeptNs()
		s += texts.LookedAtFrom(figure.Duration(duration(from)), figure.Duration(duration(to)))
	}
	for _, t := range b.sum.Steps {
		l := t.Latencies[b.v.Kind.String()]
		if l.N == 0 {
			continue
		}
		p := b.percentiles[len(b.percentiles)-1]
		for _, q := range b.percentiles {
			if q == 99 {
				p = q
			}
		}
		if v, ok := l.Percentiles[key(p)]; ok {
			s += texts.AtIs(b.stepName(t), figure.PercentileName(p), v.Text())
		}
	}
	return s
}

func percentileList(ps []float64) string {
	s := ""
	for i, p := range ps {
		if i > 0 {
			s += ", "
		}
		s += key(p)
	}
	return s
}

// key is a percentile's key in a summary.
func key(p float64) string { return analysis.FormatPercent(p) }

// ControlsHTML is the form of a page, with the values of c in it. Its inputs
// carry the names of the address's keys.
func ControlsHTML(c Controls) string {
	var w writer
	w.raw(`<form id="controls" class="controls" autocomplete="off" aria-label="` + texts.Controls + `">`)

	w.raw(`<div class="field grow"><label for="warmup-slider">` + texts.WarmupCut + `</label><div class="row">`)
	w.open("input", "type", "range", "id", "warmup-slider", "min", "0", "max", fmt.Sprint(max(1, len(c.Edges)-1)), "step", "1", "value", fmt.Sprint(c.Slot()),
		"aria-valuetext", c.WarmupText, "data-edges", strings.Join(c.Edges, " "))
	w.raw(`<span class="unit">`)
	w.open("input", "type", "number", "id", "warmup", "name", "warmup", "min", "0", "step", "any", "inputmode", "decimal", "value", c.WarmupS, "aria-label", texts.WarmupSeconds)
	w.raw(`<span aria-hidden="true">s</span></span></div></div>`)

	selectHTML(&w, "step", texts.Step, c.Step, c.Steps)
	w.raw(`<div class="field"><label for="percentiles">` + texts.Percentiles + `</label>`)
	w.open("input", "type", "text", "id", "percentiles", "name", "percentiles", "value", c.Percentiles, "inputmode", "decimal", "spellcheck", "false", "size", "20")
	w.raw(`</div>`)

	w.raw(`<div class="field"><label for="latency">` + texts.LatencyKind + `</label><select id="latency" name="latency">`)
	for k := range analysis.NumKinds {
		if k == analysis.Imported && k.String() != c.Latency {
			continue // of other tools' data only
		}
		w.raw(`<option value="`, k.String(), `"`)
		if k.String() == c.Latency {
			w.raw(" selected")
		}
		w.raw(">").text(k.Title()).raw("</option>")
	}
	w.raw(`</select></div>`)

	selectHTML(&w, "interval", texts.Interval, c.Interval, c.Intervals)

	w.raw(`<fieldset class="field"><legend>` + texts.Axis + `</legend><div class="segments">`)
	for _, s := range []Choice{{"linear", texts.Linear}, {"log", texts.Log}} {
		w.raw(`<label><input type="radio" name="scale" id="scale-`, s.Value, `" value="`, s.Value, `"`)
		if s.Value == c.Scale {
			w.raw(" checked")
		}
		w.raw("><span>", s.Name, "</span></label>")
	}
	w.raw(`</div></fieldset>`)
	w.raw(`<div class="foot"><p id="status" class="status" role="status" aria-live="polite">`).text(c.Hint)
	w.raw(`</p>`, `<button type="button" id="cancel" hidden>`+texts.Cancel+`</button><button type="button" id="whole-step" hidden>`+texts.WholeStep+`</button><button type="button" id="reset">`+texts.Reset+`</button></div>`,
		`<p id="view-error" class="error" role="alert" hidden></p></form>`)
	return w.String()
}

// Slot is the index of the edge nearest to the warm-up.
func (c Controls) Slot() int {
	best, at := -1.0, 0
	want, _ := strconv.ParseFloat(c.WarmupS, 64)
	for i, e := range c.Edges {
		v, _ := strconv.ParseFloat(e, 64)
		if d := max(v-want, want-v); best < 0 || d < best {
			best, at = d, i
		}
	}
	return at
}
