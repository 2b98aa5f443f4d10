package report

import "queuebench/analysis"

// stages is the table of where a message's time went, stage by stage, with what
// the medians of the requests add up to.
func (b *builder) stages(w *writer, s analysis.StepSummary) {
	if s.Stages == nil {
		return
	}
	w.raw(`<h3>`).text("Where a message's time goes").raw(`</h3><div class="scroll" tabindex="0" role="region"`)
	w.raw(` aria-label="`).text("Stages at " + b.stepName(s)).raw(`"><table class="stages"><caption class="unseen">`).text("Stages at " + b.stepName(s)).raw(`</caption><thead><tr><th scope="col">stage</th>`)
	for _, name := range []string{"batches", "p50", "p99", "max", "mean"} {
		w.el("th", name, "scope", "col", "class", "num")
	}
	w.raw(`</tr></thead><tbody>`)
	for i := range s.Stages.Stages {
		cells := s.Stages.Stages[i].Cells()
		w.raw(`<tr>`).el("th", cells[0], "scope", "row")
		for _, cell := range cells[1:] {
			w.el("td", cell, "class", "num")
		}
		w.raw(`</tr>`)
	}
	w.raw(`</tbody></table></div><p class="note">`)
	w.text("Per batch, over the whole step. Waiting counts from the first message of a batch, the finding of a commit from the one before it.")
	if sum := s.Stages.Sum; sum != nil {
		w.text(" By the requests alone the median comes to " + sum.Text() + ".")
	}
	w.raw(`</p>`)
}
