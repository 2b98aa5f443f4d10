package offset

import (
	"context"
	"sync"
	"time"
)

// Period is between two measurements of a Follower, and retry between two tries
// of one that was not answered.
const (
	Period = 10 * time.Second
	retry  = 500 * time.Millisecond
)

// Follower measures a peer's clock again and again, so that its drift is known.
// Its methods may be called from any goroutine.
type Follower struct {
	address string
	clock   Clock
	period  time.Duration

	mu   sync.Mutex
	all  []Measurement
	last error

	cancel context.CancelFunc
	ended  chan struct{}
}

// Follow begins to measure, until the first Stop or the end of ctx. That nobody
// answers is no error yet: the peer may start later.
func Follow(ctx context.Context, address string, c Clock) *Follower {
	return follow(ctx, address, c, Period)
}

func follow(ctx context.Context, address string, c Clock, period time.Duration) *Follower {
	ctx, cancel := context.WithCancel(ctx)
	f := &Follower{address: address, clock: c, period: period, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(f.ended)
		for {
			wait := f.period
			if !f.measure(ctx) {
				wait = min(wait, retry)
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
		}
	}()
	return f
}

func (f *Follower) measure(ctx context.Context) bool {
	m, err := Measure(ctx, f.address, f.clock)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last = err; err != nil {
		return false
	}
	f.all = append(f.all, m)
	return true
}

// Measurements are those so far, in order of time, and why the last try failed.
func (f *Follower) Measurements() ([]Measurement, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Measurement(nil), f.all...), f.last
}

// Stop ends the measuring with a last measurement, for which it takes at most
// until ctx ends. It can be called twice.
func (f *Follower) Stop(ctx context.Context) {
	f.cancel()
	<-f.ended
	f.mu.Lock()
	stopped := f.address == ""
	address := f.address
	f.mu.Unlock()
	if stopped {
		return
	}
	m, err := Measure(ctx, address, f.clock)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.address = ""
	if f.last = err; err == nil {
		f.all = append(f.all, m)
	}
}
