package report

import (
	"maps"
	"slices"
	"strconv"

	"queuebench/analysis"
	"queuebench/figure"
	"queuebench/report/texts"
)

func itoa(n int) string     { return strconv.Itoa(n) }
func itoa64(n int64) string { return strconv.FormatInt(n, 10) }

// spread tells whether any percentile of some latencies has an interval.
func spread(all ...analysis.LatencySummary) bool {
	for _, l := range all {
		for _, p := range l.Percentiles {
			if p.HighNs > 0 {
				return true
			}
		}
	}
	return false
}

// cell writes a percentile with what a machine needs beside it, and in a table
// where any has its interval, that below it, or none where it has not.
func cell(w *writer, s analysis.StepSummary, kind analysis.Kind, percentile string, p analysis.Percentile, has bool, none string) {
	attributes := []string{
		"class", "num", "data-step", itoa(s.Step), "data-repeat", itoa(s.Repeat),
		"data-kind", kind.String(), "data-percentile", percentile,
	}
	if !has {
		w.open("td", "class", "num none").raw("–</td>")
		return
	}
	attributes = append(attributes, "data-ns", itoa64(p.Ns))
	if !p.Supported {
		attributes = append(attributes, "data-supported", "false")
	}
	switch {
	case p.Beyond:
		attributes[1] = "num bad"
		attributes = append(attributes, "data-beyond", "true", "title", texts.RankBeyond)
	case !p.Supported:
		attributes[1] = "num none"
		attributes = append(attributes, "title", texts.TooFew)
	}
	w.open("td", attributes...).text(p.Text())
	switch {
	case p.HighNs > 0:
		w.el("small", p.IntervalCell())
	case none != "" && p.Supported && !p.Beyond:
		w.raw(`<small>`, none, `</small>`)
	}
	w.close("td")
}

// value writes a plain latency of a summary: minimum, mean or maximum.
func value(w *writer, s analysis.StepSummary, kind analysis.Kind, what string, ns int64, has bool) {
	if !has {
		w.raw(`<td class="num none">–</td>`)
		return
	}
	w.open("td", "class", "num", "data-step", itoa(s.Step), "data-repeat", itoa(s.Repeat),
		"data-kind", kind.String(), "data-value", what, "data-ns", itoa64(ns))
	w.text(analysis.FormatLatency(ns)).raw(`</td>`)
}

