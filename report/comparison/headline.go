package comparison

import (
	"math"
	"slices"
	"strings"

	"queuebench/analysis"
	"queuebench/analysis/compare"
	"queuebench/report"
	"queuebench/report/markup"
)

// title is what is held against what.
func (b *builder) title() string {
	var others []string
	for i, s := range b.sides {
		if i != b.base {
			others = append(others, s.label)
		}
	}
	return and(others) + " against " + b.sides[b.base].label
}

// and joins names as English does.
func and(names []string) string {
	switch n := len(names); n {
	case 0:
		return "nothing"
	case 1:
		return names[0]
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}

func (b *builder) headline(w *markup.Writer) error {
	w.Raw(`<p class="kicker">Comparison</p>`)
	w.El("h1", b.title(), "class", "run")
	w.Raw(`<p class="meta">`).Text(b.latencyName() + ", " + plural(b.runs(), "run", "runs")).Raw(`</p>`)
	if badges := b.badges(); len(badges) > 0 {
		w.Raw(`<ul class="badges">`)
		for _, x := range badges {
			w.Raw(`<li>`).El("span", x[0], "class", "badge").Raw(` `).Text(x[1]).Raw(`</li>`)
		}
		w.Raw(`</ul>`)
	}
	severity, text := b.verdict()
	w.Open("p", "class", "verdict "+severity, "id", "verdict", "data-severity", severity)
	w.Raw(report.Icon(severity), ` <span>`).Text(text).Raw(`</span></p>`)
	if b.result != nil {
		for _, x := range b.result.Warnings {
			w.El("p", "Warning: "+x, "class", "note")
		}
	}
	return nil
}

func (b *builder) latencyName() string {
	name := b.kind.Title()
	name = strings.ToUpper(name[:1]) + name[1:]
	if b.kind == analysis.SendLag {
		return name
	}
	return name + " latency"
}

func (b *builder) runs() (n int) {
	for _, s := range b.sides {
		n += len(s.runs)
	}
	return n
}

// badges are what a reader must know before any number, with what it means.
func (b *builder) badges() (out [][2]string) {
	if b.within() {
		out = append(out, [2]string{"single runs: within-run only", "One run on either side: the intervals have each run's own variation over time, and say nothing of what another run of the same settings would give."})
	}
	var floor, incomplete []string
	for _, s := range b.sides {
		if slices.ContainsFunc(s.runs, func(d *analysis.Digest) bool { return d.Manifest.Queue.InProcess || d.Manifest.Store.Embedded }) {
			floor = append(floor, s.label)
		}
		if slices.ContainsFunc(s.runs, func(d *analysis.Digest) bool { return !d.Manifest.Complete }) {
			incomplete = append(incomplete, s.label)
		}
	}
	if len(floor) > 0 {
		out = append(out, [2]string{"in-process floor: " + and(floor), "The queue or its store ran inside the benchmark: a lower bound for that machine, never a result about a product."})
	}
	if len(incomplete) > 0 {
		out = append(out, [2]string{"incomplete: " + and(incomplete), "The run did not end by itself; it is analysed up to where its log is known to be whole."})
	}
	return out
}

// within says whether any row knows one run on either side only.
func (b *builder) within() bool {
	found := false
	b.rows(func(_ *compare.Pair, _ *compare.Cell, r *compare.Row) { found = found || r.Method == compare.Within })
	return found
}

// rows calls do for each row of the result, in order.
func (b *builder) rows(do func(*compare.Pair, *compare.Cell, *compare.Row)) {
	if b.result == nil {
		return
	}
	for i := range b.result.Pairs {
		p := &b.result.Pairs[i]
		for k := range p.Cells {
			for j := range p.Cells[k].Rows {
				do(p, &p.Cells[k], &p.Cells[k].Rows[j])
			}
		}
	}
}

// tally counts what the rows came to.
type tally struct {
	slower, faster, notShown, notCompared int
	most                                  *compare.Row // the largest change that is shown
	where                                 string       // its load
	label                                 string       // its side
	unseen                                float64      // the smallest rise that all tests would have found
}

func (t *tally) shown() int { return t.slower + t.faster }

func (b *builder) tally() tally {
	var t tally
	far := func(r *compare.Row) float64 { return math.Abs(math.Log(float64(r.Ratio))) }
	b.rows(func(p *compare.Pair, c *compare.Cell, r *compare.Row) {
		switch r.Verdict {
		case compare.Changed, compare.WithinOnly:
			if r.Ratio > 1 {
				t.slower++
			} else {
				t.faster++
			}
			if t.most == nil || far(r) > far(t.most) {
				t.most, t.where, t.label = r, c.Name, p.New
			}
		case compare.NotShown:
			t.notShown++
			t.unseen = max(t.unseen, float64(r.Detectable))
		default:
			t.notCompared++
		}
	})
	return t
}

// verdict is what the comparison came to, and its severity.
func (b *builder) verdict() (severity, text string) {
	severity, text = b.outcome()
	for _, s := range b.sides {
		if lost := s.total(func(x *analysis.StepSummary) int64 { return x.Accounting.Lost }); lost > 0 {
			severity = string(analysis.Failure)
			text += " " + s.label + " lost " + analysis.FormatCount(lost) + " messages."
		}
	}
	return severity, text
}

// outcome is the verdict on the latencies alone.
func (b *builder) outcome() (severity, text string) {
	if b.result == nil {
		return string(analysis.Warning), b.why
	}
	t := b.tally()
	tests := t.shown() + t.notShown
	switch {
	case tests == 0:
		severity, text = string(analysis.Warning), "Nothing could be tested: the notes below the table say why."
	case t.shown() == 0:
		severity = string(analysis.Note)
		text = "No difference is shown in " + plural(tests, "test", "tests") + " (~)."
		if !math.IsInf(t.unseen, 0) && t.unseen > 1 {
			text += " That is no proof that there is none: a rise of up to " + strings.TrimPrefix(compare.ChangeText(t.unseen), "+") + " could have gone unseen."
		} else if math.IsInf(t.unseen, 1) {
			text += " So few runs cannot show any: record more of each."
		}
	default:
		severity = "good"
		if t.slower > 0 {
			severity = string(analysis.Warning)
		}
		text = b.shown(t)
		if t.notShown > 0 {
			text += " Nothing is shown in the other " + plural(t.notShown, "test", "tests") + " (~)."
		}
	}
	if t.notCompared > 0 && tests > 0 {
		text += " " + plural(t.notCompared, "percentile", "percentiles") + " could not be compared."
	}
	if b.within() && t.shown() > 0 {
		text += " One run on either side: this tells two recordings apart, and no more."
	}
	return severity, text
}

// shown says in how many tests something is shown, and where it is most.
func (b *builder) shown(t tally) string {
	tests := plural(t.shown()+t.notShown, "test", "tests")
	what := ""
	switch {
	case t.faster == 0:
		what = "Slower in " + itoa(t.slower)
	case t.slower == 0:
		what = "Faster in " + itoa(t.faster)
	default:
		what = "Slower in " + itoa(t.slower) + " and faster in " + itoa(t.faster)
	}
	if len(b.sides) == 2 {
		what = t.label + " is " + strings.ToLower(what[:1]) + what[1:]
	}
	base, other := t.most.Values()
	text := what + " of " + tests + ", most at " + t.where
	if len(b.sides) > 2 {
		text += " with " + t.label
	}
	return text + ": p" + t.most.Percentile + " went from " + base + " to " + other + " (" + t.most.Delta() + ")."
}
