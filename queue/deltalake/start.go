package deltalake

import (
	"context"
	"errors"
	"fmt"

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
