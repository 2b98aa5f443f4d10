package report

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"queuebench/analysis"
	"queuebench/figure"
)

// Place is the one step that a page shows in depth.
type Place struct{ Step, Repeat int }

// String is a place as a control's value: "2-0".
func (p Place) String() string { return itoa(p.Step) + "-" + itoa(p.Repeat) }

// Address reads what an address says beside the view: step and repeat, the place
// that is shown. Where it names none, that is the first step of the run; one that
// the run has not is an error for people.
func (o *Options) Address(d *analysis.Digest, fragment string) error {
	values, err := url.ParseQuery(strings.TrimPrefix(fragment, "#"))
	if err != nil {
		return fmt.Errorf("the address's fragment: %w", err)
	}
	if len(d.Steps) == 0 {
		return nil
	}
	place := Place{d.Steps[0].Step, d.Steps[0].Repeat}
	if values.Has("step") || values.Has("repeat") {
		place = Place{}
		for name, n := range map[string]*int{"step": &place.Step, "repeat": &place.Repeat} {
			if text := values.Get(name); text != "" {
				if *n, err = strconv.Atoi(text); err != nil {
					return fmt.Errorf("%s=%s: it is the number of one, from 0 on", name, text)
				}
			}
		}
	}
	if !slices.ContainsFunc(d.Steps, func(s analysis.StepDigest) bool { return s.Step == place.Step && s.Repeat == place.Repeat }) {
		return fmt.Errorf("the run has no step %d with a repeat %d: its last is step %d, repeat %d", place.Step, place.Repeat, d.Steps[len(d.Steps)-1].Step, d.Steps[len(d.Steps)-1].Repeat)
	}
	o.Place = &place
	return nil
}

// shows tells whether a step is drawn in depth.
func (o Options) shows(s analysis.StepSummary) bool {
	return o.Place == nil || *o.Place == Place{s.Step, s.Repeat}
}

// PartDepth is what is asked for while something is dragged: what lies below the
// time line of the step that is shown.
const PartDepth = "depth"

// Choice is an entry of a control.
type Choice struct{ Value, Name string }

// choices are the steps, by their names; none where there is one only.
func (b *builder) choices() []Choice {
	if len(b.sum.Steps) < 2 {
		return nil
	}
	var out []Choice
	for _, s := range b.sum.Steps {
		out = append(out, Choice{Place{s.Step, s.Repeat}.String(), b.stepName(s)})
	}
	return out
}

// intervals that points of a series may cover: the digest's own, and longer ones
// up to a tenth of the step.
func (b *builder) intervals() []Choice {
	s := b.longest()
	if s == nil {
		return nil
	}
	out := []Choice{{"", figure.Duration(s.Interval)}}
	for _, text := range []string{"100ms", "200ms", "500ms", "1s", "2s", "5s", "10s", "30s", "1m0s", "5m0s"} {
		if d, err := analysis.ParseInterval(text); err == nil && d > s.Interval && d <= s.Duration/10 {
			out = append(out, Choice{text, figure.Duration(d)})
		}
	}
	own := ""
	if b.v.Interval > s.Interval {
		own = b.v.Interval.String()
	}
	if !slices.ContainsFunc(out, func(c Choice) bool { return c.Value == own }) {
		out = append(out, Choice{own, figure.Duration(b.v.Interval)})
	}
	return out
}

func selectHTML(w *writer, id, label, value string, choices []Choice) {
	w.raw(`<div class="field"`)
	if len(choices) < 2 {
		w.raw(` hidden`)
	}
	w.raw(`><label for="`, id, `">`).text(label).raw(`</label><select id="`, id, `" name="`, id, `">`)
	for _, c := range choices {
		w.raw(`<option value="`).text(c.Value).raw(`"`)
		if c.Value == value {
			w.raw(" selected")
		}
		w.raw(">").text(c.Name).raw("</option>")
	}
	w.raw(`</select></div>`)
}
