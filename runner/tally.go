package runner

import (
	"sync"
	"sync/atomic"

	"queuebench/stats"
)

// tally is what one receiver received in one second of the step.
type tally struct {
	second     int64 // since the schedule's start
	deliveries int64
	latencies  stats.Counter // end to end, of first deliveries
}

// tallies go from a receiver to the monitor when they are full, and back when
// they are empty again. Neither side waits for the other longer than a slice
// takes to be appended to.
type tallies struct {
	wanted atomic.Bool // the monitor has taken the last

	mu    sync.Mutex
	full  []*tally
	empty []*tally
	// before is the second before which nothing more comes from this receiver.
	before int64
}

// give hands t over and returns an empty one for a second. All that the
// receiver received before that second has been given then.
func (q *tallies) give(t *tally, second int64) *tally {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.before = max(q.before, second)
	if t.deliveries > 0 {
		q.full = append(q.full, t)
		q.wanted.Store(false)
		if n := len(q.empty); n > 0 {
			t, q.empty = q.empty[n-1], q.empty[:n-1]
		} else {
			t = new(tally)
		}
	}
	t.second = second
	return t
}

// take returns what was handed over, and the second before which nothing more
// comes.
func (q *tallies) take() (full []*tally, before int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	full, q.full = q.full, nil
	q.wanted.Store(true)
	return full, q.before
}

// giveBack returns an emptied one, of which two are kept: each takes 352 kB.
func (q *tallies) giveBack(t *tally) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.empty) < 2 {
		q.empty = append(q.empty, t)
	}
}
