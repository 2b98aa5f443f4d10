package runner

import (
	"math"

	"queuebench/stats"
)

// collect takes what the receivers have gathered.
func (m *monitor) collect() {
	whole := int64(math.MaxInt64)
	for _, r := range m.s.receivers {
		r.offer()
		whole = min(whole, m.take(r))
	}
	if len(m.s.receivers) > 0 {
		m.seconds.settle(whole)
	}
}

// take takes what a receiver has handed over, and returns the second before
// which nothing more comes from it.
func (m *monitor) take(r *receiver) (before int64) {
	full, before := r.tallies.take()
	for _, t := range full {
		m.seconds.take(t)
		r.tallies.giveBack(t)
	}
	return before
}

// drainTallies takes all that there is, also from a receiver that was left
// behind at work.
func (m *monitor) drainTallies() {
	for _, r := range m.s.receivers {
		r.logMu.Lock()
		r.live = r.tallies.give(r.live, r.live.second)
		r.logMu.Unlock()
		m.take(r)
	}
}

// latencies are those of the whole step. The monitor has stopped.
func (m *monitor) latencies() stats.Compact { return m.seconds.live.Compact() }
