package report

import (
	"queuebench/analysis"
	"queuebench/report/texts"
)

// stages is the table of where a message's time went, stage by stage, with what
// the medians of the requests add up to.
func (b *builder) stages(w *writer, s analysis.StepSummary) {
	if s.Stages == nil {
		return
	}
	w.raw(`<h3>`).text(texts.Stages).raw(`</h3><div class="scroll" tabindex="0" role="region"`)
	w.raw(` aria-label="`).text(texts.StagesAt(b.stepName(s))).raw(`"><table class="stages"><caption class="unseen">`).text(texts.StagesAt(b.stepName(s))).raw(`</caption><thead><tr><th scope="col">` + texts.Stage + `</th>`)
	for _, name := range []string{texts.Batches, "p50", "p99", texts.Max, texts.Mean} {
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
	w.text(texts.StagesNote)
	if sum := s.Stages.Sum; sum != nil {
		w.text(texts.StagesSum(sum.Text()))
	}
	w.raw(`</p>`)
}
