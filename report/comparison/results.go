package comparison

import (
	"slices"

	"queuebench/analysis"
	"queuebench/analysis/compare"
	"queuebench/figure"
	"queuebench/report"
	"queuebench/report/markup"
	"queuebench/report/texts"
)

// perRate lays the runs over each other: a figure for the median and one for the
// tail of those that are tested.
func (b *builder) perRate(w *markup.Writer) error {
	w.Raw(`<h2>`).Text(texts.PerRate(b.latencyName())).Raw(`</h2>`)
	var runs []figure.RunSteps
	for _, s := range b.sides {
		runs = append(runs, figure.RunSteps{Label: s.label, Class: s.class, Steps: s.sum.Steps})
	}
	ps := b.percentiles() // ascending
	shown := []float64{ps[0], ps[len(ps)-1]}
	for i, usual := range []float64{50, 99} {
		if slices.Contains(ps, usual) {
			shown[i] = usual
		}
	}
	for _, p := range slices.Compact(shown) {
		f := figure.RunsPerRate(runs, b.kind, p, b.style())
		w.El("h3", f.Title)
		html, err := report.FigureHTML(f)
		if err != nil {
			return err
		}
		w.Raw(html)
	}
	return nil
}

// results is the table of each pair, in the words of the command line, with its
// footnotes.
func (b *builder) results(w *markup.Writer) error {
	if b.result == nil {
		w.Raw(`<h2>`+texts.Results+`</h2>`).El("p", b.why, "class", "note")
		return nil
	}
	for i := range b.result.Pairs {
		p := &b.result.Pairs[i]
		w.Raw(`<h2>`).Text(texts.Against(p.New, p.Base)).Raw(`</h2>`)
		b.table(w, i, p)
		footnotes(w, i, p)
	}
	return nil
}

// table writes the table of a pair. The rows are those of compare.Pair.Table: one
// for each percentile of each load, and one for its throughput.
func (b *builder) table(w *markup.Writer, index int, p *compare.Pair) {
	t := p.Table()
	w.Raw(`<div class="scroll" tabindex="0" role="region"`).Raw(` aria-label="`).Text(texts.ResultsOf(texts.Against(p.New, p.Base))).Raw(`"><table class="comparison"><caption class="unseen">`).Text(texts.Against(p.New, p.Base)).Raw(`</caption><thead><tr>`)
	titles := map[string]string{
		"p":          texts.PMeans,
		"by":         texts.ByMeans,
		"could find": texts.FindMeans,
		"interval":   texts.RangeMeans,
	}
	for k, name := range t.Header {
		class := "num"
		if k < t.Left {
			class = ""
		}
		switch {
		case name == "":
			w.Raw(`<th scope="col">` + texts.Notes + `</th>`)
			continue
		case k == 2 || k == 3:
			w.Open("th", "scope", "col", "class", class).Raw(b.swatchOf(name)).Text(name).Raw(`</th>`)
			continue
		}
		w.Open("th", "scope", "col", "class", class)
		if title := titles[name]; title != "" {
			w.El("abbr", name, "title", title)
		} else {
			w.Text(name)
		}
		w.Raw(`</th>`)
	}
	w.Raw(`</tr></thead><tbody>`)
	at := 0
	for k := range p.Cells {
		c := &p.Cells[k]
		for j := range c.Rows {
			r := &c.Rows[j]
			w.Open("tr", "data-pair", itoa(index), "data-load", c.Name, "data-percentile", r.Percentile, "data-verdict", string(r.Verdict), "class", verdictClass(r))
			cells(w, t.Rows[at], t.Left, c.Name, j == 0)
			at++
		}
		w.Open("tr", "data-pair", itoa(index), "data-load", c.Name, "data-percentile", "", "class", "rate")
		cells(w, t.Rows[at], t.Left, c.Name, false)
		at++
	}
	w.Raw(`</tbody></table></div>`)
}

// verdictClass marks a row by what it came to.
func verdictClass(r *compare.Row) string {
	switch {
	case r.Verdict != compare.Changed && r.Verdict != compare.WithinOnly:
		return "same"
	case r.Ratio > 1:
		return "slower"
	}
	return "faster"
}

// cells are those of a row; the load heads its first one.
func cells(w *markup.Writer, row []string, left int, load string, first bool) {
	for i, text := range row {
		switch {
		case i == 0 && first:
			w.El("th", load, "scope", "row")
		case i == 0:
			w.Raw(`<th scope="row"><span class="unseen">`).Text(load).Raw(`</span></th>`)
		case i < left || i == len(row)-1:
			w.El("td", text)
		case text == analysis.Dash || text == "~" || text == "":
			w.El("td", text, "class", "num none")
		default:
			w.El("td", text, "class", "num")
		}
	}
	w.Raw(`</tr>`)
}

// swatchOf is the colour and the dashes of a side by its label.
func (b *builder) swatchOf(label string) string {
	for _, s := range b.sides {
		if s.label == label {
			return figure.Swatch(s.class) + " "
		}
	}
	return ""
}

// footnotes are what the numbers of a pair do not mean, and every setting,
// machine and version in which the sides differ.
func footnotes(w *markup.Writer, index int, p *compare.Pair) {
	remarks := p.Remarks()
	if len(remarks) == 0 {
		w.Raw(`<p class="note">` + texts.NothingElseD + `</p>`)
		return
	}
	w.Raw(`<h3>` + texts.Footnotes + `</h3><ol class="footnotes">`)
	for k, text := range remarks {
		w.Open("li", "id", "note-"+itoa(index+1)+"-"+itoa(k+1)).Text(text).Raw(`</li>`)
	}
	w.Raw(`</ol>`)
	for _, x := range []struct {
		side  string
		loads []string
	}{{p.Base, p.OnlyBase}, {p.New, p.OnlyNew}} {
		if len(x.loads) > 0 {
			w.El("p", texts.OnlyHas(x.side, x.loads), "class", "note")
		}
	}
}
