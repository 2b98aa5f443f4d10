package gate

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"queuebench/analysis"
	"queuebench/analysis/compare"
	"queuebench/stats"
)

// step holds a step to the limit.
func (s SLO) step(x *analysis.StepSummary) Verdict {
	switch s.Metric.unit() {
	case count:
		return s.count(x)
	case nanoseconds:
		return s.latency(x)
	}
	return s.throughput(x)
}

// verdict compares a value with the limit.
func (s SLO) verdict(value, limit float64, found string) Verdict {
	v := Verdict{State: Broken, Value: compare.Number(value), Found: found}
	if s.Op.holds(value, limit) {
		v.State = Held
	}
	return v
}

func unsupported(why string) Verdict {
	return Verdict{State: Unsupported, Value: compare.Number(math.NaN()), Found: analysis.Dash, Why: why}
}

// cutOff tells why a step does not tell all.
func cutOff(x *analysis.StepSummary) string {
	switch {
	case x.Failure != "":
		return "the step failed: " + x.Failure
	case !x.Complete:
		return "the step is incomplete"
	}
	return ""
}

// has tells whether a step has a finding.
func has(x *analysis.StepSummary, id string) bool {
	return slices.ContainsFunc(x.Findings, func(f analysis.Finding) bool { return f.ID == id })
}

// doubtful are the findings that take the meaning from counts of messages.
var doubtful = []struct{ id, why string }{
	{"accounting-breach", "the counts do not add up, which is an error of ours"},
	{"half-missing", "the other half of the run is missing"},
	{"no-data", "no message is left after the cut"},
}

func (s SLO) count(x *analysis.StepSummary) Verdict {
	at := slices.IndexFunc(counts, func(c struct {
		name    string
		of      func(*analysis.Accounting) int64
		missing bool
	}) bool {
		return c.name == s.Metric.Name
	})
	n := counts[at].of(&x.Accounting)
	limit := s.Limit
	if s.Share {
		limit *= float64(x.Accounting.Scheduled)
	}
	v := s.verdict(float64(n), limit, analysis.FormatCount(n))
	if s.Share && x.Accounting.Scheduled > 0 {
		v.Found += " of " + analysis.FormatCount(x.Accounting.Scheduled)
	}
	why := cutOff(x)
	for _, d := range doubtful {
		if why == "" && has(x, d.id) {
			why = d.why
		}
	}
	if why == "" && x.Accounting.Scheduled == 0 {
		why = "no message was scheduled"
	}
	// What is too much already is too much all the same.
	tooMany := v.State == Broken && float64(n) > limit && (s.Op == "<" || s.Op == "<=" || s.Op == "==")
	if why != "" && counts[at].missing && !tooMany {
		v.State, v.Why = Unsupported, why
	}
	return v
}

func (s SLO) throughput(x *analysis.StepSummary) Verdict {
	if why := cutOff(x); why != "" {
		return unsupported(why)
	}
	if s.Metric.Name == cov {
		if x.Throughput.Seconds < 2 {
			return unsupported("fewer than two whole seconds after the cut")
		}
		return s.verdict(x.Throughput.CoV, s.Limit, strconv.FormatFloat(x.Throughput.CoV, 'f', 4, 64))
	}
	value, limit := x.PerSecond(), s.Limit
	found := analysis.FormatRate(value) + "/s"
	if s.Share {
		due := x.DuePerSecond()
		if due == 0 {
			return unsupported("no rate was asked for that a share could be of: write the limit in messages per second")
		}
		limit *= due
		found += fmt.Sprintf(" of %s/s", analysis.FormatRate(due))
	}
	if x.Accounting.Scheduled == 0 {
		return unsupported("no message was scheduled")
	}
	v := s.verdict(value, limit, found)
	if v.State == Broken && has(x, "runner-limited") {
		v.State, v.Why = Unsupported, "the runner was the limit (runner-limited)"
	}
	return v
}

// unsteady are the findings that take the meaning from the percentiles of a step.
// Where broken is true, a limit that is exceeded is broken all the same.
var unsteady = []struct {
	id, why string
	broken  bool
}{
	{"not-keeping-up", "the queue does not keep up: the latency depends on how long the step was", true},
	{"no-steady-state", "no steady state was found", false},
	{"draining-a-burst", "this is the time to drain a burst", false},
	{"draining-a-backlog", "this is the time to drain a backlog", false},
	{"clock-skew", "clocks differ by more than the latency", false},
	{"half-missing", "the other half of the run is missing", false},
	{"accounting-breach", "the counts do not add up, which is an error of ours", false},
	{"runner-limited", "the runner was the limit", false},
}

func (s SLO) latency(x *analysis.StepSummary) Verdict {
	kind := s.Metric.Kind
	if !s.Metric.HasKind {
		kind = x.MainKind()
	}
	l, ok := x.Latencies[kind.String()]
	if !ok || l.N == 0 {
		return unsupported("no message with a latency " + kind.Title())
	}
	value, found := s.value(l)
	if math.IsNaN(value) {
		return unsupported(found)
	}
	v := s.verdict(value, s.Limit, found)
	if why := cutOff(x); why != "" {
		v.State, v.Why = Unsupported, why
		return v
	}
	for _, u := range unsteady {
		// The send lag is the runner's own, and says just that.
		if !has(x, u.id) || kind == analysis.SendLag && u.id != "accounting-breach" {
			continue
		}
		if exceeded := v.State == Broken && (s.Op == "<" || s.Op == "<="); exceeded && u.broken {
			v.Why = fmt.Sprintf("%s (%s)", u.why, u.id)
			continue
		}
		v.State, v.Why = Unsupported, fmt.Sprintf("%s (%s)", u.why, u.id)
		return v
	}
	return v
}

// value is what a limit on a latency is about, +Inf where it falls on a message
// that never came. NaN with the reason where there is none.
func (s SLO) value(l analysis.LatencySummary) (float64, string) {
	if s.Metric.Percent > 0 {
		p, ok := l.Percentiles[analysis.FormatPercent(s.Metric.Percent)]
		switch {
		case !ok:
			return math.NaN(), "nothing was acknowledged"
		case !p.Supported:
			return math.NaN(), fmt.Sprintf("too few messages or commits behind it: %s, %s are needed, and %d commits or blocks",
				analysis.FormatCount(l.N), analysis.FormatCount(stats.MinSamples(stats.FromPercent(s.Metric.Percent))), stats.MinBlocks)
		case p.Beyond:
			return math.Inf(1), p.Text()
		}
		return float64(p.Ns), p.Text()
	}
	finite := l.N - l.Infinite
	if finite == 0 {
		return math.Inf(1), "none came"
	}
	if s.Metric.Name == "min" {
		return float64(l.MinNs), l.Min()
	}
	if l.Infinite > 0 {
		return math.Inf(1), fmt.Sprintf("%s never came", analysis.FormatCount(l.Infinite))
	}
	if s.Metric.Name == "mean" {
		return float64(l.MeanNs), l.Mean()
	}
	return float64(l.MaxNs), l.Max()
}
