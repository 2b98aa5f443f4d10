package runner

import (
	"sync"
	"sync/atomic"
	"time"

	"queuebench/rawlog/logwriter"
	"queuebench/runner/hostinfo"
	"queuebench/runner/schedule"
)

// monitor looks at a step from outside: the counts ten times a second, a row of
// the table seconds each second, the watermarks of actors that wait. Its own
// goroutine uses it from begin to stop, and the step's before and after.
type monitor struct {
	s     *step
	log   *logwriter.SecondsWriter
	meter *hostinfo.Meter

	state      atomic.Pointer[string]
	begun      bool
	start, end int64 // of the load, ns

	shares []schedule.Share // of its own, to count what is due
	due    []int64          // per producer

	seconds secondsBook
	row     levels // at the last row of the table
	rowUse  hostinfo.Use
	// diskWritten is in bytes a second, over the last row; −1 where it is not
	// known.
	diskWritten float64
	read        levels // at the last look
	window      ring
	view        view
	open        []point

	quit  chan struct{}
	ended sync.WaitGroup
}

// monitorPeriod divides a second, so that a look falls on the end of each.
const monitorPeriod = 100 * time.Millisecond

func newMonitor(s *step) *monitor {
	cfg := s.r.cfg
	m := &monitor{s: s, log: cfg.Log.Seconds(s.plan.Step, s.plan.Repeat, cfg.actor()), meter: s.r.meter, quit: make(chan struct{})}
	for p := range s.plan.Load.AllProducers() {
		if s.own(p) {
			m.shares = append(m.shares, s.share(p))
		}
	}
	m.due = make([]int64, len(m.shares))
	m.phase("opening")
	return m
}

func (m *monitor) phase(name string) { m.state.Store(&name) }

// begin starts the looking: every actor is open, and start is known.
func (m *monitor) begin(start, end int64) {
	m.start, m.end, m.begun = start, end, true
	m.diskWritten = -1
	m.rowUse = m.meter.Read()
	m.row = m.levels(m.s.r.cfg.Clock.Now())
	m.read = m.row
	m.phase("load")
	m.ended.Go(m.run)
}

// stop ends it, with a row for the second that was begun.
func (m *monitor) stop() {
	close(m.quit)
	m.ended.Wait()
	if !m.begun {
		return
	}
	now := m.s.r.cfg.Clock.Now()
	m.count(now)
	m.second(now)
	m.drainTallies()
	m.seconds.close(now-m.start, m.read.scheduled)
}

func (m *monitor) run() {
	clock := m.s.r.cfg.Clock
	const period, second = int64(monitorPeriod), int64(time.Second)
	next, row := m.start, m.start+second
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(time.Duration(next - clock.Now()))
		select {
		case <-m.quit:
			return
		case <-timer.C:
		}
		now := clock.Now()
		next += period * (1 + max(0, now-next)/period)
		m.collect()
		m.count(now)
		if now >= row {
			m.second(now)
			row += second * (1 + (now-row)/second)
		}
		m.show(now)
	}
}

// count looks at the counts, for the seconds of the step and for the verdict.
func (m *monitor) count(now int64) {
	for end := m.seconds.next(); end <= now-m.start; end = m.seconds.next() {
		// A message that is due at the end of a second is the next one's.
		m.seconds.scheduled(m.dueAt(end - 1))
	}
	l := m.levels(now)
	m.seconds.add(m.read, l, m.start, m.backlog(l))
	m.read = l
	if now < m.end && len(m.s.groups) > 0 {
		m.open = appendOpen(m.open, m.s.plan, now-m.start, float64(l.scheduled-m.slowest()))
	}
}
