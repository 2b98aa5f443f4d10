package comparison

import (
	"strconv"

	"queuebench/analysis"
	"queuebench/figure"
	"queuebench/report/markup"
	"queuebench/report/texts"
)

// accounting is where the messages of each run went, and how steadily they came.
func (b *builder) accounting(w *markup.Writer) error {
	w.Raw(`<h2>` + texts.Throughput + `</h2><div class="scroll" tabindex="0" role="region" aria-label="` + texts.Throughput + `"><table class="accounts"><caption class="unseen">` + texts.ThroughputCaption + `</caption><thead><tr><th scope="col">` + texts.Load + `</th><th scope="col">` + texts.RunName + `</th>`)
	for _, name := range []string{texts.Repeat, texts.Scheduled, texts.Received, texts.PerS} {
		w.El("th", name, "scope", "col", "class", "num")
	}
	w.Raw(`<th scope="col" class="num"><abbr title="` + texts.CoVMeans + `">` + texts.CoV + `</abbr></th>`)
	for _, name := range []string{texts.Lost, texts.Duplicates, texts.Failed, texts.Unconfirmed, texts.Overrun} {
		w.El("th", name, "scope", "col", "class", "num")
	}
	w.Raw(`<th scope="col" class="num">` + texts.WarmUp + `</th></tr></thead><tbody>`)
	for _, l := range b.loadsOf() {
		first := true
		for i, s := range b.sides {
			for _, k := range l.steps[i] {
				x := &s.sum.Steps[k]
				w.Open("tr", "data-load", l.name, "data-side", s.label)
				if first {
					w.El("th", l.name, "scope", "row")
				} else {
					w.Raw(`<th scope="row"><span class="unseen">`).Text(l.name).Raw(`</span></th>`)
				}
				first = false
				w.Raw(`<td>`, figure.Swatch(s.class), ` `).Text(s.label).Raw(`</td>`)
				w.El("td", itoa(x.Repeat+1), "class", "num")
				a := &x.Accounting
				w.El("td", analysis.FormatCount(a.Scheduled), "class", "num").El("td", analysis.FormatCount(a.Received), "class", "num")
				if x.Throughput.ReceivedPerS > 0 {
					w.El("td", analysis.FormatRate(x.PerSecond()), "class", "num")
					w.El("td", strconv.FormatFloat(x.Throughput.CoV*100, 'f', 1, 64)+" %", "class", "num")
				} else {
					w.Raw(`<td class="num none">–</td><td class="num none">–</td>`)
				}
				for _, n := range []int64{a.Lost, a.Duplicates, a.Failed, a.Unconfirmed, a.Overrun} {
					class := "num zero"
					if n != 0 {
						class = "num bad"
					}
					w.El("td", analysis.FormatCount(n), "class", class)
				}
				w.Open("td", "class", "num", "title", x.WarmupRule).Text(figure.Duration(duration(x.WarmupNs))).Raw(`</td></tr>`)
			}
		}
	}
	w.Raw(`</tbody></table></div>`)
	return nil
}

// facts say how to read the comparison.
func (b *builder) facts(w *markup.Writer) error {
	w.Raw(`<h2>` + texts.HowToRead + `</h2><ul class="model">`)
	if b.result != nil {
		for _, text := range b.result.Legend() {
			w.El("li", text)
		}
	}
	w.Raw(`<li>` + texts.UnitIsTheRun + `</li><li>` + texts.ColoursAreKept + `</li><li>` + texts.ComparedQuantile + `</li></ul>`)
	return nil
}
