package faultproxy

import (
	"sync"
	"time"
)

// line is what all bytes go through one after the other.
type line struct {
	bandwidth int64 // bytes per second; 0 for no limit

	mu       sync.Mutex
	busyTill time.Time
}

// transfer is how long so many bytes take, after those before them.
func (l *line) transfer(n int) time.Duration {
	if l.bandwidth == 0 || n == 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.busyTill.Before(now) {
		l.busyTill = now
	}
	l.busyTill = l.busyTill.Add(time.Duration(float64(n) / float64(l.bandwidth) * 1e9))
	return l.busyTill.Sub(now)
}
