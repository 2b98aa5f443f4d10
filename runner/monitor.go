package runner

import (
	"sync"
	"sync/atomic"
	"time"

	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
	"queuebench/runner/hostinfo"
	"queuebench/runner/schedule"
	"queuebench/stats"
)

// monitor looks at a step from outside: a row of the table seconds each second,
// the status some times a second, the watermarks of actors that wait.
type monitor struct {
	s     *step
	log   *logwriter.SecondsWriter
	meter *hostinfo.Meter

	state      atomic.Pointer[string]
	begun      atomic.Bool
	start, end int64 // of the load, ns; written before begun

	shares []schedule.Share // of its own, to count what is due
	due    []int64          // per producer

	last     levels
	lastUse  hostinfo.Use
	rates    ring
	backlogs []point

	mu   sync.Mutex // guards live
	live stats.Histogram

	quit  chan struct{}
	ended sync.WaitGroup
}

// levels are cumulative counts at a moment.
type levels struct {
	at                                            int64 // ns
	scheduled, attempted, acked, failed, received int64
	requests                                      *objectstore.Counts
}

const monitorPeriod = 100 * time.Millisecond

func newMonitor(s *step) *monitor {
	cfg := s.r.cfg
	m := &monitor{s: s, log: cfg.Log.Seconds(s.plan.Step, s.plan.Repeat, process), meter: s.r.meter, quit: make(chan struct{})}
	for p := range s.plan.Load.AllProducers() {
		m.shares = append(m.shares, s.share(p))
	}
	m.due = make([]int64, len(m.shares))
	m.phase("opening")
	return m
}

func (m *monitor) phase(name string) { m.state.Store(&name) }

// begin starts the looking: every actor is open, and start is known.
func (m *monitor) begin(start, end int64) {
	m.start, m.end = start, end
	m.lastUse = m.meter.Read()
	m.last = m.levels(m.s.r.cfg.Clock.Now())
	m.begun.Store(true)
	m.phase("load")
	m.ended.Go(m.run)
}

// stop ends it, with a row for the second that was begun.
func (m *monitor) stop() {
	close(m.quit)
	m.ended.Wait()
	if m.begun.Load() {
		m.second(m.s.r.cfg.Clock.Now())
		m.collect()
	}
}

func (m *monitor) run() {
	ticker := time.NewTicker(monitorPeriod)
	defer ticker.Stop()
	clock := m.s.r.cfg.Clock
	next := m.start + int64(time.Second)
	for {
		select {
		case <-m.quit:
			return
		case <-ticker.C:
		}
		now := clock.Now()
		m.collect()
		m.look(now)
		if now >= next {
			m.second(now)
			next += int64(time.Second) * (1 + (now-next)/int64(time.Second))
		}
	}
}

// levels reads the counts at now.
func (m *monitor) levels(now int64) levels {
	l := levels{at: now, requests: m.s.r.requests()}
	for p := range m.shares {
		m.due[p] = m.shares[p].Due(m.due[p], now-m.start)
		l.scheduled += m.due[p]
	}
	for _, p := range m.s.senders {
		c := p.books.Counts()
		l.attempted += c.Attempted
		l.acked += c.Acked
		l.failed += c.Failed
	}
	for _, r := range m.s.receivers {
		l.received += r.deliveries.Load()
	}
	return l
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

// second records what happened since the last row.
func (m *monitor) second(now int64) {
	l, use := m.levels(now), m.meter.Read()
	if l.at == m.last.at {
		return
	}
	row := rawlog.NewSecondRow(process, now)
	row.Scheduled, row.Attempted = l.scheduled-m.last.scheduled, l.attempted-m.last.attempted
	row.Acked, row.Failed, row.Received = l.acked-m.last.acked, l.failed-m.last.failed, l.received-m.last.received
	row.ScheduleLagNs, row.InFlight, row.QueueDepth = 0, 0, 0
	for _, p := range m.s.senders {
		row.ScheduleLagNs = max(row.ScheduleLagNs, p.maxLag.Swap(0))
		row.InFlight += p.books.Counts().InFlight
		row.QueueDepth += int64(p.producer.Pending())
		p.books.Watermark()
	}
	for _, r := range m.s.receivers {
		r.tick()
	}
	m.s.events.tick()
	row.Backlog = max(0, l.acked-m.slowest())
	u := use.Since(m.lastUse)
	row.CPUNs, row.StealNs, row.MemoryBytes, row.GCPauseNs = u.CPUNs, u.StealNs, u.MemoryBytes, u.GCPauseNs
	row.NetworkInBytes, row.NetworkOutBytes = u.NetworkInBytes, u.NetworkOutBytes
	row.DiskReadBytes, row.DiskWrittenBytes, row.DiskUsedBytes = u.DiskReadBytes, u.DiskWrittenBytes, u.DiskUsedBytes
	if before, after := m.last.requests, l.requests; before != nil && after != nil {
		row.Connections = after.Open
		row.RequestsPut, row.RequestsPutIfAbsent = after.Put-before.Put, after.PutIfAbsent-before.PutIfAbsent
		row.RequestsGet, row.RequestsMiss = after.Get-before.Get, after.Miss-before.Miss
		row.RequestsList, row.RequestsHead = after.List-before.List, after.Head-before.Head
		row.RequestsDelete, row.RequestsFailed = after.Delete-before.Delete, after.Failed-before.Failed
	}
	m.log.Append(row)
	m.log.SetWatermark(now)
	m.last, m.lastUse = l, use
}

// collect takes the latencies that the receivers have gathered.
func (m *monitor) collect() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.s.receivers {
		if c := r.handed.Swap(nil); c != nil {
			m.add(c)
			r.returned.Store(c)
		}
	}
}

func (m *monitor) add(c *stats.Counter) {
	// Only a histogram that is none, or more than 2⁶³ values, is an error.
	_ = m.live.Accumulate(c.Take())
}

// latencies are those of the whole step. The monitor has stopped.
func (m *monitor) latencies() stats.Compact {
	m.collect()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.s.receivers {
		r.logMu.Lock()
		m.add(r.live)
		r.logMu.Unlock()
	}
	return m.live.Compact()
}

// look shows the status and keeps a point for the verdict.
func (m *monitor) look(now int64) {
	l := m.levels(now)
	if now < m.end {
		m.backlogs = append(m.backlogs, point{now - m.start, float64(l.scheduled - m.slowest())})
	}
	then := m.rates.put(l)
	show := m.s.r.cfg.Status
	if show == nil {
		return
	}
	st := Status{Plan: m.s.plan, Phase: *m.state.Load(), Elapsed: time.Duration(now - m.start), Backlog: max(0, l.acked-m.slowest())}
	if seconds := float64(l.at-then.at) / 1e9; seconds > 0 {
		st.Attempted = float64(l.attempted-then.attempted) / seconds
		st.Received = float64(l.received-then.received) / seconds
	}
	for _, p := range m.s.senders {
		st.InFlight += p.books.Counts().InFlight
		st.Lag = max(st.Lag, time.Duration(p.maxLag.Load()))
	}
	m.mu.Lock()
	c := m.live.Compact()
	m.mu.Unlock()
	if st.N = c.N; c.N > 0 {
		p99, _ := c.Quantile(0.99, 0)
		st.P99 = time.Duration(p99)
	}
	show(st)
}

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
