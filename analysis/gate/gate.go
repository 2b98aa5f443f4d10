package gate

import (
	"math"
	"slices"
	"strings"

	"queuebench/analysis"
	"queuebench/analysis/compare"
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
		sum := analysis.SummarizePage(d, v, nil)
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

// Unread adds a run that could not be read: what it would have shown is not known.
func (r *Report) Unread(why string) {
	v := unsupported(why)
	v.Limit, v.Step = "every run is read", "none"
	if r.Verdicts = append(r.Verdicts, v); r.State == Held {
		r.State = Unsupported
	}
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
