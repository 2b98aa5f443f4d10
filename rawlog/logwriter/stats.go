package logwriter

import "sync/atomic"

// Stats are the log's own counts so far.
type Stats struct {
	Rows          int64 // encoded
	Discarded     int64 // rows given up since the log failed
	Parts         int64 // closed
	Stored        int64 // parts that are in the store
	Bytes         int64 // of closed parts
	Blocked       int64 // times that an Append waited for its encoder
	BlockedNs     int64 // how long they waited, ns
	EncodeNs      int64 // time spent encoding, compressing and writing, ns
	UploadRetries int64
	UploadError   string // the last one, "" when there was none
}

type counts struct {
	rows, discarded, parts, stored, bytes, blocked, blockedNs, encodeNs, retries atomic.Int64
}

// Stats returns the counts so far.
func (l *Log) Stats() Stats {
	c := &l.counts
	s := Stats{
		Rows: c.rows.Load(), Discarded: c.discarded.Load(), Parts: c.parts.Load(), Stored: c.stored.Load(), Bytes: c.bytes.Load(),
		Blocked: c.blocked.Load(), BlockedNs: c.blockedNs.Load(), EncodeNs: c.encodeNs.Load(), UploadRetries: c.retries.Load(),
	}
	if err := l.uploads.lastError(); err != nil {
		s.UploadError = err.Error()
	}
	return s
}
