package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"queuebench/internal/command"
	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/runner"
	"queuebench/scenario"
	"queuebench/stats"
)

// scenarioOutcome is when the faults struck in a step.
type scenarioOutcome struct {
	step, repeat int
	struck       []time.Duration // since the load began, negative for not; nil where it did not begin
}

// verdicts holds each step against what was expected.
func (s *scenarioRun) verdicts(ctx context.Context, m *rawlog.Manifest, r *runner.Result, log objectstore.Store) (all []scenario.Verdict) {
	for i := range r.Steps {
		step := &r.Steps[i]
		o := s.outcome(m, step)
		if m.Role == rawlog.RoleProduce {
			s.join(ctx, m, step, o, log)
		}
		if len(r.Steps) > 1 {
			o.Step = stepLabel(step, r)
		}
		all = append(all, s.file.Judge(o)...)
	}
	return all
}

// stepLabel tells a step apart from the others of its run.
func stepLabel(step *runner.StepResult, r *runner.Result) string {
	var parts []string
	if name := step.Settings[variantName]; name != "" {
		parts = append(parts, name)
	} else {
		for _, name := range variedNames(r) {
			parts = append(parts, name+" "+step.Settings[name])
		}
	}
	if rate := step.Settings["rate"]; rate != "" {
		parts = append(parts, rate+" msg/s")
	}
	if slices.ContainsFunc(r.Steps, func(s runner.StepResult) bool { return s.Repeat > 0 }) {
		parts = append(parts, fmt.Sprintf("repeat %d", step.Repeat))
	}
	return strings.Join(parts, ", ")
}

// outcome is what is known of a step.
func (s *scenarioRun) outcome(m *rawlog.Manifest, step *runner.StepResult) *scenario.Outcome {
	a := step.Accounting
	o := &scenario.Outcome{
		Cut: step.CutOffNs != 0 || a.Unknown > 0,
		Counts: map[string]int64{
			"lost": a.Lost, "duplicates": a.Duplicates, "out_of_order": a.OutOfOrder,
			"failed": a.Failed, "unconfirmed": a.Unconfirmed, "overrun": a.Overrun,
		},
		Quantile: func(q float64) (ns int64, beyond, ok bool) {
			n := step.EndToEnd.N + step.Missing
			if n == 0 || !supported(m, step, q, n) {
				return 0, false, false
			}
			ns, beyond = step.EndToEnd.Quantile(q, step.Missing)
			return ns, beyond, true
		},
		Seconds: loadSeconds(step),
	}
	at := slices.IndexFunc(s.outcomes, func(x scenarioOutcome) bool { return x.step == step.Step.Step && x.repeat == step.Repeat })
	if at >= 0 {
		for _, d := range s.outcomes[at].struck {
			o.Faults = append(o.Faults, int64(d))
		}
	}
	return o
}

// join adds to the outcome of producers what a consume half of the run, which is
// a process of the scenario, says of itself. Where it says nothing that can be
// counted on, the counts are not known.
func (s *scenarioRun) join(ctx context.Context, m *rawlog.Manifest, step *runner.StepResult, o *scenario.Outcome, log objectstore.Store) {
	o.Apart = "the consumers are another process: `analyze summary` joins what both recorded"
	for _, name := range []string{"lost", "duplicates", "out_of_order"} {
		delete(o.Counts, name)
	}
	others, err := manifestsIn(ctx, log)
	if err != nil {
		s.show.problem(fmt.Errorf("the log of the consumers: %w", err))
		return
	}
	others = slices.DeleteFunc(others, func(m *rawlog.Manifest) bool { return m.Role != rawlog.RoleConsume })
	if len(others) != 1 || !others[0].Complete || len(others[0].Steps) != 1 {
		s.show.problem(fmt.Errorf("there is no one consume half of run %s that came to its end: nothing is known of losses", m.Run))
		return
	}
	theirs := others[0].Steps[0].Accounting
	o.Counts["duplicates"], o.Counts["out_of_order"] = theirs.Duplicates, theirs.OutOfOrder
	if a := step.Accounting; a.Failed+a.Unconfirmed == 0 { // else those may be among what was received
		o.Counts["lost"] = a.Acked - theirs.Received
	}
}

// loadSeconds are the whole seconds of a step's load, of one group.
func loadSeconds(step *runner.StepResult) (all []stats.Second) {
	groups := int64(max(1, len(step.Groups)))
	for i, s := range step.Seconds {
		end := int64(i+1) * int64(time.Second)
		if end > step.DurationNs {
			break
		}
		p99 := math.NaN()
		if s.N > 0 {
			p99 = float64(s.P99)
		}
		all = append(all, stats.Second{Start: end - int64(time.Second), End: end, Scheduled: s.Scheduled, Received: s.N / groups, P99: p99})
	}
	return all
}

// after waits for the processes that end by themselves, and holds the run
// against what was expected.
func (s *scenarioRun) after(ctx context.Context, m *rawlog.Manifest, r *runner.Result, log objectstore.Store) (*scenarioResult, error) {
	if err := s.env.Finish(ctx); err != nil {
		s.show.problem(err)
	}
	out := &scenarioResult{Name: s.file.Name, Verdicts: []scenarioVerdict{}, run: s}
	var broken, undecided []error
	for _, v := range s.verdicts(ctx, m, r, log) {
		row := scenarioVerdict{v.Expectation, v.Step, v.Fault, v.State.String(), v.Found}
		out.Verdicts = append(out.Verdicts, row)
		switch v.State {
		case scenario.Broken:
			broken = append(broken, fmt.Errorf("expected %s, found %s", row.place()+v.Expectation, v.Found))
		case scenario.Undecided:
			undecided = append(undecided, fmt.Errorf("not decided: %s: %s", row.place()+v.Expectation, v.Found))
		}
	}
	out.Scaling = scalingOf(r)
	out.Options = s.optionRows(m, r)
	var err error
	for _, text := range s.env.Failures() {
		err = errors.Join(err, errors.New(text))
	}
	s.show.mu.Lock()
	err = errors.Join(err, errors.Join(s.show.problems...))
	s.show.mu.Unlock()
	if len(broken) > 0 {
		return out, command.Broken(errors.Join(append(broken, err)...))
	}
	return out, errors.Join(err, errors.Join(undecided...))
}

// judged is the error of a run whose scenario has errors of its own. What is
// broken decides the exit status, but for an interrupt.
func judged(run, unmet error) error {
	switch {
	case unmet == nil || command.Status(run) == command.StatusInterrupted:
		return run
	case command.Status(unmet) == command.StatusBroken:
		return errors.Join(unmet, run)
	}
	return errors.Join(run, unmet)
}
