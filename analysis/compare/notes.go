package compare

import (
	"fmt"
	"slices"

	"queuebench/analysis"
)

// unsteady are the findings that take the meaning from the percentiles of a step.
var unsteady = []struct{ id, text string }{
	{"step-failed", "failed"},
	{"step-incomplete", "not complete"},
	{"not-keeping-up", "not keeping up, which no percentile describes"},
	{"no-steady-state", "no steady state"},
	{"draining-a-burst", "a burst that drained"},
	{"draining-a-backlog", "a backlog that drained"},
	{"runner-limited", "limited by the runner"},
	{"clock-skew", "clocks that differ"},
	{"messages-lost", "messages lost"},
	{"overrun", "messages left unsent"},
	{"messages-failed", "messages refused"},
}

// notes say what the numbers of a load do not mean, by how many replicates of a
// side show it.
func notes(base string, a *load, other string, b *load) []string {
	out := []string{}
	for _, side := range []struct {
		label string
		l     *load
	}{{base, a}, {other, b}} {
		for _, u := range unsteady {
			n := 0
			for i := range side.l.steps {
				if slices.ContainsFunc(side.l.steps[i].summary.Findings, func(f analysis.Finding) bool { return f.ID == u.id }) {
					n++
				}
			}
			if n > 0 {
				out = append(out, fmt.Sprintf("%s: %s in %d of %d (%s)", side.label, u.text, n, len(side.l.steps), u.id))
			}
		}
	}
	return out
}
