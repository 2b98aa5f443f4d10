package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"queuebench/analysis"
	"queuebench/figure"
	"queuebench/rawlog"
)

func duration(ns int64) time.Duration { return time.Duration(ns) }

// facts are how the numbers came about: the model, the queue, the stores, the
// machine, the clock, every setting. They do not depend on the view.
func (b *builder) facts() string {
	var w writer
	m := b.d.Manifest
	w.raw(`<h2>How it was measured</h2>`)
	model := `<li><b>Open loop.</b> Messages follow a schedule, whatever the queue does. A late one keeps its intended time, and end-to-end latency counts from there: no coordinated omission.</li>`
	if len(b.sum.Steps) > 0 && b.sum.Steps[0].Loop != nil {
		model = `<li><b>Closed loop.</b> An operation begins when the one before it is done: intended = sent. A slow queue is asked less, and what would have waited meanwhile is missing: coordinated omission is possible.</li>`
	}
	if len(b.sum.Steps) > 0 && b.sum.Steps[0].Drain != nil {
		model = `<li><b>Backlog.</b> The queue was filled while its consumers were held, and drained when they were released. End-to-end latency counts from when a message was due or handed over: it says how long messages lay.</li>`
	}
	if len(b.sum.Steps) > 0 && b.sum.Steps[0].Tail != nil {
		model = `<li><b>Tail.</b> Messages of others were received. Nothing is known of a schedule: latency counts from the stamp that a message carries, by its writer's clock, and losses cannot be told.</li>`
	}
	if b.imported() {
		model = `<li><b>Imported.</b> Another tool measured this, by the definitions below. No schedule is known here: what a busy sender began late may be missing.</li>`
	}
	w.raw(`<ul class="model">`,
		model,
		`<li><b>Nothing is left out.</b> Lost and overrun messages rank as infinite; a percentile that reaches them prints “&gt; deadline”. Negative latencies are counted, not repaired.</li>`,
		`<li><b>Warm-up</b> is cut by intended time, after the run, and can be moved without running again.</li>`,
		`<li><b>Percentiles</b> are nearest-rank over added histograms, never averaged, to within 0.2 %, and shown with three digits. Over time they are those of each interval`+resolution(b.sum.Steps)+`.</li></ul>`)

	w.raw(`<div class="facts">`)
	b.imports(&w)
	section(&w, "Queue", []fact{
		{"kind", m.Queue.Kind}, {"partitions", positive(m.Queue.Partitions)}, {"an acknowledgement means", b.sum.DurabilityText()},
		{"commit interval", durationOrNone(m.Queue.CommitInterval)},
		{"promises", promises(m)},
	})
	section(&w, "Store of the queue", storeFacts(m.Store))
	section(&w, "Store of the raw log", storeFacts(m.LogStore))
	section(&w, "Machine", []fact{
		{"host", m.Host.Name}, {"processors", strings.TrimSpace(positive(m.Host.CPUs) + " " + m.Host.CPUModel)},
		{"memory", bytesText(m.Host.MemoryBytes)}, {"system", strings.TrimSpace(m.Host.OS + "/" + m.Host.Arch + " " + m.Host.Kernel)},
	})
	section(&w, "Clock", []fact{
		{"host", m.Clock.Host}, {"boot", m.Clock.BootID}, {"anchored at", timeText(m.Clock.AnchorNs)},
		{"kind", "one wall-clock anchor, monotonic from there on"},
	})
	section(&w, "Program", []fact{
		{"recorded by", strings.TrimSpace(m.Program.Name + " " + m.Program.Version)}, {"built with", m.Program.Go},
		{"started", timeText(m.StartedNs)}, {"ended", timeText(m.EndedNs)},
	})
	w.raw(`</div>`)
	if len(m.Warnings) > 0 {
		w.raw(`<h3>Warnings of the runner</h3><ul>`)
		for _, s := range m.Warnings {
			w.el("li", s)
		}
		w.raw(`</ul>`)
	}
	if len(m.Settings) > 0 {
		w.raw(`<details data-key="settings"><summary>`).text("All " + plural(len(m.Settings), "setting", "settings") + " of the run").raw(`</summary>`)
		pairs(&w, m.Settings)
		w.raw(`</details>`)
	}
	return w.String()
}

// resolution tells how long the intervals are: those of the whole run where the
// log is at hand, longer ones in a page that must stay small.
func resolution(steps []analysis.StepSummary) string {
	if len(steps) == 0 {
		return ""
	}
	shortest, longest := steps[0].IntervalNs, steps[0].IntervalNs
	for _, s := range steps {
		shortest, longest = min(shortest, s.IntervalNs), max(longest, s.IntervalNs)
	}
	text := ", " + figure.Duration(duration(shortest)) + " long"
	if longest != shortest {
		text = ", " + figure.Duration(duration(shortest)) + " to " + figure.Duration(duration(longest)) + " long by step"
	}
	return text + " here: what is shorter cannot be seen, and a cut moves to the next of their edges"
}

type fact struct{ name, value string }

func section(w *writer, title string, facts []fact) {
	w.raw(`<section><h3>`).text(title).raw(`</h3><dl>`)
	for _, f := range facts {
		if f.value == "" {
			continue
		}
		w.el("dt", f.name).el("dd", f.value)
	}
	w.raw(`</dl></section>`)
}

func pairs(w *writer, m map[string]string) {
	w.raw(`<dl class="pairs">`)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		v := m[k]
		if v == "" {
			v = "–"
		}
		w.el("dt", k).el("dd", v)
	}
	w.raw(`</dl>`)
}

func storeFacts(s rawlog.StoreInfo) []fact {
	f := []fact{{"address", s.Address}, {"durability", s.Durability}}
	if s.Embedded {
		f = append(f, fact{"served by", "the embedded server: an in-process floor"})
	}
	return f
}

func promises(m rawlog.Manifest) string {
	var out []string
	if m.Queue.LosesNothing {
		out = append(out, "loses nothing that it acknowledged")
	}
	if m.Queue.DeliversOnce {
		out = append(out, "delivers no message twice")
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, "; ")
}

func hostLine(h rawlog.Host) string {
	s := plural(h.CPUs, "processor", "processors")
	if h.Name != "" {
		s = h.Name + ", " + s
	}
	return s
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return itoa(n)
}

func durationOrNone(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return figure.Duration(d)
}

func timeText(ns int64) string {
	if ns <= 0 {
		return ""
	}
	return time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05.000 UTC")
}

func bytesText(n int64) string {
	switch {
	case n <= 0:
		return ""
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
