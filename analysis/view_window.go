package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"queuebench/rawlog"
)

// ErrWindow: a window that holds nothing of any step.
var ErrWindow = errors.New("nothing lies in the window")

// ParseWindowEdge reads From or To of a View: a duration with its unit since the
// step's start, or nothing for the step's own edge.
func ParseWindowEdge(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no time since the start of a step: write for instance 5s or 1m5s", text)
	}
	if d < 0 {
		return 0, fmt.Errorf("%s lies before the start of the step: write 0s for the start", text)
	}
	return d, nil
}

// Windowed tells whether v looks at a part of each step.
func (v View) Windowed() bool { return v.From != 0 || v.To != 0 }

// CheckWindow tells whether the window of v can hold anything.
func (v View) CheckWindow() error {
	if v.To != 0 && v.From >= v.To {
		return fmt.Errorf("a window from %s to %s is empty: let it end after it begins", formatDuration(v.From), formatDuration(v.To))
	}
	return nil
}

// kept is what a view leaves of a step.
type kept struct {
	intervals []Interval
	// asked is the warm-up as asked, warmup the edge where it ends, rule why.
	asked, warmup time.Duration
	rule          string
	// until is where the cool-down begins.
	until time.Duration
	// from and to are the edges of the intervals.
	from, to time.Duration
}

// keptOf cuts s: the warm-up moves to the next edge of its intervals and the
// cool-down to the last one before, so that nothing of them is left; a window
// moves outwards, so that all of it is in.
func (v View) keptOf(s *StepDigest) kept {
	k := kept{}
	k.asked, k.rule = v.warmupOf(s)
	k.intervals, k.warmup, k.until = within(s, k.asked, s.Duration-v.Cooldown)
	k.from, k.to = k.warmup, k.until
	if !v.Windowed() {
		return k
	}
	in := k.intervals
	first, _ := slices.BinarySearchFunc(in, v.From, func(iv Interval, at time.Duration) int { return cmp.Compare(iv.End, at+1) })
	in = in[first:]
	if v.To != 0 {
		n, _ := slices.BinarySearchFunc(in, v.To, func(iv Interval, at time.Duration) int { return cmp.Compare(iv.Start, at) })
		in = in[:n]
	}
	k.intervals = in
	if len(in) == 0 {
		k.from = max(k.from, min(v.From, k.until))
		k.to = k.from
		return k
	}
	k.from, k.to = in[0].Start, in[len(in)-1].End
	return k
}

// windowOf is the window of v as cut; nil where it has none.
func (v View) windowOf(k kept) *Window {
	if !v.Windowed() {
		return nil
	}
	return &Window{FromNs: int64(k.from), ToNs: int64(k.to)}
}

// fixedCut is the cut of v as far as it is known before a log was read: where
// the data decide, it is that of the default rule. edges are those at which the
// intervals must be cut to make it exact.
func (v View) fixedCut(s *StepDigest, planned *rawlog.Step) (from, to time.Duration, edges []time.Duration) {
	to = max(0, s.Duration-v.Cooldown)
	switch {
	case v.WarmupUntil != 0 && !v.Steady:
		from = time.Duration(max(0, v.WarmupUntil-s.StartNs))
	case v.Warmup != nil && !v.Steady:
		from = *v.Warmup
	case planned != nil && (planned.Drain != nil || planned.Arrivals == "burst"):
	case planned != nil && planned.WarmupNs > 0:
		from = time.Duration(planned.WarmupNs)
	case planned != nil && planned.Loop == rawlog.LoopClosed:
	default:
		from = DefaultWarmup(s.Duration)
	}
	edges = []time.Duration{from, to, v.From, v.To}
	from = max(from, v.From)
	if v.To != 0 {
		to = min(to, v.To)
	}
	if from >= to {
		return 0, s.Duration, edges
	}
	return from, to, edges
}
