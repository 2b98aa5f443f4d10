package runner

import "queuebench/objectstore"

// levels are cumulative counts at a moment, and what was in flight at it.
type levels struct {
	at                                            int64 // ns
	scheduled, attempted, acked, failed, received int64
	inFlight                                      int64
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

// ring keeps the levels of the last second.
type ring struct {
	items [10]levels
	n     int
}

// put keeps l and returns the oldest that is kept.
func (r *ring) put(l levels) levels {
	r.items[r.n%len(r.items)] = l
	r.n++
	if r.n < len(r.items) {
		return r.items[0]
	}
	return r.items[r.n%len(r.items)]
}
