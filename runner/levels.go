package runner

import (
	"time"

	"queuebench/objectstore"
)

// levels are cumulative counts at a moment, and what was in flight at it.
type levels struct {
	at                                            int64 // ns
	scheduled, attempted, acked, failed, received int64
	overrun, inFlight                             int64
	requests                                      *objectstore.Counts
}

// levels reads the counts at now.
func (m *monitor) levels(now int64) levels {
	l := levels{at: now, requests: m.s.r.requests(), scheduled: m.dueAt(now - m.start)}
	for _, p := range m.s.senders {
		c := p.books.Counts()
		l.attempted += c.Attempted
		l.acked += c.Acked
		l.failed += c.Failed
		l.overrun += c.Overrun
		l.inFlight += c.InFlight
	}
	for _, r := range m.s.receivers {
		l.received += r.deliveries.Load()
	}
	return l
}

// dueAt counts the messages that are due at or before an offset from the
// schedule's start, which never goes back.
func (m *monitor) dueAt(offset int64) (n int64) {
	if m.s.loop != nil { // nothing is due before it is sent
		for _, p := range m.s.senders {
			c := p.books.Counts()
			n += c.Attempted + c.Overrun
		}
		return n
	}
	if u := m.s.until.Load(); u != 0 {
		offset = min(offset, u-1-m.start)
	}
	for p := range m.shares {
		m.due[p] = m.shares[p].Due(m.due[p], offset)
		n += m.due[p]
	}
	return n
}

// slowest is the number of distinct messages that the slowest group has.
func (m *monitor) slowest() int64 {
	var least int64
	for i, g := range m.s.groups {
		if n := g.fresh.Load(); i == 0 || n < least {
			least = n
		}
	}
	return least
}

// backlog is what was acknowledged and the slowest group has not received.
func (m *monitor) backlog(l levels) int64 { return max(0, l.acked-m.slowest()) }

// ring keeps the levels of the last seconds, one for each look.
type ring struct {
	items [windowSeconds * int(time.Second/monitorPeriod)]levels
	n     int
}

// put keeps l and returns the oldest that was kept, which is l itself at first.
func (r *ring) put(l levels) (oldest levels) {
	i := r.n % len(r.items)
	if oldest = r.items[i]; r.n < len(r.items) {
		oldest = r.items[0]
	}
	if r.n == 0 {
		oldest = l
	}
	r.items[i] = l
	r.n++
	return oldest
}
