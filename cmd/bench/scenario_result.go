package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// scenarioResult is what a scenario adds to a result.
type scenarioResult struct {
	Name     string            `json:"name"`
	Verdicts []scenarioVerdict `json:"verdicts"`
	Scaling  *scalingTable     `json:"scaling,omitempty"`
	Options  []optionRow       `json:"options,omitempty"`

	run *scenarioRun
}

type scenarioVerdict struct {
	Expectation string `json:"expectation"`
	Step        string `json:"step,omitempty"`
	Fault       string `json:"fault,omitempty"`
	State       string `json:"state"`
	Found       string `json:"found"`
}

// place names step and fault of a verdict, where there are several.
func (v *scenarioVerdict) place() string {
	var parts []string
	for _, text := range []string{v.Step, v.Fault} {
		if text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + ": "
}

// print prints what a scenario adds to the table of its load.
func (r *scenarioResult) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if r.Scaling != nil {
		r.Scaling.print(w)
	}
	printOptions(w, r.Options)
	if len(r.Verdicts) > 0 {
		fmt.Fprintln(w, "\nexpected\tverdict\tfound\tof")
		for _, v := range together(r.Verdicts) {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", v.Expectation, v.State, v.Found, strings.TrimSuffix(v.place(), ": "))
		}
	}
	return w.Flush()
}

// together puts the verdicts of several steps that are the same into one.
func together(all []scenarioVerdict) (rows []scenarioVerdict) {
	type same struct{ expectation, fault, state, found string }
	count := map[same]int{}
	for _, v := range all {
		count[same{v.Expectation, v.Fault, v.State, v.Found}]++
	}
	for _, v := range all {
		key := same{v.Expectation, v.Fault, v.State, v.Found}
		n := count[key]
		delete(count, key)
		if n == 0 {
			continue // it is in a row already
		}
		if n > 1 {
			v.Step = fmt.Sprintf("%d steps", n)
		}
		rows = append(rows, v)
	}
	return rows
}
