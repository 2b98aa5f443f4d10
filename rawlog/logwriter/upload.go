package logwriter

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"queuebench/objectstore"
)

const (
	uploaders      = 2
	minBackoff     = 100 * time.Millisecond
	maxBackoff     = 5 * time.Second
	attemptTimeout = 2 * time.Minute // a store that hangs is asked again

	parquetType = "application/vnd.apache.parquet"
)

// uploads stores closed parts in the order in which they were closed, each as
// often as it takes.
type uploads struct {
	log    *Log
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu           sync.Mutex
	changed      *sync.Cond
	waiting      []*part
	finished     bool // no part is added any more
	unsent       []string
	last         error
	refusedSince time.Time // since when the store refuses for good; zero when it does not
	failingSince time.Time // since when every upload failed; zero when the last did not
}

func startUploads(l *Log) *uploads {
	u := &uploads{log: l}
	u.changed = sync.NewCond(&u.mu)
	u.ctx, u.cancel = context.WithCancel(context.Background())
	for range uploaders {
		u.wg.Go(u.run)
	}
	return u
}

func (u *uploads) add(p *part) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.waiting = append(u.waiting, p)
	u.changed.Signal()
}

// next waits for a part; nil when there will be none.
func (u *uploads) next() *part {
	u.mu.Lock()
	defer u.mu.Unlock()
	for len(u.waiting) == 0 && !u.finished {
		u.changed.Wait()
	}
	if len(u.waiting) == 0 {
		return nil
	}
	p := u.waiting[0]
	u.waiting = u.waiting[1:]
	return p
}

func (u *uploads) run() {
	for p := u.next(); p != nil; p = u.next() {
		if p.stored = u.store(p); p.stored {
			u.log.counts.stored.Add(1)
		} else {
			u.mu.Lock()
			u.unsent = append(u.unsent, p.info.Name)
			u.mu.Unlock()
		}
		close(p.done)
	}
}

// store uploads a part until it is stored, and says whether it was: not when
// the time of Close is over, nor when its file is gone.
func (u *uploads) store(p *part) bool {
	for attempt := 0; u.ctx.Err() == nil; attempt++ {
		f, err := os.Open(u.log.spool.path(p.info.Name))
		if err != nil {
			u.log.fail(fmt.Errorf("raw log: a closed part cannot be read back for its upload: %w", err))
			return false
		}
		ctx, cancel := context.WithTimeout(u.ctx, attemptTimeout)
		err = u.log.opt.Store.PutFile(ctx, p.info.Name, f, p.info.Bytes, objectstore.PutOptions{ContentType: parquetType})
		cancel()
		f.Close()
		if u.ctx.Err() == nil {
			u.tell(err)
		}
		if err == nil {
			if err := u.log.spool.remove(p.info.Name); err != nil {
				u.log.fail(fmt.Errorf("raw log: a stored part cannot be removed from the spool: %w", err))
			}
			return true
		}
		u.retryLater(attempt, err)
	}
	return false
}

// retryLater notes an error and waits.
func (u *uploads) retryLater(attempt int, err error) {
	if u.ctx.Err() != nil {
		return // the attempt was cut off by Close
	}
	u.mu.Lock()
	u.last = err
	u.mu.Unlock()
	u.log.counts.retries.Add(1)
	pause(u.ctx, attempt)
}

// pause waits longer with each attempt, or until ctx ends.
func pause(ctx context.Context, attempt int) {
	d := min(maxBackoff, minBackoff<<min(attempt, 10))
	timer := time.NewTimer(d/2 + rand.N(d/2))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// finish waits until everything is stored or ctx ends, and returns the names of
// what is not stored.
func (u *uploads) finish(ctx context.Context) []string {
	u.mu.Lock()
	u.finished = true
	u.changed.Broadcast()
	u.mu.Unlock()

	ctx, done := u.unlessRefused(ctx)
	defer done()
	stop := context.AfterFunc(ctx, u.cancel)
	u.wg.Wait()
	stop()
	u.cancel()
	return u.unsent
}

func (u *uploads) lastError() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.last
}
