package main

import (
	"encoding/json"
	"fmt"
	"io"

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
	Durability string            `json:"durability,omitempty"`
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
			Step: s.Step.Step, Repeat: s.Repeat, Rate: s.Rate, Settings: s.Settings, Complete: s.Complete, Failure: s.Failure, Behind: s.Behind, Durability: s.Durability,
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
