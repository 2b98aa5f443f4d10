package scenario

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"queuebench/internal/nearest"
	"queuebench/internal/yamlfile"
	"queuebench/stats"
)

// Expectation is what a step must hold.
type Expectation struct {
	Name string // recovered_within, lost, p99_below, …
	Line int
	// Count is the most that a count may be; Limit is that of a time.
	Count int64
	Limit time.Duration
	// Quantile of a latency, in [0,1]; 0 for none.
	Quantile float64
}

// counts are the expectations that are counts: the most that there may be.
var counts = []string{"lost", "duplicates", "out_of_order", "failed", "unconfirmed", "overrun"}

// recoveredWithin holds for each fault of the file.
const recoveredWithin = "recovered_within"

// Text is the expectation as a file has it.
func (e *Expectation) Text() string {
	if e.Limit > 0 {
		return fmt.Sprintf("%s: %v", e.Name, e.Limit)
	}
	return fmt.Sprintf("%s: %d", e.Name, e.Count)
}

func (f *File) expect(r *reader, n *yamlfile.Node) error {
	if n.Kind != yamlfile.Map {
		return r.errorf(n.Line, "expect is %s: write lines such as \"lost: 0\"", n.Kind)
	}
	for i := range n.Fields {
		field := &n.Fields[i]
		e := Expectation{Name: field.Name, Line: field.Line}
		q, isQuantile := quantileOf(field.Name)
		switch {
		case field.Name == recoveredWithin || isQuantile:
			e.Quantile = q
			if err := r.duration(field.Name, 1, &e.Limit)(&field.Value); err != nil {
				return err
			}
		case slices.Contains(counts, field.Name):
			count := 0
			if err := r.whole(field.Name, 0, math.MaxInt32, &count)(&field.Value); err != nil {
				return err
			}
			e.Count = int64(count)
		default:
			names := append([]string{recoveredWithin, "p50_below", "p99_below"}, counts...)
			return r.errorf(field.Line, "%.60q is nothing that can be expected%s: there are %s, and pNN_below for any percentile", field.Name, nearest.DidYouMean(field.Name, names), strings.Join(names, ", "))
		}
		f.Expect = append(f.Expect, e)
	}
	return nil
}

// quantileOf reads p99_below and p99.9_below.
func quantileOf(name string) (q float64, ok bool) {
	text, below := strings.CutSuffix(name, "_below")
	text, p := strings.CutPrefix(text, "p")
	if !below || !p || strings.Trim(text, "0123456789.") != "" {
		return 0, false
	}
	percent, err := strconv.ParseFloat(text, 64)
	return percent / 100, err == nil && percent > 0 && percent < 100
}

// State is how an expectation fared.
type State int

// The states of a verdict.
const (
	Held State = iota
	Broken
	Undecided // what was seen does not tell
)

// String is the word for a table and for JSON.
func (s State) String() string { return [...]string{"held", "broken", "not decided"}[s] }

// Verdict is an expectation held against a step.
type Verdict struct {
	Expectation string // as the file has it
	Step        string // which one; empty where there is one only
	Fault       string // the fault that it is about; empty for the step
	State       State
	Found       string // the number, or why there is none
}

// Outcome is what is known of a step, or of a run.
type Outcome struct {
	Step string
	// Cut says that it was cut off: then nothing that is missing is known to
	// be lost.
	Cut bool
	// Counts by the names that expectations have; one that is not here is not
	// known.
	Counts map[string]int64
	// Apart says why latencies are not known, and with them the time to recover:
	// the consumers are another process. Empty where they are.
	Apart string
	// Quantile is the latency end to end at a quantile in [0,1]. ok is false
	// without the messages for it, and beyond says that it falls on a message
	// that never came.
	Quantile func(q float64) (ns int64, beyond, ok bool)
	Seconds  []stats.Second
	// Faults are when the file's faults struck, ns since the load began, in the
	// order of the file; negative for one that did not.
	Faults []int64
}

