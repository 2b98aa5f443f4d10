package report

import (
	"strconv"
	"strings"

	"queuebench/figure"
	"queuebench/report/texts"
)

// figureHTML writes a figure with its caption, what is drawn as a table behind a
// line that opens, and for the page's script where in the drawing the data lie:
// data-area (left, top, right, bottom in units of the view box), data-x and
// data-y (lowest and highest value, and log where they are log10 of it). More
// attributes come in pairs of name and value.
func (w *writer) figure(f figure.Figure, attributes ...string) error {
	svg, l, err := f.Drawn()
	if err != nil {
		return err
	}
	all := append([]string{"class", "figure", "data-figure", f.Name, "data-title", f.Title}, attributes...)
	if l.Right > l.Left {
		all = append(all, "data-area", numbers(l.Left, l.Top, l.Right, l.Bottom), "data-x", axisText(l.X), "data-y", axisText(l.Y))
	}
	w.open("figure", all...).raw(`<div class="canvas" tabindex="0" role="group" `)
	w.raw(`aria-label="`).text(f.Title).raw(`"><div class="plot">`, svg, `</div></div>`)
	w.el("figcaption", f.Caption)
	w.data(f)
	w.raw(`</figure>`)
	return nil
}

func numbers(all ...float64) string {
	texts := make([]string, len(all))
	for i, v := range all {
		texts[i] = strconv.FormatFloat(v, 'g', 10, 64)
	}
	return strings.Join(texts, " ")
}

func axisText(s figure.Scale) string {
	text := numbers(s.Min, s.Max)
	if s.Log {
		text += " log"
	}
	return text
}

// data writes the table behind a figure. Its cells are bare and without end
// tags, which HTML allows and which keeps a report of ten steps below a megabyte.
// Where a row lies along the axis, its first cells say, or data-at does.
func (w *writer) data(f figure.Figure) {
	d := f.Data
	if len(d.Cells) == 0 {
		return
	}
	w.raw(`<details class="data" data-key="data-`).text(f.Name).raw(`"><summary>`)
	w.text(texts.Behind(len(d.Cells), d.Row, d.Rows))
	w.raw(`</summary><div class="scroll tall" tabindex="0" role="region" aria-label="`).text(texts.TableOf(f.Title)).raw(`"><table class="series"`)
	first := 0
	if d.Columns[0].Unit == "s" && len(d.Columns) > 1 {
		if first = 1; d.Columns[1].Unit == "s" {
			first = 2
		}
	}
	w.raw(` data-first="`, itoa(first), `"><caption>`).text(d.Note).raw(`</caption><thead><tr>`)
	for _, c := range d.Columns {
		w.raw(`<th scope="col" data-unit="`).text(c.Unit).raw(`"`)
		if c.Y != 0 {
			w.raw(` data-per="`, numbers(c.Y), `"`)
		}
		w.raw(`>`).text(c.Name)
		if c.Unit == "s" {
			w.raw(` (s)`)
		}
	}
	w.raw(`</thead><tbody>`)
	for _, row := range d.Cells {
		if first == 0 {
			w.raw(`<tr data-at="`, strconv.FormatFloat(row.X, 'g', 6, 64))
			if row.To != row.X {
				w.raw(` `, strconv.FormatFloat(row.To, 'g', 6, 64))
			}
			w.raw(`">`)
		} else {
			w.raw(`<tr>`)
		}
		for _, cell := range row.Cells {
			w.raw(`<td>`).text(cell)
		}
	}
	w.raw(`</tbody></table></div></details>`)
}
