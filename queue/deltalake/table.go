package deltalake

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"queuebench/objectstore"
)

// table is one Delta table: a partition of the queue.
type table struct {
	cfg       *Config
	store     objectstore.Store // the table's own folder
	name      string
	partition int32
	inspected atomic.Pointer[snapshot] // what Inspect found last
}

func (t *table) get(ctx context.Context, key string) ([]byte, error) {
	body, _, err := t.getInto(ctx, key, nil)
	return body, err
}

// getInto is get into memory that is there, if the store can. Whatever it
// returns is the caller's. checked says that the body was held against a checksum
// of the store's.
func (t *table) getInto(ctx context.Context, key string, buf []byte) (body []byte, checked bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, t.cfg.RequestTimeout)
	defer cancel()
	var info objectstore.Info
	if s, ok := t.store.(objectstore.IntoGetter); ok && buf != nil {
		body, info, err = s.GetInto(ctx, key, buf)
	} else {
		body, info, err = t.store.Get(ctx, key)
	}
	if err == nil && int64(len(body)) != info.Size {
		// A version that is cut at the end of a line would still parse.
		err = fmt.Errorf("%s: %w: %d of %d bytes came", key, ErrCorrupt, len(body), info.Size)
	}
	return body, info.Checked, err
}

func (t *table) put(ctx context.Context, key string, body []byte, opt objectstore.PutOptions) error {
	ctx, cancel := context.WithTimeout(ctx, t.cfg.RequestTimeout)
	defer cancel()
	return t.store.Put(ctx, key, body, opt)
}

// corruptTries is how often a version that does not parse is read before it is
// taken for corrupt.
const corruptTries = 5

// getCommit reads and parses a version. A body that was cut short is read
// again a few times.
func (t *table) getCommit(ctx context.Context, v int64) (*commit, error) {
	return t.getCommitBy(ctx, v, t.get)
}

func (t *table) getCommitBy(ctx context.Context, v int64, get func(ctx context.Context, key string) ([]byte, error)) (*commit, error) {
	var last error
	for try := range corruptTries {
		body, err := get(ctx, versionKey(v))
		if err != nil && !errors.Is(err, ErrCorrupt) {
			return nil, fmt.Errorf("version %d of table %s: %w", v, t.name, err)
		}
		if err == nil {
			var c *commit
			if c, err = parseCommit(v, body); err == nil {
				return c, nil
			}
		}
		last = fmt.Errorf("version %d of table %s (%s): %w", v, t.name, versionKey(v), err)
		if err := sleep(ctx, backoff(try)); err != nil {
			return nil, err
		}
	}
	return nil, last
}

// listLog calls yield for each object of the log after a version (−1: for
// all), in no order that may be relied on.
func (t *table) listLog(ctx context.Context, after int64, yield func(key string) error) error {
	opt := objectstore.ListOptions{Prefix: logFolder, Delimiter: "/"}
	if after >= 0 {
		opt.After = versionKey(after)
	}
	return t.store.List(ctx, opt, func(i objectstore.Info) error { return yield(i.Key) })
}

// versions are the oldest and the newest version in the log; −1 for none.
func (t *table) versions(ctx context.Context) (oldest, newest int64, err error) {
	oldest, newest = -1, -1
	err = t.listLog(ctx, -1, func(key string) error {
		if v, ok := parseName(versionName, key); ok {
			if oldest < 0 || v < oldest {
				oldest = v
			}
			newest = max(newest, v)
		}
		return nil
	})
	return oldest, newest, err
}

// transient says whether a request may be tried again.
func transient(err error) bool {
	return err != nil && !errors.Is(err, objectstore.ErrFull) && !errors.Is(err, objectstore.ErrDenied) && !errors.Is(err, objectstore.ErrNoBucket) && !errors.Is(err, objectstore.ErrNotFound)
}

// retry does something until it succeeds, fails for good, or RetryFor has
// passed. Each failure that is tried again is told.
func (t *table) retry(ctx context.Context, what string, event func(kind, text string), do func() error) (tries int, err error) {
	deadline := time.Now().Add(t.cfg.RetryFor)
	for try := 0; ; try++ {
		err := do()
		if err == nil || !transient(err) || ctx.Err() != nil {
			return try + 1, err
		}
		if time.Now().After(deadline) {
			return try + 1, fmt.Errorf("%s failed for %v (%d tries): %w", what, t.cfg.RetryFor, try+1, err)
		}
		event(kindOf(err), fmt.Sprintf("%s: %v", what, err))
		if err := sleep(ctx, backoff(try)); err != nil {
			return try + 1, err
		}
	}
}

// kindOf is the kind of event that an error to be tried again is.
func kindOf(err error) string {
	if errors.Is(err, objectstore.ErrThrottled) {
		return "throttled"
	}
	return "retry"
}
