package report

import (
	"queuebench/analysis"
	"queuebench/report/texts"
)

// count is a row of the accounting.
type count struct {
	name, meaning string
	of            func(analysis.Accounting) int64
	// bad: any but zero deserves to be seen.
	bad bool
}

var counts = []count{
	{texts.Scheduled, texts.ScheduledMeans, func(a analysis.Accounting) int64 { return a.Scheduled }, false},
	{texts.Attempted, texts.AttemptedMeans, func(a analysis.Accounting) int64 { return a.Attempted }, false},
	{texts.Acked, texts.AckedMeans, func(a analysis.Accounting) int64 { return a.Acked }, false},
	{texts.Failed, texts.FailedMeans, func(a analysis.Accounting) int64 { return a.Failed }, true},
	{texts.Unconfirmed, texts.UnconfirmedMeans, func(a analysis.Accounting) int64 { return a.Unconfirmed }, true},
	{texts.Overrun, texts.OverrunMeans, func(a analysis.Accounting) int64 { return a.Overrun }, true},
	{texts.Received, texts.ReceivedMeans, func(a analysis.Accounting) int64 { return a.Received }, false},
	{texts.Lost, texts.LostMeans, func(a analysis.Accounting) int64 { return a.Lost }, true},
	{texts.Duplicates, texts.DuplicatesMeans, func(a analysis.Accounting) int64 { return a.Duplicates }, true},
	{texts.OutOfOrder, texts.OutOfOrderMeans, func(a analysis.Accounting) int64 { return a.OutOfOrder }, true},
	{texts.ReceivedUnacked, texts.ReceivedUnackedMeans, func(a analysis.Accounting) int64 { return a.ReceivedUnacked }, true},
	{texts.Negative, texts.NegativeMeans, func(a analysis.Accounting) int64 { return a.Negative }, true},
	{texts.Foreign, texts.ForeignMeans, func(a analysis.Accounting) int64 { return a.Foreign }, true},
	{texts.Unknown, texts.UnknownMeans, func(a analysis.Accounting) int64 { return a.Unknown }, true},
	{texts.Used, texts.UsedMeans, func(a analysis.Accounting) int64 { return a.RecordsUsed }, false},
	{texts.Trimmed, texts.TrimmedMeans, func(a analysis.Accounting) int64 { return a.RecordsTrimmed }, false},
	{texts.Rejected, texts.RejectedMeans, func(a analysis.Accounting) int64 { return a.RecordsRejected }, true},
}

// accounting is where every message went.
func (b *builder) accounting() string {
	var w writer
	w.raw(`<h2>` + texts.Accounting + `</h2><div class="scroll" tabindex="0" role="region" aria-label="` + texts.AccountingLabel + `"><table class="accounting"><caption class="unseen">` + texts.AccountingCaption + `</caption><thead><tr><th scope="col">` + texts.Messages + `</th>`)
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
		w.el("p", texts.OfWholeSteps, "class", "note")
	}
	return w.String()
}
