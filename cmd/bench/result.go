package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/rawlog"
	"queuebench/runner"
	"queuebench/stats"
)

// resultSchema names the form of --json.
const resultSchema = "queuebench.result/1"

// quantile is a percentile that is shown, q in [0,1].
type quantile struct {
	name string
	q    float64
}

// resultQuantiles are shown of the whole step; analyze has any, after a cut.
var resultQuantiles = []quantile{{"50", 0.5}, {"99", 0.99}, {"99.9", 0.999}}

// supported tells whether a percentile of the whole step is shown: as analyze
// has it, but for the commits, which are taken to have come at each interval.
func supported(m *rawlog.Manifest, s *runner.StepResult, q float64, n int64) bool {
	return stats.Supported(q, n, stepBlocks(m, s))
}

// stepBlocks is how many independent blocks are behind the percentiles of the
// whole step.
func stepBlocks(m *rawlog.Manifest, s *runner.StepResult) int64 {
	if t := m.Queue.CommitInterval; t > 0 {
		return s.DurationNs / int64(t)
	}
	return stats.MinBlocks
}

// jsonResult is what --json prints.
type jsonResult struct {
	Schema   string      `json:"schema"`
	Run      string      `json:"run"`
	Role     rawlog.Role `json:"role,omitempty"` // of a half: it has 0 for what only the other one knows
	Address  string      `json:"address"`
	Complete bool        `json:"complete"`
	Reason   string      `json:"reason,omitempty"`
	Queue    string      `json:"queue"`
	// Durability is what an acknowledgement means.
	Durability string          `json:"durability"`
	Embedded   bool            `json:"in_process_floor"`
	Warnings   []string        `json:"warnings"`
	Broken     []string        `json:"broken"`
	Unsent     []string        `json:"unsent"`
	Steps      []jsonStepEntry `json:"steps"`
	// Capacity is the result of a search.
	Capacity *rawlog.Capacity `json:"capacity,omitempty"`
	// Scenario is there when there was one.
	Scenario *scenarioResult `json:"scenario,omitempty"`
}

type jsonStepEntry struct {
	Step       int               `json:"step"`
	Repeat     int               `json:"repeat"`
	Rate       float64           `json:"rate"`
	Settings   map[string]string `json:"settings"`
	Complete   bool              `json:"complete"`
	Failure    string            `json:"failure,omitempty"`
	Behind     string            `json:"behind,omitempty"`
	Accounting rawlog.Accounting `json:"accounting"`
	Requests   map[string]int64  `json:"requests,omitempty"`
	Cost       *rawlog.Cost      `json:"cost,omitempty"`
	Closed     *jsonClosed       `json:"closed_loop,omitempty"`
	Drain      *rawlog.Drain     `json:"drain,omitempty"`
	EndToEnd   jsonLatency       `json:"end_to_end_whole_step"`
	SendLag    jsonLatency       `json:"send_lag_whole_step"`
}

// jsonLatency has null where a percentile falls on a message that never came.
type jsonLatency struct {
	N           int64             `json:"n"`
	MinNs       int64             `json:"min_ns"`
	MaxNs       int64             `json:"max_ns"`
	MeanNs      float64           `json:"mean_ns"`
	Percentiles map[string]*int64 `json:"percentiles_ns"`
	// Supported says of which percentiles there is enough behind, as in the
	// table, which has a dash for the others.
	Supported map[string]bool `json:"supported"`
}

// latencyOf is a latency of a step, with so many blocks behind it; missing
// messages rank above all.
func latencyOf(c stats.Compact, missing int64, quantiles []quantile, blocks int64) jsonLatency {
	l := jsonLatency{N: c.N, MinNs: c.Min, MaxNs: c.Max, MeanNs: c.Mean(), Percentiles: map[string]*int64{}, Supported: map[string]bool{}}
	if c.N+missing == 0 {
		return l
	}
	for _, p := range quantiles {
		l.Supported[p.name] = stats.Supported(p.q, c.N+missing, blocks)
		if ns, beyond := c.Quantile(p.q, missing); beyond {
			l.Percentiles[p.name] = nil
		} else {
			l.Percentiles[p.name] = &ns
		}
	}
	return l
}

// printResult prints the table, or JSON, and the run's address on a line of its
// own. s is what a scenario adds; nil for none.
func printResult(c *cli.Context, cfg *runner.Config, stores *opened, r *runner.Result, s *scenarioResult) error {
	w := c.App.Writer
	var err error
	if c.Bool("json") {
		err = printJSON(w, cfg.Manifest, stores, r, s)
	} else if len(r.Steps) > 0 {
		err = printTable(w, cfg.Manifest, r)
		if err == nil && s != nil {
			err = s.print(w)
		}
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, stores.address)
	return err
}

func printJSON(w io.Writer, m *rawlog.Manifest, stores *opened, r *runner.Result, s *scenarioResult) error {
	out := jsonResult{
		Schema: resultSchema, Run: m.Run, Role: m.Role, Address: stores.address, Complete: m.Complete, Reason: m.Reason, Queue: m.Queue.Kind,
		Durability: m.Queue.Durability, Embedded: m.Store.Embedded || m.Queue.InProcess,
		Capacity: m.Capacity,
		Warnings: notNil(m.Warnings), Broken: notNil(r.Broken), Unsent: notNil(r.Unsent), Steps: []jsonStepEntry{},
		Scenario: s,
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		out.Steps = append(out.Steps, jsonStepEntry{
			Step: s.Step.Step, Repeat: s.Repeat, Rate: s.Rate, Settings: s.Settings, Complete: s.Complete, Failure: s.Failure, Behind: s.Behind,
			Accounting: s.Accounting, Requests: s.Requests, Cost: s.Cost, Closed: closedJSON(m, s), Drain: s.Drain,
			EndToEnd: latencyOf(s.EndToEnd, s.Missing, resultQuantiles, stepBlocks(m, s)), SendLag: latencyOf(s.SendLag, 0, resultQuantiles, stepBlocks(m, s)),
		})
	}
	body, err := json.Marshal(out)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", body)
	return err
}

func notNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

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
	if m.Queue.Durability != "" {
		fmt.Fprintf(out, "acked: %s\n", m.Queue.Durability)
	}
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
