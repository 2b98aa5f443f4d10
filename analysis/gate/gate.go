package gate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"queuebench/analysis"
	"queuebench/analysis/compare"
	"queuebench/stats"
)

// Schema is the schema of the JSON that a Report makes.
const Schema = "queuebench.check/1"

// State is how a limit fared.
type State string

// The states.
const (
	Held        State = "held"
	Broken      State = "broken"
	Unsupported State = "not supported" // the data tell neither
)

// Verdict is a limit held against a step, or against a load of several runs.
type Verdict struct {
	Limit string `json:"limit"`
	Run   string `json:"run,omitempty"` // empty where it is about several
	Step  string `json:"step"`
	State State  `json:"state"`
	// Value is in ns, messages, messages per second, a ratio, or of a regression
	// the ratio of new to base; null where it is not known.
	Value compare.Number `json:"value"`
	Found string         `json:"found"`         // the same for people
	Why   string         `json:"why,omitempty"` // the data do not support a verdict, or what to know beside it
}

// Report is what came of a check.
type Report struct {
	Schema   string    `json:"schema"`
	Runs     []string  `json:"runs"`
	Against  []string  `json:"against,omitempty"`
	State    State     `json:"state"`
	Verdicts []Verdict `json:"verdicts"`
}

// Limits are what runs are held to.
type Limits struct {
	SLOs        []SLO
	Regressions []Regression
	// WithinRun lets single runs be judged by their own variation over time, where
	// there are not several.
	WithinRun bool
}

// Check holds runs to limits, and against the runs of a base where there are
// regressions among the limits. v has the cut; its percentiles are not looked at.
func Check(runs, base []*analysis.Digest, v analysis.View, l Limits) (*Report, error) {
	r := &Report{Schema: Schema, Verdicts: []Verdict{}}
	v.Percentiles = nil
	for _, s := range l.SLOs {
		if s.Metric.Percent > 0 {
			v.Percentiles = append(v.Percentiles, s.Metric.Percent)
		}
	}
	slices.Sort(v.Percentiles)
	v.Percentiles = slices.Compact(v.Percentiles)
	for _, d := range runs {
		r.Runs = append(r.Runs, d.Manifest.Run)
		sum := analysis.Summarize(d, v)
		for _, s := range l.SLOs {
			r.Verdicts = append(r.Verdicts, s.judge(&sum)...)
		}
	}
	for _, d := range base {
		r.Against = append(r.Against, d.Manifest.Run)
	}
	if len(l.Regressions) > 0 {
		verdicts, err := regressions(runs, base, v, l)
		if err != nil {
			return nil, err
		}
		r.Verdicts = append(r.Verdicts, verdicts...)
	}
	r.State = Held
	for _, x := range r.Verdicts {
		if x.State == Broken || x.State == Unsupported && r.State == Held {
			r.State = x.State
		}
	}
	return r, nil
}

// Count is the number of verdicts of a state.
func (r *Report) Count(s State) (n int) {
	for _, v := range r.Verdicts {
		if v.State == s {
			n++
		}
	}
	return n
}

// judge holds each step that the limit is about to it.
func (s SLO) judge(sum *analysis.Summary) []Verdict {
	var out []Verdict
	var rates []string
	for i := range sum.Steps {
		x := &sum.Steps[i]
		if text := analysis.FormatRate(x.Rate); !slices.Contains(rates, text) {
			rates = append(rates, text)
		}
		if s.Rate > 0 && x.Rate != s.Rate {
			continue
		}
		v := s.step(x)
		v.Limit, v.Run, v.Step = s.String(), sum.Run, sum.StepName(i)
		out = append(out, v)
	}
	if len(out) == 0 {
		step, why := "none", "the run has no step"
		if s.Rate > 0 {
			step = analysis.FormatRate(s.Rate) + " msg/s"
			why = "the run has no step of this rate, but of " + strings.Join(rates, ", ")
		}
		out = append(out, Verdict{Limit: s.String(), Run: sum.Run, Step: step, State: Unsupported, Value: compare.Number(math.NaN()), Found: analysis.Dash, Why: why})
	}
	return out
}

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
