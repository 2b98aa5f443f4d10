package logwriter

import (
	"context"
	"errors"
	"time"

	"queuebench/objectstore"
)

// refusedFor is for how long a store must have refused every upload for a reason that
// waiting does not take away, before nobody waits for it any more. Uploads are tried
// on all the same until Close returns.
const refusedFor = 10 * time.Second

// refusal says that a store refuses for good, as far as one can see: it has no room,
// no bucket, or does not take the keys.
func refusal(err error) bool {
	return errors.Is(err, objectstore.ErrFull) || errors.Is(err, objectstore.ErrDenied) || errors.Is(err, objectstore.ErrNoBucket)
}

// tell keeps since when the store refuses, and since when it takes nothing at all.
func (u *uploads) tell(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	since := func(holds bool, at *time.Time) {
		switch {
		case !holds:
			*at = time.Time{}
		case at.IsZero():
			*at = time.Now()
		}
	}
	since(err != nil && refusal(err), &u.refusedSince)
	since(err != nil, &u.failingSince)
}

// refused says that nobody should wait for the store any more.
func (u *uploads) refused() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	longer := func(since time.Time, limit time.Duration) bool { return !since.IsZero() && time.Since(since) >= limit }
	return longer(u.refusedSince, u.log.refusedFor) || u.log.opt.FailingFor > 0 && longer(u.failingSince, u.log.opt.FailingFor)
}

// unlessRefused is a context that ends with ctx, and when the store has refused
// everything, or failed, for long enough. stop is to be called.
func (u *uploads) unlessRefused(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			if u.refused() {
				cancel()
				return
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	}()
	return ctx, func() { cancel(); <-watching }
}
