package deltalake

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"queuebench/objectstore"
	"queuebench/queue"
)

// start resolves a start position to a version, and to a time before which
// versions are passed over (ms since the epoch, 0 for none). A table that does
// not exist yet begins after any start, so with version 0.
func (t *table) start(ctx context.Context, s queue.Start) (version, notBefore int64, err error) {
	switch s.Kind {
	case queue.StartEarliest:
		return 0, 0, nil
	case queue.StartOffset:
		if s.Offset < 0 {
			return 0, 0, fmt.Errorf("cannot start at version %d: versions begin at 0", s.Offset)
		}
		return s.Offset, 0, nil
	case queue.StartLatest:
		_, newest, err := t.versions(ctx)
		return newest + 1, 0, err
	case queue.StartTime:
		notBefore = s.Time.UnixMilli()
		oldest, newest, err := t.versions(ctx)
		if err != nil || newest < 0 {
			return 0, notBefore, err
		}
		version, err := t.firstSince(ctx, oldest, newest, notBefore)
		return version, notBefore, err
	}
	return 0, 0, fmt.Errorf("unknown start position %d", s.Kind)
}

// firstSince is the first version of a log whose time is not before ms, or the
// one after the newest. It assumes that times rise with versions, as the
// protocol asks of writers.
func (t *table) firstSince(ctx context.Context, oldest, newest, ms int64) (int64, error) {
	low, high := oldest, newest+1 // the answer is in [low, high]
	for low < high {
		mid := low + (high-low)/2
		c, err := t.getCommit(ctx, mid)
		if errors.Is(err, objectstore.ErrNotFound) {
			return 0, fmt.Errorf("%w: version %d is missing, version %d is there", ErrGap, mid, newest)
		}
		if err != nil {
			return 0, err
		}
		if c.timestamp() < ms {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, nil
}

// elsewhere says that what a consumer waits for is there under the same name
// with another number of partitions: one partition is a table of that name, each
// of several is one below it. It is asked while there is nothing else to read.
func (t *table) elsewhere(ctx context.Context) error {
	if t.partition != 0 { // one of them asks
		return nil
	}
	store, below, found := t.store, "p=0/", "several"
	if t.cfg.Partitions > 1 {
		store, below, found = t.cfg.Store.Sub(t.cfg.Name+"/"), "", "one"
	}
	err := store.List(ctx, objectstore.ListOptions{Prefix: below + logFolder, Delimiter: "/"}, func(i objectstore.Info) error {
		if _, ok := parseName(versionName, strings.TrimPrefix(i.Key, below)); ok {
			return errStop
		}
		return nil
	})
	switch {
	case errors.Is(err, errStop):
		return fmt.Errorf("%w: %s was written with %s and %d is waited for", ErrOtherPartitions, t.cfg.Name, found, t.cfg.Partitions)
	case err != nil && (ctx.Err() != nil || !transient(err)):
		return err
	}
	return nil // the next silence asks again
}
