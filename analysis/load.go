package analysis

import (
	"fmt"
	"time"
)

// Load says what a figure must know of a step's load, so that it speaks of no
// schedule where there was none. The zero value is a schedule.
type Load struct {
	// Name stands in the place of the rate; empty where the rate names the load.
	Name string
	// Closed: an operation began when the one before was done, so intended = sent.
	Closed bool
	// Drained: the consumers were held until Released, since the step's start.
	// Filled: messages were handed over as fast as the queue took them.
	Drained, Filled bool
	Released        time.Duration
}

// load describes the load of a step.
func (s *StepDigest) load() Load {
	switch {
	case s.closed():
		return Load{Name: loopName(s.Own.Mode, s.Own.Workers, s.Own.Concurrency), Closed: true}
	case s.drains():
		l := Load{Drained: true, Filled: s.Rate == 0, Released: time.Duration(s.Own.Drain.ReleasedNs - s.StartNs)}
		if l.Filled {
			l.Name = "backlog of " + plural(s.Own.Drain.Backlog, "message")
		}
		return l
	case s.tails():
		return Load{Name: "tail, " + FormatRate(s.Rate) + " rows/s"}
	case s.imported() && s.Rate == 0:
		return Load{Name: "unknown rate"}
	}
	return Load{}
}

// loopName is a closed loop by what was asked of it: "produce, 10 workers".
func loopName(mode string, workers, concurrency int) string {
	name := fmt.Sprintf("%s, %s", mode, plural(int64(workers), "worker"))
	if concurrency > 1 {
		name += fmt.Sprintf(" with %d under way each", concurrency)
	}
	return name
}
