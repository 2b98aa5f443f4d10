package report

import "queuebench/analysis"

// count is a row of the accounting.
type count struct {
	name, meaning string
	of            func(analysis.Accounting) int64
	// bad: any but zero deserves to be seen.
	bad bool
}

var counts = []count{
	{"scheduled", "attempted + overrun + unknown", func(a analysis.Accounting) int64 { return a.Scheduled }, false},
	{"attempted", "acked + failed + unconfirmed", func(a analysis.Accounting) int64 { return a.Attempted }, false},
	{"acked", "the queue said that it has them", func(a analysis.Accounting) int64 { return a.Acked }, false},
	{"failed", "the queue refused them", func(a analysis.Accounting) int64 { return a.Failed }, true},
	{"unconfirmed", "no answer by the deadline", func(a analysis.Accounting) int64 { return a.Unconfirmed }, true},
	{"overrun", "due, but not sent before the step ended", func(a analysis.Accounting) int64 { return a.Overrun }, true},
	{"received", "distinct messages", func(a analysis.Accounting) int64 { return a.Received }, false},
	{"lost", "acked and not received by the deadline", func(a analysis.Accounting) int64 { return a.Lost }, true},
	{"duplicates", "deliveries beyond the first", func(a analysis.Accounting) int64 { return a.Duplicates }, true},
	{"out of order", "below the highest number seen of their producer and partition", func(a analysis.Accounting) int64 { return a.OutOfOrder }, true},
	{"received unacked", "failed or unconfirmed, yet received", func(a analysis.Accounting) int64 { return a.ReceivedUnacked }, true},
	{"negative", "received before they were intended", func(a analysis.Accounting) int64 { return a.Negative }, true},
	{"foreign", "deliveries that are no message of the step", func(a analysis.Accounting) int64 { return a.Foreign }, true},
	{"unknown", "beyond what is known of an incomplete log", func(a analysis.Accounting) int64 { return a.Unknown }, true},
	{"records used", "behind the latencies shown", func(a analysis.Accounting) int64 { return a.RecordsUsed }, false},
	{"records trimmed", "cut as warm-up, or not looked at", func(a analysis.Accounting) int64 { return a.RecordsTrimmed }, false},
	{"records rejected", "could not be read", func(a analysis.Accounting) int64 { return a.RecordsRejected }, true},
}

// accounting is where every message went.
func (b *builder) accounting() string {
	var w writer
	w.raw(`<h2>Where every message went</h2><div class="scroll" tabindex="0" role="region" aria-label="Accounting"><table class="accounting"><caption class="unseen">Messages of each step, by what became of them</caption><thead><tr><th scope="col">messages</th>`)
	for _, s := range b.sum.Steps {
		w.el("th", b.stepName(s), "scope", "col", "class", "num")
	}
	w.raw(`</tr></thead><tbody>`)
	for _, c := range counts {
		w.raw(`<tr><th scope="row">`, c.name, ` <small>`, c.meaning, `</small></th>`)
		for _, s := range b.sum.Steps {
			n := c.of(s.Accounting)
			class := "num"
			switch {
			case n == 0:
				class += " zero"
			case c.bad:
				class += " bad"
			}
			w.open("td", "class", class, "data-step", itoa(s.Step), "data-repeat", itoa(s.Repeat), "data-count", c.name, "data-value", itoa64(n))
			w.text(group(n)).raw(`</td>`)
		}
		w.raw(`</tr>`)
	}
	w.raw(`</tbody></table></div>`)
	if b.v.Windowed() {
		w.raw(`<p class="note">`).text("Of whole steps, but for the records used and trimmed, which are those of the part that is looked at.").raw(`</p>`)
	}
	return w.String()
}
