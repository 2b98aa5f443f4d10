package kafka

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"queuebench/queue"
)

var errClosed = queue.ErrClosed

// passOver notes where an Existing topic ends now: what was there before is no
// part of the run.
func (q *Queue) passOver(ctx context.Context) error {
	ends, err := q.ends(ctx)
	if err != nil {
		return err
	}
	q.mu.Lock()
	q.begins = ends
	q.mu.Unlock()
	return nil
}

// starts are the offsets at which consumers begin, per partition.
func (q *Queue) starts(ctx context.Context, s queue.Start) (map[int32]int64, error) {
	first, err := q.offsets(ctx, "start", q.admin.ListStartOffsets)
	if err != nil {
		return nil, err
	}
	switch s.Kind {
	case queue.StartLatest:
		return q.offsets(ctx, "end", q.admin.ListEndOffsets)
	case queue.StartTime:
		return q.offsets(ctx, "offset at "+s.Time.UTC().Format(time.RFC3339Nano), func(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
			// Kafka knows milliseconds: the first that is not before the time.
			at := s.Time.UnixMilli()
			if time.UnixMilli(at).Before(s.Time) {
				at++
			}
			return q.admin.ListOffsetsAfterMilli(ctx, at, topics...)
		})
	case queue.StartOffset:
		last, err := q.offsets(ctx, "end", q.admin.ListEndOffsets)
		if err != nil {
			return nil, err
		}
		for k := range first {
			if s.Offset < first[k] && first[k] > 0 && last[k] > s.Offset {
				return nil, fmt.Errorf("kafka: partition %d of topic %s begins at offset %d: what lies from %d on was removed", k, q.cfg.Topic, first[k], s.Offset)
			}
			first[k] = max(first[k], min(s.Offset, last[k]))
		}
		return first, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for k, at := range q.begins {
		first[k] = max(first[k], at)
	}
	return first, nil
}

// ends are the offsets at which the topic ends for a reader.
func (q *Queue) ends(ctx context.Context) (map[int32]int64, error) {
	if q.cfg.Settings.Consumer.ReadCommitted {
		return q.offsets(ctx, "end", q.admin.ListCommittedOffsets)
	}
	return q.offsets(ctx, "end", q.admin.ListEndOffsets)
}

type lister func(ctx context.Context, topics ...string) (kadm.ListedOffsets, error)

// offsets lists an offset of each partition, tried again while a broker is not
// ready, for up to startupLimit.
func (q *Queue) offsets(ctx context.Context, what string, list lister) (map[int32]int64, error) {
	limited, cancel := context.WithTimeout(ctx, startupLimit)
	defer cancel()
	for {
		all, err := q.listed(limited, list)
		if err == nil {
			return all, nil
		}
		if !kerr.IsRetriable(err) || !pause(limited, retryPause) {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return nil, fmt.Errorf("kafka: asking for the %s of topic %s: %w", what, q.cfg.Topic, err)
		}
	}
}

func (q *Queue) listed(ctx context.Context, list lister) (map[int32]int64, error) {
	listed, err := list(ctx, q.cfg.Topic)
	if err != nil {
		return nil, err
	}
	all := map[int32]int64{}
	for k, o := range listed[q.cfg.Topic] {
		if o.Err != nil {
			return nil, o.Err
		}
		all[k] = o.Offset
	}
	if len(all) == 0 {
		return nil, kerr.UnknownTopicOrPartition
	}
	return all, nil
}
