package comparison

import (
	"strconv"

	"queuebench/analysis/compare"
	"queuebench/report/markup"
	"queuebench/report/texts"
)

func itoa(n int) string { return strconv.Itoa(n) }

// change is a row with where it stands.
type change struct {
	pair *compare.Pair
	cell *compare.Cell
	row  *compare.Row
}

// changes lists what is shown, what is not, and what could not be compared.
func (b *builder) changes(w *markup.Writer) error {
	w.Raw(`<h2>` + texts.Changed + `</h2>`)
	if b.result == nil {
		w.El("p", b.why, "class", "note")
		return nil
	}
	var shown, not, none []change
	b.rows(func(p *compare.Pair, c *compare.Cell, r *compare.Row) {
		x := change{p, c, r}
		switch r.Verdict {
		case compare.Changed, compare.WithinOnly:
			shown = append(shown, x)
		case compare.NotShown:
			not = append(not, x)
		default:
			none = append(none, x)
		}
	})
	if len(shown) == 0 {
		w.Raw(`<p class="note">` + texts.NoTestShows + `</p>`)
	} else {
		w.Raw(`<ul class="findings changes">`)
		for _, x := range shown {
			b.shownRow(w, x)
		}
		w.Raw(`</ul>`)
	}
	b.others(w, texts.NotShown, "not-shown", not, func(x change) string {
		if s := x.row.Smallest(); s != "none" && s != string(compare.NotCompared) {
			return texts.WouldBeFound(s)
		}
		return texts.NothingShown
	})
	b.others(w, texts.NotCompared, "not-compared", none, func(x change) string { return x.row.Why })
	return nil
}

// shownRow is a line of what is shown.
func (b *builder) shownRow(w *markup.Writer, x change) {
	class, word, arrow := "warning", texts.Slower, `<path d="M8 14V3M3.6 7.2 8 2.6l4.4 4.6" fill="none" stroke="currentColor" stroke-width="1.8"/>`
	if x.row.Ratio < 1 {
		class, word, arrow = "good", texts.Faster, `<path d="M8 2v11M3.6 8.8 8 13.4l4.4-4.6" fill="none" stroke="currentColor" stroke-width="1.8"/>`
	}
	w.Open("li", "class", "finding "+class, "data-verdict", string(x.row.Verdict), "data-percentile", x.row.Percentile)
	w.Raw(`<div class="finding-head"><svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">`, arrow, `</svg><b>`, word, `</b></div><div class="finding-body"><p>`)
	base, other := x.row.Values()
	w.Raw(`<span class="where">`).Text(b.place(x)).Raw(`</span> `)
	w.Text(texts.BaseToNew(base, other)).Raw(`<b>`).Text(x.row.Delta()).Raw(`</b>`)
	if i := x.row.Interval(); i != string(compare.NotCompared) {
		w.Text(texts.IntervalOf(i))
	}
	w.Raw(`</p></div></li>`)
}

// place names a row: its percentile, its load, and its side where there are
// several.
func (b *builder) place(x change) string {
	side := ""
	if len(b.sides) > 2 {
		side = x.pair.New
	}
	return texts.PercentileAt(side, x.row.Percentile, x.cell.Name)
}

// others are the rows that show nothing, in short, behind a line that opens.
func (b *builder) others(w *markup.Writer, title, key string, all []change, why func(change) string) {
	if len(all) == 0 {
		return
	}
	w.Open("details", "data-key", key).Raw(`<summary>`).Text(texts.PercentilesMore(title, len(all))).Raw(`</summary><ul class="plain">`)
	for _, x := range all {
		w.Raw(`<li>`).Text(b.place(x))
		if text := why(x); text != "" {
			w.Text(": " + text)
		}
		w.Raw(`</li>`)
	}
	w.Raw(`</ul></details>`)
}
