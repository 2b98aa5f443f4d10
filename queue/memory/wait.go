package memory

import (
	"context"
	"time"

	"queuebench/queue"
)

// waitFor returns nil when woken or after d (0: no such limit), ErrClosed when
// closed, or the context's error. The timer is the caller's, so that waiting
// allocates nothing.
func waitFor(ctx context.Context, closed, woken <-chan struct{}, timer *time.Timer, d time.Duration) error {
	var elapsed <-chan time.Time
	if d > 0 {
		timer.Reset(d)
		defer timer.Stop()
		elapsed = timer.C
	}
	select {
	case <-woken:
	case <-elapsed:
	case <-closed:
		return queue.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

func stoppedTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}
