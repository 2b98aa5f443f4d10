package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"queuebench/internal/columns"
	"queuebench/stats"
)

// Scaling is the throughput against a setting that is a number: of consumers,
// partitions, brokers.
type Scaling struct {
	Setting string  `json:"setting"`
	Rate    float64 `json:"rate,omitempty"` // 0 for a closed loop
	// Beside says which other settings of their own these steps have.
	Beside string       `json:"beside,omitempty"`
	Rows   []ScalingRow `json:"rows"`
}

// ScalingRow is one value of the setting.
type ScalingRow struct {
	Resource float64 `json:"resource"`
	Runs     int     `json:"runs"` // steps and repeats behind it
	// ReceivedPerS is of the median run, by nearest rank.
	ReceivedPerS float64 `json:"received_per_s"`
	CoV          float64 `json:"cov"` // of that run, over its seconds
	// Ratio is that of the throughputs, against the first row; Efficiency is it by
	// the ratio of the resources. Both are 0 where the first row has none.
	Ratio      float64 `json:"throughput_ratio"`
	Efficiency float64 `json:"efficiency"`
	// RateBound says that as much came as was due, about: the rate limits the
	// throughput, not the setting.
	RateBound bool `json:"rate_bound"`
}

// ScalingOf is the throughput of steps against one of their settings, a table for
// each rate and each combination of the other settings that steps have of their
// own. A step in which the setting is no positive number, or which has none, is
// left out; a table of fewer than two rows is none. Steps may be of several runs.
func ScalingOf(steps []StepSummary, setting string) []Scaling {
	type key struct{ load, beside string }
	type value struct {
		resource float64
		steps    []*StepSummary
	}
	var order []key
	rows := map[key][]*value{}
	for i := range steps {
		x := &steps[i]
		resource, err := strconv.ParseFloat(x.Settings[setting], 64)
		if err != nil || !(resource > 0) || math.IsInf(resource, 0) || x.Drain != nil || x.Tail != nil {
			continue
		}
		k := key{beside: without(x.Variant, setting)}
		if x.Loop == nil {
			k.load = strconv.FormatFloat(x.Rate, 'g', -1, 64)
		} else {
			k.load = fmt.Sprint(x.Loop.Mode, x.Loop.Concurrency)
			if setting != "workers" {
				k.load += fmt.Sprint(" ", x.Loop.Workers)
			}
		}
		if rows[k] == nil {
			order = append(order, k)
		}
		at := slices.IndexFunc(rows[k], func(v *value) bool { return v.resource == resource })
		if at < 0 {
			at = len(rows[k])
			rows[k] = append(rows[k], &value{resource: resource})
		}
		rows[k][at].steps = append(rows[k][at].steps, x)
	}
	var out []Scaling
	for _, k := range order {
		values := rows[k]
		if len(values) < 2 {
			continue
		}
		slices.SortFunc(values, func(a, b *value) int { return cmp.Compare(a.resource, b.resource) })
		s := Scaling{Setting: setting, Beside: k.beside}
		for _, v := range values {
			x := medianRun(v.steps)
			row := ScalingRow{Resource: v.resource, Runs: len(v.steps), ReceivedPerS: x.PerSecond(), CoV: x.Throughput.CoV}
			if x.Loop == nil {
				s.Rate = x.Rate
				row.RateBound = row.ReceivedPerS >= stats.RecoveryShare*x.DuePerSecond()
			}
			first := row
			if len(s.Rows) > 0 {
				first = s.Rows[0]
			}
			if first.ReceivedPerS > 0 {
				row.Ratio = row.ReceivedPerS / first.ReceivedPerS
				row.Efficiency = row.Ratio / (row.Resource / first.Resource)
			}
			s.Rows = append(s.Rows, row)
		}
		out = append(out, s)
	}
	return out
}

// PerSecond is what was received per second, by all consumer groups together, or
// done in a closed loop.
func (x *StepSummary) PerSecond() float64 {
	if x.Loop != nil {
		return x.Loop.PerSecond
	}
	if x.Drain != nil && x.Drain.PerSecond > 0 {
		return x.Drain.PerSecond
	}
	return x.Throughput.ReceivedPerS
}

// ThroughputName says what PerSecond counts.
func (x *StepSummary) ThroughputName() string {
	switch {
	case x.Loop != nil:
		return "operations/s"
	case x.Drain != nil && x.Drain.PerSecond > 0:
		return "drained/s"
	}
	return "received/s"
}

// DuePerSecond is what the consumer groups together should have received per
// second; 0 where there was no schedule.
func (x *StepSummary) DuePerSecond() float64 {
	if x.Loop != nil || x.Tail != nil || x.Drain != nil {
		return 0
	}
	return x.Rate * float64(max(1, x.groups))
}

// medianRun is the one whose throughput is the median, by nearest rank.
func medianRun(steps []*StepSummary) *StepSummary {
	x := slices.Clone(steps)
	slices.SortStableFunc(x, func(a, b *StepSummary) int { return cmp.Compare(a.PerSecond(), b.PerSecond()) })
	return x[(len(x)-1)/2]
}

// without is a variant's text without one setting.
func without(variant, setting string) string {
	var parts []string
	for part := range strings.SplitSeq(variant, ", ") {
		if part != "" && !strings.HasPrefix(part, setting+" ") {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// scalings are those of a run: where steps differ in one setting that is a
// number.
func scalings(steps []StepSummary) (out []Scaling) {
	var varied []string
	for i := range steps {
		for part := range strings.SplitSeq(steps[i].Variant, ", ") {
			if name, _, ok := strings.Cut(part, " "); ok && !slices.Contains(varied, name) {
				varied = append(varied, name)
			}
		}
	}
	for _, name := range varied {
		for _, s := range ScalingOf(steps, name) {
			// Where all kept up, the setting limits nothing.
			if slices.ContainsFunc(s.Rows, func(r ScalingRow) bool { return !r.RateBound }) {
				out = append(out, s)
			}
		}
	}
	return out
}

// Title says what a table of scaling is about.
func (s *Scaling) Title() string {
	text := "Scaling: throughput against " + s.Setting
	if s.Rate > 0 {
		text += " at " + FormatRate(s.Rate) + " msg/s"
	}
	if s.Beside != "" {
		text += ", with " + s.Beside
	}
	return text
}

// Table has a row for each value of the setting.
func (s *Scaling) Table() columns.Table {
	t := columns.Table{Header: []string{s.Setting, "runs", "received/s", "coefficient of variation", "ratio", "efficiency", ""}}
	for _, r := range s.Rows {
		row := []string{strconv.FormatFloat(r.Resource, 'g', -1, 64), strconv.Itoa(r.Runs), FormatRate(r.ReceivedPerS),
			strconv.FormatFloat(r.CoV, 'f', 2, 64), Dash, Dash, ""}
		if r.Efficiency > 0 {
			row[4], row[5] = strconv.FormatFloat(r.Ratio, 'f', 2, 64), strconv.FormatFloat(r.Efficiency, 'f', 2, 64)
		}
		if r.RateBound {
			row[6] = "it kept up: the rate limits it"
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// groups is the number of consumer groups.
func (c *cut) groups() int {
	if c.run == nil {
		return 1
	}
	return max(1, len(c.run.Groups))
}
