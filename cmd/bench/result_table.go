package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"queuebench/rawlog"
	"queuebench/runner"
	"queuebench/stats"
)

// printTable prints a row for each step: counts, and latencies end to end of
// the whole step, warm-up included.
func printTable(out io.Writer, m *rawlog.Manifest, r *runner.Result) error {
	if r.Steps[0].Loop == rawlog.LoopClosed {
		return printClosed(out, m, r)
	}
	title := "queue " + m.Queue.Kind
	if m.Process != "" {
		title += ", " + m.Process + " half"
	}
	if m.Store.Embedded || m.Queue.InProcess {
		title += ", in-process floor"
	}
	about := "end-to-end latency from the intended time, whole steps (analyze cuts the warm-up)"
	if r.Steps[0].Drain != nil { // of all steps or of none
		about = "end-to-end latency of a backlog that is drained: how long messages lay, not how quick the queue is"
	}
	fmt.Fprintf(out, "%s; %s\n", title, about)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	varied := variedNames(r)
	for _, name := range varied {
		fmt.Fprintf(w, "%s\t", name)
	}
	fmt.Fprintln(w, "msg/s\trepeat\tscheduled\tacked\treceived\tlost\tduplicates\toverrun\tp50\tp99\tp99.9\tmax\tsend lag p99\t")
	for i := range r.Steps {
		s := &r.Steps[i]
		a := s.Accounting
		for _, name := range varied {
			fmt.Fprintf(w, "%s\t", s.Settings[name])
		}
		fmt.Fprintf(w, "%s\t%d\t%s", askedRate(s), s.Repeat, countsText(m.Role, a))
		for _, p := range resultQuantiles {
			fmt.Fprintf(w, "%s\t", quantileText(s.EndToEnd, p.q, s.Missing, supported(m, s, p.q, s.EndToEnd.N+s.Missing)))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", quantileText(s.EndToEnd, 1, 0, true), quantileText(s.SendLag, 0.99, 0, supported(m, s, 0.99, s.SendLag.N)), stateText(m, s))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	printDurability(out, m, r)
	for i := range r.Steps {
		if text := costText(&r.Steps[i]); text != "" {
			fmt.Fprintln(out, text)
		}
	}
	if !m.Complete {
		fmt.Fprintf(out, "incomplete: %s\n", m.Reason)
	}
	printDrains(out, r)
	if m.Capacity != nil {
		fmt.Fprintln(out, capacityText(m.Capacity))
	}
	return nil
}

// countsText are the counts of a step. A half has a dash for what only the other
// one knows.
func countsText(role rawlog.Role, a rawlog.Accounting) string {
	var b strings.Builder
	for _, n := range []struct {
		count int64
		of    rawlog.Role // who knows it; RoleAll: only both together
	}{
		{a.Scheduled, rawlog.RoleProduce}, {a.Acked, rawlog.RoleProduce}, {a.Received, rawlog.RoleConsume},
		{a.Lost, rawlog.RoleAll}, {a.Duplicates, rawlog.RoleConsume}, {a.Overrun, rawlog.RoleProduce},
	} {
		text := strconv.FormatInt(n.count, 10)
		if role != rawlog.RoleAll && role != n.of {
			text = "-"
		}
		b.WriteString(text + "\t")
	}
	return b.String()
}

// costText tells what a step's requests were and cost, or nothing.
func costText(s *runner.StepResult) string {
	if s.Cost == nil {
		return ""
	}
	var kinds []string
	for _, k := range []struct{ key, name string }{
		{"put", "PUT"}, {"put_if_absent", "conditional PUT"}, {"get", "GET"}, {"miss", "GET that missed"}, {"list", "LIST"}, {"head", "HEAD"}, {"delete", "DELETE"},
	} {
		if n := s.Requests[k.key]; n > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", n, k.name))
		}
	}
	return fmt.Sprintf("step %d, repeat %d: %s; per million messages %.0f requests, $%.3g (%s)", s.Step.Step, s.Repeat, strings.Join(kinds, ", "), s.Cost.RequestsPerMillion, s.Cost.DollarsPerMillion, s.Cost.Prices)
}

// askedRate is a dash where a queue is filled as fast as it takes messages.
func askedRate(s *runner.StepResult) string {
	if s.Rate == 0 {
		return "-"
	}
	return strconv.FormatFloat(s.Rate, 'f', -1, 64)
}

// variedNames are the settings beside the rate in which the steps differ, the
// variant's name first.
func variedNames(r *runner.Result) []string {
	names := map[string]bool{}
	for i := range r.Steps {
		for name := range r.Steps[i].Settings {
			names[name] = true
		}
	}
	delete(names, "rate")
	sorted := slices.Sorted(maps.Keys(names))
	if at := slices.Index(sorted, variantName); at > 0 {
		sorted = slices.Insert(slices.Delete(sorted, at, at+1), 0, variantName)
	}
	return sorted
}

func stateText(m *rawlog.Manifest, s *runner.StepResult) string {
	switch {
	case m.Capacity != nil && s.Failure == "":
		if why, _ := s.NotHeld(); why != "" {
			return " did not hold"
		}
		return ""
	case s.Failure != "":
		return " failed"
	case s.Behind != "":
		return " not keeping up"
	case s.Accounting.Failed > 0:
		return " messages failed"
	case s.Accounting.Unconfirmed > 0:
		return " messages unconfirmed"
	}
	return ""
}

// quantileText is a dash without the messages for it, and says so where the
// quantile falls on a message that never came.
func quantileText(c stats.Compact, q float64, missing int64, supported bool) string {
	if c.N+missing == 0 || !supported {
		return "-"
	}
	ns, beyond := c.Quantile(q, missing)
	if beyond {
		return "> deadline"
	}
	return short(time.Duration(ns))
}

// printDurability says what an acknowledgement means, once for all steps or for
// each setting under which it means something else.
func printDurability(out io.Writer, m *rawlog.Manifest, r *runner.Result) {
	differs, said := false, map[string]bool{}
	for i := range r.Steps {
		differs = differs || r.Steps[i].Durability != r.Steps[0].Durability
	}
	if !differs {
		if m.Queue.Durability != "" {
			fmt.Fprintf(out, "acked: %s\n", m.Queue.Durability)
		}
		return
	}
	for i := range r.Steps {
		var parts []string
		for _, name := range variedNames(r) {
			parts = append(parts, name+" "+r.Steps[i].Settings[name])
		}
		text := strings.Join(parts, ", ") + ": " + r.Steps[i].Durability
		if !said[text] {
			fmt.Fprintf(out, "acked, %s\n", text)
		}
		said[text] = true
	}
}
