// Package alarm waits to within some ten microseconds, and holds neither a
// thread nor a processor while it does.
//
// A timer of Go's runtime fires up to a millisecond late on Linux: an idle
// program waits in epoll_wait, which counts milliseconds. That is a tenth of a
// commit interval of 10 ms. A sleeping system call is exact, but keeps the
// processor that it was called on from other goroutines until the runtime's
// monitor takes it back. So an Alarm is a timerfd, whose expiry is an event of
// the same epoll. Where there is none, it is a timer of the runtime.
//
// It refuses to spin: who needs a microsecond uses runner/pace.
package alarm

import (
	"context"
	"time"
)

// timer sleeps with a timer of the runtime.
func timer(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
