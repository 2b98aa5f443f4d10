package report

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"queuebench/analysis"
)

// headline says in one look what was run and what came out.
func (b *builder) headline() string {
	var w writer
	m := b.d.Manifest
	w.raw(`<p class="kicker">`).text(queueName(m.Queue.Kind)).raw(`</p>`)
	w.el("h1", m.Run, "class", "run")
	w.raw(`<p class="meta">`)
	if m.StartedNs > 0 {
		t := time.Unix(0, m.StartedNs).UTC()
		w.el("time", t.Format("2 January 2006, 15:04 UTC"), "datetime", t.Format(time.RFC3339))
	}
	if m.Host.CPUs > 0 {
		w.raw(` <span class="sep">·</span> `).text(hostLine(m.Host))
	}
	w.raw(`</p>`)
	if labels := b.labels(); len(labels) > 0 {
		w.raw(`<ul class="badges">`)
		for _, l := range labels {
			w.raw(`<li>`).el("span", l.text, "class", "badge").raw(` `).text(l.meaning).raw(`</li>`)
		}
		w.raw(`</ul>`)
	}
	sev, text := b.verdict()
	w.open("p", "class", "verdict "+sev, "id", "verdict", "data-severity", sev)
	w.raw(icon(analysis.Severity(sev)), " ").text(text).raw("</p>")
	b.tiles(&w)
	return w.String()
}

type label struct{ text, meaning string }

// labels are what a reader must know before any number.
func (b *builder) labels() []label {
	var out []label
	m := b.d.Manifest
	if m.Queue.InProcess || m.Store.Embedded {
		out = append(out, label{"in-process floor", "The queue or its store ran inside the benchmark: a lower bound for this machine, never a result about a product."})
	}
	if len(b.sum.Steps) > 0 && b.sum.Steps[0].Loop != nil {
		out = append(out, label{"closed loop: intended = sent", "Coordinated omission is possible: each operation began when the one before it was done, so what a slow queue was not asked meanwhile is missing."})
	}
	if len(b.sum.Steps) > 0 && b.sum.Steps[0].Tail != nil {
		out = append(out, label{"tail of a table of others", "Latency is from the stamp that a message carries to its receipt; nothing is known of what was sent."})
	}
	if len(b.sum.Steps) > 0 && b.sum.Steps[0].Drain != nil {
		out = append(out, label{"drain of a backlog", "Consumers were held and then released: latencies say how long messages lay, not how quick the queue is."})
	}
	if b.imported() || len(b.sum.Steps) == 0 && len(b.sum.References) > 0 {
		out = append(out, label{"imported", "Another tool measured this, by definitions of its own: see how it was measured."})
	}
	if !m.Complete {
		reason := "The run did not end by itself; it is analysed up to where its log is known to be whole."
		if m.Reason != "" {
			reason = m.Reason + ". " + reason
		}
		out = append(out, label{"incomplete", reason})
	}
	return out
}

// verdict is one sentence and its severity: the gravest that was found.
func (b *builder) verdict() (severity, text string) {
	count := map[analysis.Severity]int{}
	var first *analysis.Finding
	consider := func(fs []analysis.Finding) {
		for i := range fs {
			count[fs[i].Severity]++
			if first == nil && fs[i].Severity == analysis.Failure {
				first = &fs[i]
			}
		}
	}
	consider(b.sum.Findings)
	lost, received, dups := int64(0), int64(0), int64(0)
	for _, s := range b.sum.Steps {
		consider(s.Findings)
		lost += s.Accounting.Lost
		received += s.Accounting.Received
		dups += s.Accounting.Duplicates
	}
	switch {
	case len(b.sum.Steps) == 0 && len(b.sum.References) > 0:
		return string(analysis.Note), "Summaries of another tool, carried as they are."
	case len(b.sum.Steps) == 0:
		return string(analysis.Failure), "The run has no step: there is nothing to measure."
	case first != nil:
		return string(analysis.Failure), first.Text
	case received == 0:
		return string(analysis.Failure), "No message was received."
	}
	if b.imported() {
		return string(analysis.Note), group(received) + " latencies that another tool measured."
	}
	text = group(received) + " messages received, "
	if lost == 0 {
		text += "none lost"
	} else {
		text += group(lost) + " lost"
	}
	if dups > 0 {
		text += ", " + group(dups) + " delivered more than once"
	}
	text += "."
	if n := count[analysis.Warning]; n > 0 {
		return string(analysis.Warning), text + " " + plural(n, "warning says", "warnings say") + " how far the numbers can be trusted."
	}
	return "good", text
}

