package report

import (
	"maps"
	"slices"
	"strings"
	"time"

	"queuebench/analysis"
	"queuebench/figure"
	"queuebench/rawlog"
	"queuebench/report/texts"
)

func duration(ns int64) time.Duration { return time.Duration(ns) }

// facts are how the numbers came about: the model, the queue, the stores, the
// machine, the clock, every setting. They do not depend on the view.
func (b *builder) facts() string {
	var w writer
	m := b.d.Manifest
	w.raw(`<h2>` + texts.Measured + `</h2>`)
	model := texts.OpenModel
	if len(b.sum.Steps) > 0 && b.sum.Steps[0].Loop != nil {
		model = texts.ClosedModel
	}
	if len(b.sum.Steps) > 0 && b.sum.Steps[0].Drain != nil {
		model = texts.BacklogModel
	}
	if len(b.sum.Steps) > 0 && b.sum.Steps[0].Tail != nil {
		model = texts.TailModel
	}
	if b.imported() {
		model = texts.ImportedModel
	}
	shortest, longest := resolution(b.sum.Steps)
	w.raw(`<ul class="model"><li>`, model,
		`</li><li>`+texts.NothingLeftOut+`</li><li>`+texts.WarmupModel+`</li><li>`, texts.PercentilesModel(shortest, longest), `</li></ul>`)

	w.raw(`<div class="facts">`)
	b.imports(&w)
	section(&w, texts.Queue, []fact{
		{texts.Kind, m.Queue.Kind}, {texts.Partitions, positive(m.Queue.Partitions)}, {texts.AckMeans, b.sum.DurabilityText()},
		{texts.CommitInterval, durationOrNone(m.Queue.CommitInterval)},
		{texts.Promises, promises(m)},
	})
	section(&w, texts.StoreOfQueue, storeFacts(m.Store))
	section(&w, texts.StoreOfLog, storeFacts(m.LogStore))
	section(&w, texts.Machine, []fact{
		{texts.HostName, m.Host.Name}, {texts.CPUs, strings.TrimSpace(positive(m.Host.CPUs) + " " + m.Host.CPUModel)},
		{texts.Memory, texts.Bytes(m.Host.MemoryBytes)}, {texts.System, strings.TrimSpace(m.Host.OS + "/" + m.Host.Arch + " " + m.Host.Kernel)},
	})
	section(&w, texts.Clock, []fact{
		{texts.HostName, m.Clock.Host}, {texts.Boot, m.Clock.BootID}, {texts.AnchoredAt, timeText(m.Clock.AnchorNs)},
		{texts.Kind, texts.ClockKind},
	})
	section(&w, texts.Program, []fact{
		{texts.RecordedBy, strings.TrimSpace(m.Program.Name + " " + m.Program.Version)}, {texts.BuiltWith, m.Program.Go},
		{texts.Started, timeText(m.StartedNs)}, {texts.Ended, timeText(m.EndedNs)},
	})
	w.raw(`</div>`)
	if len(m.Warnings) > 0 {
		w.raw(`<h3>` + texts.WarningsOfRunner + `</h3><ul>`)
		for _, s := range m.Warnings {
			w.el("li", s)
		}
		w.raw(`</ul>`)
	}
	if len(m.Settings) > 0 {
		w.raw(`<details data-key="settings"><summary>`).text(texts.AllSettings(len(m.Settings))).raw(`</summary>`)
		pairs(&w, m.Settings)
		w.raw(`</details>`)
	}
	return w.String()
}

// resolution tells how long the intervals are: those of the whole run where the
// log is at hand, longer ones in a page that must stay small.
func resolution(steps []analysis.StepSummary) (shortest, longest string) {
	if len(steps) == 0 {
		return "", ""
	}
	lo, hi := steps[0].IntervalNs, steps[0].IntervalNs
	for _, s := range steps {
		lo, hi = min(lo, s.IntervalNs), max(hi, s.IntervalNs)
	}
	return figure.Duration(duration(lo)), figure.Duration(duration(hi))
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
	f := []fact{{texts.Address, s.Address}, {texts.Durability, s.Durability}}
	if s.Embedded {
		f = append(f, fact{texts.ServedBy, texts.EmbeddedServer})
	}
	return f
}

func promises(m rawlog.Manifest) string {
	var out []string
	if m.Queue.LosesNothing {
		out = append(out, texts.LosesNothing)
	}
	if m.Queue.DeliversOnce {
		out = append(out, texts.DeliversOnce)
	}
	if len(out) == 0 {
		return texts.None
	}
	return strings.Join(out, "; ")
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
	return time.Unix(0, ns).UTC().Format(texts.DateExact)
}
