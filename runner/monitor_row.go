package runner

import "queuebench/rawlog"

// second records what happened since the last row of the table seconds, and
// moves the watermarks of actors that wait.
func (m *monitor) second(now int64) {
	l, use, before := m.read, m.meter.Read(), m.row
	if l.at == before.at {
		return
	}
	row := rawlog.NewSecondRow(m.s.r.cfg.actor(), now)
	row.Scheduled, row.Attempted = l.scheduled-before.scheduled, l.attempted-before.attempted
	row.Acked, row.Failed, row.Received = l.acked-before.acked, l.failed-before.failed, l.received-before.received
	row.InFlight, row.Backlog = l.inFlight, m.backlog(l)
	row.ScheduleLagNs, row.QueueDepth = 0, 0
	for _, p := range m.s.senders {
		row.ScheduleLagNs = max(row.ScheduleLagNs, p.maxLag.Swap(0))
		row.QueueDepth += int64(p.producer.Pending())
		p.books.Watermark()
	}
	m.s.leaveOut(&row)
	for _, r := range m.s.receivers {
		r.tick()
	}
	m.s.events.tick()
	u := use.Since(m.rowUse)
	row.CPUNs, row.StealNs, row.MemoryBytes, row.GCPauseNs = u.CPUNs, u.StealNs, u.MemoryBytes, u.GCPauseNs
	row.NetworkInBytes, row.NetworkOutBytes = u.NetworkInBytes, u.NetworkOutBytes
	row.DiskReadBytes, row.DiskWrittenBytes, row.DiskUsedBytes = u.DiskReadBytes, u.DiskWrittenBytes, u.DiskUsedBytes
	if l.requests != nil && before.requests != nil {
		n := l.requests.Minus(*before.requests)
		row.Connections = n.Open
		row.RequestsPut, row.RequestsPutIfAbsent = n.Put, n.PutIfAbsent
		row.RequestsGet, row.RequestsMiss = n.Get, n.Miss
		row.RequestsList, row.RequestsHead = n.List, n.Head
		row.RequestsDelete, row.RequestsFailed = n.Delete, n.Failed
	}
	m.diskWritten = -1
	if u.DiskWrittenBytes != rawlog.Null {
		m.diskWritten = float64(u.DiskWrittenBytes) / (float64(now-before.at) / 1e9)
	}
	m.log.Append(row)
	m.log.SetWatermark(now)
	m.row, m.rowUse = l, use
}