// tiles are the numbers that most readers came for: median and tail per rate,
// of at most maxTiles rates; the table has all of them. Of several repeats, each
// number is that of the middle one.
func (b *builder) tiles(w *writer) {
	const maxTiles = 6
	lo, hi := pair(b.percentiles)
	tiles := b.byRate()
	w.raw(`<ul class="tiles">`)
	for _, steps := range tiles[:min(len(tiles), maxTiles)] {
		w.raw(`<li class="tile"><a data-goto href="#`, stepID(steps[0]), `"><span class="tile-rate">`).text(loadName(steps[0]))
		if v := steps[0].Variant; v != "" {
			w.text(", " + v)
		}
		if len(steps) > 1 {
			w.text(", middle of " + itoa(len(steps)))
		}
		w.raw(`</span>`)
		some := false
		for i, p := range []float64{lo, hi} {
			v, ok := b.middle(steps, p)
			if !ok || i > 0 && lo == hi {
				continue
			}
			some = true
			w.raw(`<span class="tile-value"><small>`).text("p" + key(p)).raw(`</small> <b>`).text(v.Text()).raw(`</b></span>`)
		}
		if !some {
			w.raw(`<span class="tile-none">nothing measured</span>`)
		}
		w.raw(`</a></li>`)
	}
	w.raw(`</ul>`)
	if n := len(tiles) - maxTiles; n > 0 {
		w.raw(`<p class="note more-tiles">`).text(plural(n, "more rate is", "more rates are") + " in the table below.").raw(`</p>`)
	}
}

// byRate gathers the steps that differ by their repeat only, in the order of
// their first.
func (b *builder) byRate() [][]analysis.StepSummary {
	var out [][]analysis.StepSummary
	at := map[string]int{}
	for _, s := range b.sum.Steps {
		i, ok := at[rateKey(s)]
		if !ok {
			i = len(out)
			at[rateKey(s)] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], s)
	}
	return out
}

// rateKey is what the repeats of a step share.
func rateKey(s analysis.StepSummary) string {
	return strconv.FormatFloat(s.Rate, 'g', -1, 64) + " " + s.Variant
}

// middle is the middle repeat's value of a percentile, the lower of two: a
// number that was measured, as in the figure.
func (b *builder) middle(steps []analysis.StepSummary, p float64) (analysis.Percentile, bool) {
	var vs []analysis.Percentile
	for _, s := range steps {
		l := s.Latencies[b.v.Kind.String()]
		if v, ok := l.Percentiles[key(p)]; ok && l.N > 0 {
			vs = append(vs, v)
		}
	}
	if len(vs) == 0 {
		return analysis.Percentile{}, false
	}
	slices.SortStableFunc(vs, func(a, b analysis.Percentile) int {
		if a.Beyond != b.Beyond {
			if b.Beyond {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Ns, b.Ns)
	})
	return vs[(len(vs)-1)/2], true
}

// pair is a median and a tail of those asked for.
func pair(ps []float64) (lo, hi float64) {
	lo, hi = ps[0], ps[len(ps)-1]
	for _, p := range ps {
		if p == 50 {
			lo = p
		}
		if p == 99 {
			hi = p
		}
	}
	return lo, max(lo, hi)
}

func queueName(kind string) string {
	switch kind {
	case "delta":
		return "Delta table as a message queue"
	case "memory":
		return "Queue in memory"
	case "":
		return "Message queue"
	}
	return kind
}
