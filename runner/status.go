package runner

import (
	"time"

	"queuebench/rawlog"
	"queuebench/stats"
)

// Status is the state of a step at a moment: a view, of which the log holds
// what is true.
type Status struct {
	Plan    Plan
	Phase   string        // "opening", "load", "drain", "closing", and once "ended"
	Elapsed time.Duration // since the schedule's start, below 0 before it

	// SoFar are the counts until now. Received are distinct messages of the
	// slowest group. Unconfirmed, Lost and Unknown are 0 until the step has
	// ended: before, nobody knows.
	SoFar rawlog.Accounting

	Last  Window // the last 5 s
	Whole Window // since the schedule's start
	// EndToEnd are the latencies behind Whole, of all groups.
	EndToEnd stats.Compact

	Backlog    int64 // acknowledged and not received by the slowest group
	InFlight   int64
	QueueDepth int64         // the clients' own queues
	Lag        time.Duration // largest send lag since the second began

	// Of this process and its host, read each second; rawlog.Null where it is
	// not known.
	Connections   int64   // open ones to the queue's store
	MemoryBytes   int64   // resident
	DiskUsedBytes int64   // of the spool's file system
	DiskWritten   float64 // bytes a second to the host's disks, −1 where it is not known
}

// Window is what happened in a time that ends now. Its latencies are of whole
// seconds, so they are up to two seconds older than its rates.
type Window struct {
	// Per second. Attempted and Acked do not count the time after the
	// schedule's end of a whole step, where there is a schedule.
	Attempted, Acked, Received float64

	N         int64         // first deliveries behind the latencies
	Mean, P99 time.Duration // end to end, 0 where N is 0
}

func (w *Window) latencies(c stats.Compact) {
	if w.N = c.N; c.N == 0 {
		return
	}
	p99, _ := c.Quantile(0.99, 0)
	w.Mean, w.P99 = time.Duration(c.Mean()), time.Duration(p99)
}

// view is what the monitor shows of latencies. It is made anew when a second
// has all of its own.
type view struct {
	final       int64
	whole, last stats.Compact
}

func (v *view) update(b *secondsBook) {
	if v.final == b.final {
		return
	}
	v.final = b.final
	v.whole = b.live.Compact()
	var h stats.Histogram
	for _, c := range b.last {
		_ = h.Accumulate(c) // only a histogram that is none is an error
	}
	v.last = h.Compact()
}

// show shows the status.
func (m *monitor) show(now int64) {
	then := m.window.put(m.read)
	if m.s.r.cfg.Status != nil {
		m.s.r.cfg.Status(m.status(now, then))
	}
}

// showEnd shows the status of a step that has ended, with its accounting.
func (m *monitor) showEnd() {
	if m.s.r.cfg.Status == nil {
		return
	}
	m.phase("ended")
	now := m.s.r.cfg.Clock.Now()
	if !m.begun {
		now = m.start
	}
	st := m.status(now, m.window.put(m.read))
	st.SoFar = m.s.rec.Accounting
	m.s.r.cfg.Status(st)
}

func (m *monitor) status(now int64, then levels) Status {
	m.view.update(&m.seconds)
	l := m.read
	st := Status{
		Plan: m.s.plan, Phase: *m.state.Load(), Elapsed: time.Duration(now - m.start),
		SoFar:    m.soFar(l),
		EndToEnd: m.view.whole,
		Backlog:  m.backlog(l), InFlight: l.inFlight,
		Connections: rawlog.Null, MemoryBytes: m.rowUse.MemoryBytes, DiskUsedBytes: m.rowUse.DiskUsedBytes, DiskWritten: m.diskWritten,
	}
	if l.requests != nil {
		st.Connections = l.requests.Open
	}
	for _, p := range m.s.senders {
		st.Lag = max(st.Lag, time.Duration(p.maxLag.Load()))
		st.QueueDepth += int64(p.producer.Pending())
	}
	if s := float64(l.at-max(then.at, m.start)) / 1e9; s > 0 {
		st.Last.Attempted, st.Last.Acked = float64(l.attempted-then.attempted)/s, float64(l.acked-then.acked)/s
		st.Last.Received = float64(l.received-then.received) / s
	}
	if s := float64(l.at-m.start) / 1e9; s > 0 {
		load := s
		if m.end > m.start { // else no schedule says when the load ends
			load = min(s, float64(m.end-m.start)/1e9)
		}
		st.Whole.Attempted, st.Whole.Acked, st.Whole.Received = float64(l.attempted)/load, float64(l.acked)/load, float64(l.received)/s
	}
	if m.s.attendance != nil {
		m.s.attendance.show(&st, now)
	}
	st.Last.latencies(m.view.last)
	st.Whole.latencies(m.view.whole)
	return st
}

// soFar are the counts at a moment.
func (m *monitor) soFar(l levels) rawlog.Accounting {
	a := rawlog.Accounting{
		Scheduled: l.scheduled, Attempted: l.attempted, Acked: l.acked, Failed: l.failed, Overrun: l.overrun,
		Received: m.slowest(), Duplicates: l.received,
	}
	for _, g := range m.s.groups {
		a.Duplicates -= g.fresh.Load()
	}
	// A batch counts its deliveries before its first ones.
	a.Duplicates = max(0, a.Duplicates)
	for _, r := range m.s.receivers {
		a.OutOfOrder += r.outOfOrder.Load()
		a.Foreign += r.stale.Load() + r.foreign.Load() + r.corrupt.Load() + r.misframed.Load()
	}
	return a
}