// perRate is the figure and the table that compare the steps.
func (b *builder) perRate() (string, error) {
	var w writer
	f := figure.LatencyPerRate(b.sum, b.v.Kind, b.style())
	w.raw(`<h2>`).text(f.Title).raw(`</h2>`)
	if err := w.figure(f); err != nil {
		return "", err
	}
	if len(b.sum.Steps) == 0 {
		b.references(&w)
		return w.String(), nil
	}
	w.raw(`<div class="scroll" tabindex="0" role="region" aria-label="` + texts.RatesLabel + `"><table id="rates"><caption class="unseen">`).text(texts.InNumbers(f.Title)).raw(`</caption><thead><tr>`)
	unit := texts.MsgPerSUnit
	if len(b.sum.Steps) > 0 && b.sum.Steps[0].Loop != nil {
		unit = texts.OperationsPer
	}
	w.el("th", unit, "scope", "col", "class", "num")
	if b.sum.Variants() {
		w.raw(`<th scope="col">` + texts.Settings + `</th>`)
	}
	if b.repeats() {
		w.raw(`<th scope="col" class="num">` + texts.Repeat + `</th>`)
	}
	w.raw(`<th scope="col" class="num">` + texts.WarmUp + `</th><th scope="col" class="num">` + texts.PerS + `</th><th scope="col" class="num"><abbr title="` + texts.CoVMeans + `">` + texts.CoV + `</abbr></th><th scope="col" class="num">` + texts.Messages + `</th>`)
	for _, p := range b.percentiles {
		w.el("th", figure.PercentileName(p), "scope", "col", "class", "num")
	}
	w.raw(`<th scope="col" class="num">` + texts.Max + `</th></tr></thead><tbody>`)
	var shown []analysis.LatencySummary
	for _, s := range b.sum.Steps {
		shown = append(shown, s.Latencies[b.v.Kind.String()])
	}
	none := ""
	if spread(shown...) {
		none = "–"
	}
	for i, s := range b.sum.Steps {
		l := shown[i]
		w.raw(`<tr><th scope="row" class="num"><a data-goto href="#`, stepID(s), `">`).text(rateText(s.Rate)).raw(`</a></th>`)
		if b.sum.Variants() {
			w.el("td", s.Variant)
		}
		if b.repeats() {
			w.raw(`<td class="num">`, itoa(s.Repeat+1), `</td>`)
		}
		w.open("td", "class", "num", "data-step", itoa(s.Step), "data-repeat", itoa(s.Repeat), "data-value", "warmup", "data-ns", itoa64(s.WarmupNs), "title", s.WarmupRule)
		w.text(figure.Duration(duration(s.WarmupNs))).raw(`</td>`)
		if s.Throughput.ReceivedPerS > 0 {
			w.el("td", group(int64(s.Throughput.ReceivedPerS+0.5)), "class", "num")
			w.el("td", strconv.FormatFloat(s.Throughput.CoV*100, 'f', 1, 64)+" %", "class", "num")
		} else {
			w.raw(`<td class="num none">–</td><td class="num none">–</td>`)
		}
		w.el("td", group(l.N), "class", "num", "data-n", itoa64(l.N))
		for _, p := range b.percentiles {
			v, ok := l.Percentiles[key(p)]
			cell(&w, s, b.v.Kind, key(p), v, ok && l.N > 0, none)
		}
		value(&w, s, b.v.Kind, "max", l.MaxNs, l.N > l.Infinite)
		w.raw(`</tr>`)
	}
	w.raw(`</tbody></table></div>`)
	w.raw(`<p class="note">` + texts.RatesNote)
	if none != "" {
		w.raw(` ` + texts.IntervalsNote)
	}
	w.raw(`</p>`)
	b.references(&w)
	return w.String(), nil
}

// latencies is the table of all latencies of a step.
func (b *builder) latencies(w *writer, s analysis.StepSummary) {
	w.raw(`<div class="scroll" tabindex="0" role="region"`)
	w.raw(` aria-label="`).text(texts.AllLatencies(b.stepName(s))).raw(`"><table class="latencies"><caption class="unseen">`).text(texts.AllLatencies(b.stepName(s))).raw(`</caption><thead><tr><th scope="col">` + texts.Latency + `</th><th scope="col" class="num">` + texts.Messages + `</th><th scope="col" class="num">` + texts.Min + `</th><th scope="col" class="num">` + texts.Mean + `</th>`)
	for _, p := range b.percentiles {
		w.el("th", figure.PercentileName(p), "scope", "col", "class", "num")
	}
	w.raw(`<th scope="col" class="num">` + texts.Max + `</th></tr></thead><tbody>`)
	none := ""
	if b.crowded() {
		// Only the latency of the figures has intervals: a dash would say that the
		// others cannot have any.
	} else if spread(slices.Collect(maps.Values(s.Latencies))...) {
		none = "–"
	} else if t := b.digestStep(s); b.o.Part != "" && t != nil && analysis.MayHaveIntervals(t, b.v) {
		none = texts.IntervalLater // the whole page will have them
	}
	for k := range analysis.NumKinds {
		l, ok := s.Latencies[k.String()]
		if !ok {
			continue
		}
		w.raw(`<tr`)
		if k == b.v.Kind {
			w.raw(` class="current"`)
		}
		w.raw(`><th scope="row">`).text(k.Title()).raw(` <small>`).text(figure.KindPath(k)).raw(`</small></th>`)
		w.el("td", group(l.N), "class", "num")
		finite := l.N > l.Infinite
		value(w, s, k, "min", l.MinNs, finite)
		value(w, s, k, "mean", l.MeanNs, finite)
		for _, p := range b.percentiles {
			v, ok := l.Percentiles[key(p)]
			cell(w, s, k, key(p), v, ok && l.N > 0, none)
		}
		value(w, s, k, "max", l.MaxNs, finite)
		w.raw(`</tr>`)
	}
	w.raw(`</tbody></table></div>`)
}
