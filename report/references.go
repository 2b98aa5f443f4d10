package report

import (
	"strconv"

	"queuebench/analysis"
)

// references is the table of what others say, apart from what was measured, with
// the definition of each.
func (b *builder) references(w *writer) {
	if len(b.sum.References) == 0 {
		return
	}
	header, rows, more := analysis.ReferenceTable(b.sum)
	w.raw(`<h3>Imported references</h3><p class="note">Carried as they are, by definitions of their own; never merged with anything.</p>`)
	w.raw(`<div class="scroll" tabindex="0" role="region" aria-label="Imported references, as a table"><table id="references"><caption class="unseen">Imported references</caption><thead><tr>`)
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
		w.raw(`<p class="note">`).text(strconv.Itoa(more) + " more rows are in the JSON of the summary.").raw(`</p>`)
	}
	w.raw(`<dl class="pairs">`)
	for i := range b.sum.References {
		r := &b.sum.References[i]
		w.el("dt", r.Name).raw(`<dd>`).text(r.Format + ", from " + r.Source + ". Latency: " + r.Latency + ". Percentiles: " + r.PercentileDefinition + ".")
		for _, note := range r.Notes {
			w.text(" " + sentence(note))
		}
		w.raw(`</dd>`)
	}
	w.raw(`</dl>`)
}

// imports says what files of other tools the steps are from.
func (b *builder) imports(w *writer) {
	for _, x := range b.d.Manifest.Imports {
		section(w, "Imported", []fact{{"file", x.File}, {"format", x.Format}, {"latency", x.Latency}, {"percentiles", x.Percentiles}})
		for _, note := range x.Notes {
			w.el("p", sentence(note), "class", "note")
		}
	}
}

// sentence begins a note with a capital and ends it with a full stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	if c := text[0]; c >= 'a' && c <= 'z' {
		text = string(c-32) + text[1:]
	}
	return text + "."
}
