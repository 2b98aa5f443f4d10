package analysis

import (
	"math"
	"slices"
	"strconv"
	"time"

	"queuebench/rawlog"
	"queuebench/stats"
)

// The rule for the automatic warm-up.
const (
	steadyInterval = 100 * time.Millisecond // or two commit intervals
	steadyInARow   = 5
	steadyMADs     = 3 * 1.4826 // MADs: three standard deviations of a normal distribution
	steadyShare    = 0.05       // of the level
	steadyLeast    = 10         // intervals of the second half, fewer say nothing
	steadyStall    = 2          // times the level is a stall
)

// Steady is where the latency of a step had settled.
type Steady struct {
	Found bool
	// Short: too few intervals have a message to tell.
	Short bool
	From  time.Duration // since the step's start, where Found
	// Level is the median of the second half, and Band how far from it an
	// interval's median may be, ns.
	Level, Band float64
}

// steadyState finds where the main latency of a step settles: medians of
// intervals of max(100 ms, 2T), T the commit interval; m and MAD of those of the
// second half; it has settled at the first of five consecutive intervals within
// max(3·1.4826·MAD, 5 %·m) of m. That is never later than half of the step, nor
// than the first stall: what comes after a stall that followed settled intervals
// is no warm-up. Intervals without a message are passed over. end is where the
// step ends that is looked at.
func (s *StepDigest) steadyState(end time.Duration) Steady {
	width := s.settleWidth()
	var bins []stretch
	for _, x := range s.settling() {
		// One that the end divides says nothing of what is kept.
		if !math.IsNaN(x.median) && (x.at+width <= end || end >= s.Duration && x.at < end) {
			bins = append(bins, x)
		}
	}
	var half []float64
	for _, b := range bins {
		if b.at >= end/2 {
			half = append(half, b.median)
		}
	}
	if len(half) < steadyLeast {
		return Steady{Short: true}
	}
	m, mad := stats.MAD(half)
	if math.IsInf(m, 0) || math.IsNaN(m) {
		return Steady{Level: m}
	}
	out := Steady{Level: m, Band: max(steadyMADs*mad, steadyShare*math.Abs(m))}
	row := 0
	for i, b := range bins {
		if math.Abs(b.median-m) <= out.Band {
			if row++; row == steadyInARow {
				out.Found, out.From = bins[i+1-steadyInARow].at <= end/2, bins[i+1-steadyInARow].at
				return out
			}
			continue
		}
		if row > 1 && b.median >= steadyStall*m {
			out.Found, out.From = bins[i-row].at <= end/2, bins[i-row].at
			return out
		}
		row = 0
	}
	return out
}

// commitIntervalOf is the commit interval of a step: its own where the run
// varied it.
func commitIntervalOf(m *rawlog.Manifest, s *StepDigest) time.Duration {
	for _, name := range []string{"commit-interval", "autocommit-duration-ms"} {
		text, varied := s.Settings[name]
		if !varied {
			continue
		}
		if d, err := time.ParseDuration(text); err == nil && d > 0 {
			return d
		}
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 && n < math.MaxInt64/int64(time.Millisecond) {
			return time.Duration(n) * time.Millisecond
		}
	}
	return m.Queue.CommitInterval
}

// grouped adds up neighbouring intervals until each covers at least every; those
// on either side of an edge stay apart.
func grouped(intervals []Interval, every time.Duration, edges ...time.Duration) []Interval {
	var out []Interval
	for i := 0; i < len(intervals); {
		j := i + 1
		for j < len(intervals) && intervals[j].End-intervals[i].Start <= every && !slices.Contains(edges, intervals[j].Start) {
			j++
		}
		if j == i+1 {
			out = append(out, intervals[i])
		} else {
			out = append(out, addIntervals(intervals[i:j]))
		}
		i = j
	}
	return out
}
