package comparison

import (
	"strconv"

	"queuebench/analysis"
	"queuebench/figure"
	"queuebench/report/markup"
)

// accounting is where the messages of each run went, and how steadily they came.
func (b *builder) accounting(w *markup.Writer) error {
	w.Raw(`<h2>Messages and throughput</h2><div class="scroll" tabindex="0" role="region" aria-label="Messages and throughput"><table class="accounts"><caption class="unseen">Messages and throughput of each run</caption><thead><tr><th scope="col">load</th><th scope="col">run</th>`)
	for _, name := range []string{"repeat", "scheduled", "received", "received/s"} {
		w.El("th", name, "scope", "col", "class", "num")
	}
	w.Raw(`<th scope="col" class="num"><abbr title="coefficient of variation: standard deviation over mean">CoV</abbr></th>`)
	for _, name := range []string{"lost", "duplicates", "failed", "unconfirmed", "overrun"} {
		w.El("th", name, "scope", "col", "class", "num")
	}
	w.Raw(`<th scope="col" class="num">warm-up</th></tr></thead><tbody>`)
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
	w.Raw(`<h2>How to read this</h2><ul class="model">`)
	if b.result != nil {
		for _, text := range b.result.Legend() {
			w.El("li", text)
		}
	}
	w.Raw(`<li><b>The unit is the run.</b> Messages of one run share its weather: thousands of them are one observation of what another start would give.</li>`,
		`<li><b>Each run keeps its colour and its dashes</b> in all figures of this page.</li>`,
		`<li><b>Percentiles</b> are nearest-rank over added histograms, from the schedule’s time unless another latency is chosen; lost and overrun messages rank as infinite. A dash: too few messages behind it.</li></ul>`)
	return nil
}