// Judge holds a step against what was expected.
func (f *File) Judge(o *Outcome) (all []Verdict) {
	for i := range f.Expect {
		e := &f.Expect[i]
		switch {
		case e.Name == recoveredWithin:
			if len(f.Faults) == 0 {
				all = append(all, Verdict{Expectation: e.Text(), Step: o.Step, State: Undecided, Found: "the scenario has no fault"})
			}
			for k := range f.Faults {
				if f.Faults[k].Within == 0 {
					all = append(all, f.recovered(o, k, e.Limit))
				}
			}
		case e.Quantile > 0:
			all = append(all, e.quantile(o))
		default:
			all = append(all, e.count(o))
		}
	}
	for k := range f.Faults {
		if within := f.Faults[k].Within; within > 0 {
			all = append(all, f.recovered(o, k, within))
		}
	}
	return all
}

func (e *Expectation) count(o *Outcome) Verdict {
	v := Verdict{Expectation: e.Text(), Step: o.Step, State: Undecided}
	n, known := o.Counts[e.Name]
	switch {
	case !known:
		v.Found = "it is not known"
	case n > e.Count: // also where the step was cut off: there are as many at least
		v.State, v.Found = Broken, strconv.FormatInt(n, 10)
	case o.Cut:
		v.Found = "the step was cut off"
	default:
		v.State, v.Found = Held, strconv.FormatInt(n, 10)
	}
	return v
}

func (e *Expectation) quantile(o *Outcome) Verdict {
	v := Verdict{Expectation: e.Text(), Step: o.Step, State: Undecided}
	ns, beyond, ok := o.Quantile(e.Quantile)
	switch {
	case o.Apart != "":
		v.Found = o.Apart
	case !ok:
		v.Found = "too few messages for this percentile"
	case beyond:
		v.State, v.Found = Broken, "> deadline"
	case time.Duration(ns) >= e.Limit:
		v.State, v.Found = Broken, short(time.Duration(ns))
	case o.Cut:
		v.Found = "the step was cut off"
	default:
		v.State, v.Found = Held, short(time.Duration(ns))
	}
	return v
}

// recovered judges the time to recover from a fault. What comes after the next
// fault is that fault's.
func (f *File) recovered(o *Outcome, k int, limit time.Duration) Verdict {
	v := Verdict{Expectation: fmt.Sprintf("%s: %v", recoveredWithin, limit), Step: o.Step, Fault: f.Faults[k].Text(), State: Undecided}
	switch {
	case o.Apart != "":
		v.Found = o.Apart
		return v
	case k >= len(o.Faults) || o.Faults[k] < 0:
		v.Found = "the fault did not strike"
		return v
	}
	at, first, end := o.Faults[k], o.Faults[k], int64(math.MaxInt64)
	for _, other := range o.Faults {
		if other >= 0 {
			first = min(first, other)
		}
		if other > at {
			end = min(end, other)
		}
	}
	seconds := o.Seconds
	if n := slices.IndexFunc(seconds, func(s stats.Second) bool { return s.End > end }); n >= 0 {
		seconds = seconds[:n]
	}
	r := stats.Recovery(seconds, first, at)
	after := time.Duration(r.After)
	switch {
	case math.IsNaN(r.Level):
		v.Found = fmt.Sprintf("fewer than %d seconds before the first fault: there is no level to go back to", stats.MinSecondsBefore)
	case r.Found && after <= limit:
		v.State, v.Found = Held, short(after)
	case r.Found:
		v.State, v.Found = Broken, short(after)
	case after > limit:
		v.State, v.Found = Broken, "not within "+short(after)
	case end != math.MaxInt64:
		v.Found = fmt.Sprintf("the next fault came before %d good seconds", stats.RecoverySeconds)
	default:
		v.Found = fmt.Sprintf("the load ended before %d good seconds", stats.RecoverySeconds)
	}
	return v
}

// short is a time with three digits or so.
func short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.String()
}
