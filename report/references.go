package report

import (
	"queuebench/analysis"
	"queuebench/report/texts"
)

// references is the table of what others say, apart from what was measured, with
// the definition of each.
func (b *builder) references(w *writer) {
	if len(b.sum.References) == 0 {
		return
	}
	header, rows, more := analysis.ReferenceTable(b.sum)
	w.raw(`<h3>` + texts.References + `</h3><p class="note">` + texts.ReferencesNote + `</p>`)
	w.raw(`<div class="scroll" tabindex="0" role="region" aria-label="` + texts.ReferencesLabel + `"><table id="references"><caption class="unseen">` + texts.References + `</caption><thead><tr>`)
	for i, name := range header {
		if i == 0 {
			w.el("th", name, "scope", "col")
			continue
		}
		w.el("th", name, "scope", "col", "class", "num")
	}
	w.raw(`</tr></thead><tbody>`)
	for _, row := range rows {
		w.raw(`<tr>`)
		for i, cell := range row {
			switch {
			case i == 0:
				w.el("th", cell, "scope", "row")
			case cell == analysis.Dash:
				w.raw(`<td class="num none">–</td>`)
			default:
				w.el("td", cell, "class", "num")
			}
		}
		w.raw(`</tr>`)
	}
	w.raw(`</tbody></table></div>`)
	if more > 0 {
		w.raw(`<p class="note">`).text(texts.MoreRows(more)).raw(`</p>`)
	}
	w.raw(`<dl class="pairs">`)
	for i := range b.sum.References {
		r := &b.sum.References[i]
		w.el("dt", r.Name).raw(`<dd>`).text(texts.Reference(r.Format, r.Source, r.Latency, r.PercentileDefinition))
		for _, note := range r.Notes {
			w.text(" " + texts.Sentence(note))
		}
		w.raw(`</dd>`)
	}
	w.raw(`</dl>`)
}

// imports says what files of other tools the steps are from.
func (b *builder) imports(w *writer) {
	for _, x := range b.d.Manifest.Imports {
		section(w, texts.ImportedFile, []fact{{texts.File, x.File}, {texts.Format, x.Format}, {texts.Latency, x.Latency}, {texts.PercentilesOf, x.Percentiles}})
		for _, note := range x.Notes {
			w.el("p", texts.Sentence(note), "class", "note")
		}
	}
}
