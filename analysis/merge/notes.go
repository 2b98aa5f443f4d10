package merge

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"queuebench/analysis"
	"queuebench/rawlog"
)

// stepNotes say of what a step of the result is, and what was left out of it.
func stepNotes(runs []*run, i int, span analysis.Span) []string {
	var of []string
	foreign := int64(0)
	for _, r := range runs {
		s := &r.digest.Steps[i]
		a := &s.Accounting
		foreign += a.Foreign
		text := fmt.Sprintf("%s (%s msg/s, %s long) gives %s of its messages and has %s outside, which are trimmed", r.name, analysis.FormatRate(s.Rate),
			r.outline.Spans[i].Duration.Round(time.Millisecond), analysis.FormatCount(a.RecordsUsed), analysis.FormatCount(a.RecordsTrimmed))
		if a.Unknown > 0 {
			text += fmt.Sprintf(" (%s more are unknown)", analysis.FormatCount(a.Unknown))
		}
		if o := r.offsets[i]; !r.known {
			text += fmt.Sprintf("; its clock is trusted to agree within %v", time.Duration(o.ErrorNs))
		} else if r != runs[0] && (o.OffsetNs != 0 || o.ErrorNs != 0) {
			text += fmt.Sprintf("; %s added to its clock", analysis.FormatOffset(o.OffsetNs, o.ErrorNs))
		}
		of = append(of, text)
	}
	out := []string{fmt.Sprintf("merged, %s: the %s from %s on in which all runs were under load: %s", stepText(span), span.Duration.Round(time.Millisecond), clockText(span.StartNs), strings.Join(of, "; "))}
	if foreign > 0 {
		out = append(out, fmt.Sprintf("merged, %s: %s deliveries were of messages that the run which got them had not sent, such as those of the others on a topic that they share: they are counted as foreign, and no latency from one run to another is known",
			stepText(span), analysis.FormatCount(foreign)))
	}
	return out
}

// ownSettings differ from run to run and say nothing of the load.
var ownSettings = []string{"run-id", "spool", "clock-peer", "clock-serve", "metrics-addr", "quiet", "json", "log-store", "seed", "command", "workload"}

// differences are notes on what is not the same in all manifests.
func differences(runs []*run) []string {
	names := map[string]bool{}
	for _, r := range runs {
		for name := range r.manifest().Settings {
			names[name] = !slices.Contains(ownSettings, name)
		}
	}
	var out []string
	differ := func(what string, of func(r *run) string) {
		values := map[string][]string{}
		var order []string
		for _, r := range runs {
			v := of(r)
			if values[v] == nil {
				order = append(order, v)
			}
			values[v] = append(values[v], r.name)
		}
		if len(order) < 2 {
			return
		}
		var texts []string
		for _, v := range order {
			texts = append(texts, fmt.Sprintf("%q in %s", v, strings.Join(values[v], ", ")))
		}
		out = append(out, "merged: "+what+" differs: "+strings.Join(texts, "; "))
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if names[name] {
			differ("--"+name, func(r *run) string { return r.manifest().Settings[name] })
		}
	}
	for what, of := range map[string]func(m *rawlog.Manifest) string{
		"the program's version":               func(m *rawlog.Manifest) string { return m.Program.Version },
		"what an acknowledgement means":       func(m *rawlog.Manifest) string { return m.Queue.Durability },
		"the number of partitions":            func(m *rawlog.Manifest) string { return fmt.Sprint(m.Queue.Partitions) },
		"the commit interval":                 func(m *rawlog.Manifest) string { return m.Queue.CommitInterval.String() },
		"that the queue loses nothing":        func(m *rawlog.Manifest) string { return fmt.Sprint(m.Queue.LosesNothing) },
		"that the queue delivers once":        func(m *rawlog.Manifest) string { return fmt.Sprint(m.Queue.DeliversOnce) },
		"the address of the queue's store":    func(m *rawlog.Manifest) string { return place(m.Store.Address, m.Run) },
		"the durability of the queue's store": func(m *rawlog.Manifest) string { return m.Store.Durability },
	} {
		differ(what, func(r *run) string { return of(r.manifest()) })
	}
	slices.Sort(out)
	return out
}
