package tailing

import (
	"time"

	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
	"queuebench/runner/hostinfo"
)

// seconds writes the table seconds of a tail.
type seconds struct {
	r      *recorder
	log    *logwriter.SecondsWriter
	meter  *hostinfo.Meter
	next   int64
	at     int64
	rows   int64
	use    hostinfo.Use
	counts objectstore.Counts
}

func newSeconds(r *recorder) *seconds {
	s := &seconds{r: r, log: r.cfg.Log.Seconds(0, 0, process), meter: hostinfo.NewMeter(r.cfg.SpoolDir), next: r.begun + int64(time.Second), at: r.begun}
	s.use = s.meter.Read()
	if r.cfg.Requests != nil {
		s.counts = r.cfg.Before
	}
	return s
}

// look writes a row when a second has passed.
func (s *seconds) look(now int64) {
	if now < s.next {
		return
	}
	s.next += int64(time.Second) * (1 + (now-s.next)/int64(time.Second))
	s.row(now)
}

func (s *seconds) row(now int64) {
	r := s.r
	r.mu.Lock()
	rows, version := r.rows, r.tail.Last
	// Whoever receives is stamped under the lock, so all before now is recorded.
	at := r.cfg.Clock.Now()
	r.received.SetWatermark(at)
	r.events.SetWatermark(at)
	r.batches.SetWatermark(at)
	r.mu.Unlock()
	row := rawlog.NewSecondRow(process, now)
	row.Received = rows - s.rows
	use := s.meter.Read()
	u := use.Since(s.use)
	row.CPUNs, row.StealNs, row.MemoryBytes, row.GCPauseNs = u.CPUNs, u.StealNs, u.MemoryBytes, u.GCPauseNs
	row.NetworkInBytes, row.NetworkOutBytes = u.NetworkInBytes, u.NetworkOutBytes
	row.DiskReadBytes, row.DiskWrittenBytes, row.DiskUsedBytes = u.DiskReadBytes, u.DiskWrittenBytes, u.DiskUsedBytes
	if r.cfg.Requests != nil {
		all := r.cfg.Requests()
		n := all.Minus(s.counts)
		row.Connections = n.Open
		row.RequestsPut, row.RequestsPutIfAbsent, row.RequestsGet, row.RequestsMiss = n.Put, n.PutIfAbsent, n.Get, n.Miss
		row.RequestsList, row.RequestsHead, row.RequestsDelete, row.RequestsFailed = n.List, n.Head, n.Delete, n.Failed
		s.counts = all
	}
	s.log.Append(row)
	s.log.SetWatermark(now)
	if r.cfg.Status != nil {
		r.cfg.Status(Status{Elapsed: time.Duration(now - r.begun), Rows: rows, PerSecond: rows - s.rows, Version: version})
	}
	s.at, s.rows, s.use = now, rows, use
}

// close writes what is left of the last second.
func (s *seconds) close() {
	if now := s.r.cfg.Clock.Now(); now > s.at {
		s.row(now)
	}
	s.log.Close()
}
