package report

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"queuebench/analysis"
	"queuebench/report/texts"
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
		w.el("time", t.Format(texts.Date), "datetime", t.Format(time.RFC3339))
	}
	if m.Host.CPUs > 0 {
		w.raw(` <span class="sep">·</span> `).text(texts.Host(m.Host.Name, m.Host.CPUs))
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
		out = append(out, label{texts.Floor, texts.FloorMeans})
	}
	if len(b.sum.Steps) > 0 && b.sum.Steps[0].Loop != nil {
		out = append(out, label{texts.ClosedLoop, texts.ClosedLoopMeans})
	}
	if len(b.sum.Steps) > 0 && b.sum.Steps[0].Tail != nil {
		out = append(out, label{texts.Tail, texts.TailMeans})
	}
	if len(b.sum.Steps) > 0 && b.sum.Steps[0].Drain != nil {
		out = append(out, label{texts.Drain, texts.DrainMeans})
	}
	if b.imported() || len(b.sum.Steps) == 0 && len(b.sum.References) > 0 {
		out = append(out, label{texts.Imported, texts.ImportedMeans})
	}
	if !m.Complete {
		meaning := texts.IncompleteMeans
		if m.Reason != "" {
			meaning = texts.IncompleteSince(m.Reason)
		}
		out = append(out, label{texts.Incomplete, meaning})
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
		return string(analysis.Note), texts.OnlySummaries
	case len(b.sum.Steps) == 0:
		return string(analysis.Failure), texts.NoStep
	case first != nil:
		return string(analysis.Failure), first.Text
	case received == 0:
		return string(analysis.Failure), texts.NothingReceived
	}
	if b.imported() {
		return string(analysis.Note), texts.ImportedLatencies(group(received))
	}
	lostText, twice := "", ""
	if lost != 0 {
		lostText = group(lost)
	}
	if dups > 0 {
		twice = group(dups)
	}
	warnings := count[analysis.Warning]
	severity = "good"
	if warnings > 0 {
		severity = string(analysis.Warning)
	}
	return severity, texts.Arrived(group(received), lostText, twice, warnings)
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
		name := rateName(steps[0])
		if len(steps) > 1 {
			name = texts.MiddleOf(name, len(steps))
		}
		w.raw(`<li class="tile"><a data-goto href="#`, stepID(steps[0]), `"><span class="tile-rate">`).text(name).raw(`</span>`)
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
			w.raw(`<span class="tile-none">` + texts.NothingMeasured + `</span>`)
		}
		w.raw(`</a></li>`)
	}
	w.raw(`</ul>`)
	if n := len(tiles) - maxTiles; n > 0 {
		w.raw(`<p class="note more-tiles">`).text(texts.MoreRates(n)).raw(`</p>`)
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
		return texts.DeltaQueue
	case "memory":
		return texts.MemoryQueue
	case "":
		return texts.AnyQueue
	}
	return kind
}
