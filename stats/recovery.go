package stats

import (
	"math"
	"sort"
)

// The rule for recovery.
const (
	RecoverySeconds  = 5    // in a row that must be good
	RecoveryShare    = 0.95 // of what was scheduled must be received in each
	RecoveryFactor   = 2    // times the level before may its p99 be
	MinSecondsBefore = 3    // fewer show no level before the fault
	// RecoveryFloor is a p99 that is good whatever the level, ns: twice a level of
	// some 50 µs is what any host does by itself now and then.
	RecoveryFloor = 1_000_000
)

// Second is what was due and what came in an interval of some second. Times are
// ns since the schedule began.
type Second struct {
	Start, End          int64
	Scheduled, Received int64
	// P99 of the latency of what was received in it, ns: NaN where nothing was,
	// +Inf where it falls on a message that never came.
	P99 float64
}

// Recovered is what Recovery found.
type Recovered struct {
	// Level is the p99 before the fault, ns: the median over whole seconds.
	// NaN where there were fewer than MinSecondsBefore of them: nothing else is
	// said then.
	Level float64
	Found bool
	// After is the time from the fault to the recovery, ns, where Found. Where
	// not, it is the earliest that what was seen does not exclude: the first of
	// the good seconds at the end, or the end itself.
	After int64
}

// Recovery is the time that it takes a queue to recover from a fault: from the
// fault to the first of RecoverySeconds seconds in a row in each of which at
// least RecoveryShare of what was scheduled was received, with a p99 of at most
// RecoveryFactor times the level before, or RecoveryFloor where that is more. It is 0 when the fault did not show.
//
// seconds are in order. fault is when it struck and before is when the level
// before it ends, which is the fault or, where there were earlier ones, the
// first of them; both are ns since the schedule began. A second without a
// message shows nothing, and is not good.
func Recovery(seconds []Second, before, fault int64) Recovered {
	var levels []float64
	for _, s := range seconds {
		if s.End <= before && !math.IsNaN(s.P99) {
			levels = append(levels, s.P99)
		}
	}
	if len(levels) < MinSecondsBefore {
		return Recovered{Level: math.NaN()}
	}
	r := Recovered{Level: Median(levels)}
	first := sort.Search(len(seconds), func(i int) bool { return seconds[i].End > fault })
	good, begin := 0, fault
	for _, s := range seconds[first:] {
		if !s.good(r.Level) {
			good, begin = 0, s.End
			continue
		}
		if good == 0 {
			begin = s.Start
		}
		if good++; good == RecoverySeconds {
			r.Found = true
			break
		}
	}
	r.After = max(0, begin-fault)
	return r
}

func (s *Second) good(level float64) bool {
	return s.Received > 0 && float64(s.Received) >= RecoveryShare*float64(s.Scheduled) && s.P99 <= max(RecoveryFactor*level, RecoveryFloor)
}
