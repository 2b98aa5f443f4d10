package runner

import (
	"math"
	"time"

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

// show shows the status.
func (m *monitor) show(now int64) {
	then := m.rates.put(m.read)
	show := m.s.r.cfg.Status
	if show == nil {
		return
	}
	l := m.read
	st := Status{
		Plan: m.s.plan, Phase: *m.state.Load(), Elapsed: time.Duration(now - m.start),
		Backlog: m.backlog(l), InFlight: l.inFlight,
	}
	if seconds := float64(l.at-then.at) / 1e9; seconds > 0 {
		st.Attempted = float64(l.attempted-then.attempted) / seconds
		st.Received = float64(l.received-then.received) / seconds
	}
	for _, p := range m.s.senders {
		st.Lag = max(st.Lag, time.Duration(p.maxLag.Load()))
	}
	c := m.seconds.live.Compact()
	if st.N = c.N; c.N > 0 {
		p99, _ := c.Quantile(0.99, 0)
		st.P99 = time.Duration(p99)
	}
	show(st)
}
