package main

import (
	"fmt"
	"io"

	"queuebench/rawlog"
	"queuebench/runner"
	"queuebench/stats"
)

// optionRow is an option of one-at-a-time, before and after it is switched on:
// alone, and beside all others.
type optionRow struct {
	Name     string `json:"name"`
	Settings string `json:"settings,omitempty"`
	Rate     string `json:"rate,omitempty"`
	// NotApplicable says why there is nothing to compare.
	NotApplicable string       `json:"not_applicable,omitempty"`
	Alone         *beforeAfter `json:"alone,omitempty"`
	BesideAll     *beforeAfter `json:"beside_all_others,omitempty"`
}

type beforeAfter struct {
	Before measured `json:"before"`
	After  measured `json:"after"`
}

// measured is what a table of before and after shows of a step.
type measured struct {
	Throughput float64 `json:"throughput"`
	P50Ns      *int64  `json:"p50_ns"` // null without the messages for it, or beyond the deadline
	P99Ns      *int64  `json:"p99_ns"`

	p50, p99 string
}

func measure(m *rawlog.Manifest, s *runner.StepResult) measured {
	out := measured{}
	out.Throughput, _, _ = stats.Moments(throughputOf(s))
	if len(throughputOf(s)) == 0 && s.DurationNs > 0 { // shorter than two seconds
		out.Throughput = float64(s.Accounting.Received) / (float64(s.DurationNs) / 1e9)
	}
	n := s.EndToEnd.N + s.Missing
	for _, q := range []struct {
		q    float64
		ns   **int64
		text *string
	}{{0.5, &out.P50Ns, &out.p50}, {0.99, &out.P99Ns, &out.p99}} {
		ok := n > 0 && supported(m, s, q.q, n)
		*q.text = quantileText(s.EndToEnd, q.q, s.Missing, ok)
		if !ok {
			continue
		}
		if ns, beyond := s.EndToEnd.Quantile(q.q, s.Missing); !beyond {
			*q.ns = &ns
		}
	}
	return out
}

// optionRows compares the steps of one-at-a-time, for each rate. Of repeats, the
// first is shown: the raw log has all.
func (s *scenarioRun) optionRows(m *rawlog.Manifest, r *runner.Result) (rows []optionRow) {
	if len(s.options) == 0 {
		return nil
	}
	steps := map[[2]string]*runner.StepResult{}
	var rates []string
	for i := range r.Steps {
		step := &r.Steps[i]
		key := [2]string{step.Settings[variantName], step.Settings["rate"]}
		if step.Repeat != 0 || steps[key] != nil {
			continue
		}
		steps[key] = step
		if key[0] == allOff {
			rates = append(rates, key[1])
		}
	}
	pair := func(before, after, rate string) *beforeAfter {
		b, a := steps[[2]string{before, rate}], steps[[2]string{after, rate}]
		if a == nil || b == nil {
			return nil
		}
		return &beforeAfter{measure(m, b), measure(m, a)}
	}
	applying := 0
	for _, o := range s.options {
		if o.reason == "" {
			applying++
		}
	}
	for _, o := range s.options {
		if o.reason != "" {
			rows = append(rows, optionRow{Name: o.name, NotApplicable: o.reason})
			continue
		}
		for _, rate := range rates {
			row := optionRow{Name: o.name, Settings: o.text(), Rate: rate}
			alone := "only " + o.name
			if applying == 1 {
				alone = allOn
			}
			row.Alone = pair(allOff, alone, rate)
			if applying > 2 {
				row.BesideAll = pair("without "+o.name, allOn, rate)
			}
			rows = append(rows, row)
		}
	}
	if applying > 1 {
		for _, rate := range rates {
			rows = append(rows, optionRow{Name: "all together", Rate: rate, Alone: pair(allOff, allOn, rate)})
		}
	}
	return rows
}

func printOptions(w io.Writer, rows []optionRow) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintln(w, "\nswitched on\tmsg/s\tagainst\tthroughput/s\tp50\tp99\tsettings")
	for _, r := range rows {
		if r.NotApplicable != "" {
			fmt.Fprintf(w, "%s\t\t\t\t\t\t%s\n", r.Name, r.NotApplicable)
			continue
		}
		for _, c := range []struct {
			against string
			*beforeAfter
		}{{allOff, r.Alone}, {"all others on", r.BesideAll}} {
			if c.beforeAfter == nil {
				continue
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%.0f → %.0f\t%s → %s\t%s → %s\t%s\n", r.Name, r.Rate, c.against,
				c.Before.Throughput, c.After.Throughput, c.Before.p50, c.After.p50, c.Before.p99, c.After.p99, r.Settings)
		}
	}
}
