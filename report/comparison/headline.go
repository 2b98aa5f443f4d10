package comparison

import (
	"math"
	"slices"
	"strings"

	"queuebench/analysis"
	"queuebench/analysis/compare"
	"queuebench/report"
	"queuebench/report/markup"
	"queuebench/report/texts"
)

// title is what is held against what.
func (b *builder) title() string {
	var others []string
	for i, s := range b.sides {
		if i != b.base {
			others = append(others, s.label)
		}
	}
	return texts.Against(texts.And(others), b.sides[b.base].label)
}

func (b *builder) headline(w *markup.Writer) error {
	w.Raw(`<p class="kicker">` + texts.Comparison + `</p>`)
	w.El("h1", b.title(), "class", "run")
	w.Raw(`<p class="meta">`).Text(texts.OfRuns(b.latencyName(), b.runs())).Raw(`</p>`)
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
			w.El("p", texts.WarningOf(x), "class", "note")
		}
	}
	return nil
}

func (b *builder) latencyName() string {
	if b.kind == analysis.SendLag {
		return texts.UpperFirst(b.kind.Title())
	}
	return texts.LatencyOf(b.kind.Title())
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
		out = append(out, [2]string{texts.SingleRuns, texts.SingleRunsMeans})
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
		out = append(out, [2]string{texts.FloorOf(floor), texts.FloorsMean})
	}
	if len(incomplete) > 0 {
		out = append(out, [2]string{texts.IncompleteOf(incomplete), texts.IncompleteMeans})
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
			text += texts.LostOf(s.label, analysis.FormatCount(lost))
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
		severity, text = string(analysis.Warning), texts.NothingTested
	case t.shown() == 0:
		severity = string(analysis.Note)
		text = texts.NoDifference(tests)
		if !math.IsInf(t.unseen, 0) && t.unseen > 1 {
			text += texts.Unseen(strings.TrimPrefix(compare.ChangeText(t.unseen), "+"))
		} else if math.IsInf(t.unseen, 1) {
			text += texts.TooFewRuns
		}
	default:
		severity = "good"
		if t.slower > 0 {
			severity = string(analysis.Warning)
		}
		text = b.shown(t)
		if t.notShown > 0 {
			text += texts.NothingElse(t.notShown)
		}
	}
	if t.notCompared > 0 && tests > 0 {
		text += texts.NotTested(t.notCompared)
	}
	if b.within() && t.shown() > 0 {
		text += texts.TwoRecordings
	}
	return severity, text
}

// shown says in how many tests something is shown, and where it is most.
func (b *builder) shown(t tally) string {
	base, other := t.most.Values()
	return texts.MostChanged(texts.Change{
		Slower: t.slower, Faster: t.faster, Tests: t.shown() + t.notShown, Side: t.label, Sides: len(b.sides) > 2,
		Load: t.where, Percentile: t.most.Percentile, Base: base, New: other, Delta: t.most.Delta(),
	})
}
