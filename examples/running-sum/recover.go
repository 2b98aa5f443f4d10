package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// lastState is what the last output says that was committed; the zero state
// where there is none.
func lastState(ctx context.Context, cfg config) (last state, err error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(cfg.brokers...), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	if err != nil {
		return last, err
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	// Outputs come once in an interval, so all of them are few.
	ends, err := admin.ListCommittedOffsets(ctx, cfg.out)
	if err == nil {
		err = ends.Error()
	}
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		return last, nil
	}
	if err != nil {
		return last, fmt.Errorf("looking for the last output in %s: %w", cfg.out, err)
	}
	starts, err := admin.ListStartOffsets(ctx, cfg.out)
	if err != nil {
		return last, err
	}
	left := map[int32]int64{} // where each partition ends that has something
	from := map[int32]kgo.Offset{}
	ends.Each(func(end kadm.ListedOffset) {
		if start, ok := starts.Lookup(end.Topic, end.Partition); ok && start.Offset < end.Offset {
			left[end.Partition] = end.Offset
			from[end.Partition] = kgo.NewOffset().At(start.Offset)
		}
	})
	if len(left) == 0 {
		return last, nil
	}
	// A partition may end with the marks of transactions, which are no records:
	// they are kept too, so that its end is seen.
	reader, err := kgo.NewClient(kgo.SeedBrokers(cfg.brokers...), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{cfg.out: from}))
	if err != nil {
		return last, err
	}
	defer reader.Close()
	for len(left) > 0 {
		fetches := reader.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return last, fmt.Errorf("reading the last output of %s: %w", cfg.out, err)
		}
		var bad error
		fetches.EachRecord(func(r *kgo.Record) {
			if r.Offset+1 >= left[r.Partition] {
				delete(left, r.Partition)
			}
			if r.Attrs.IsControl() {
				return
			}
			var s state
			if err := json.Unmarshal(r.Value, &s); err != nil {
				bad = fmt.Errorf("%s, partition %d, offset %d: %.80q is no output: %w", r.Topic, r.Partition, r.Offset, r.Value, err)
			}
			if s.Count >= last.Count {
				last = s
			}
		})
		if bad != nil {
			return last, bad
		}
	}
	return last, nil
}

// createTopics makes the topics that are not there, where that was asked for.
func createTopics(ctx context.Context, cfg config) error {
	if cfg.create == 0 {
		return nil
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(cfg.brokers...))
	if err != nil {
		return err
	}
	defer client.Close()
	stamps := "LogAppendTime"
	for _, topic := range []string{cfg.in, cfg.out} {
		_, err := kadm.NewClient(client).CreateTopic(ctx, int32(cfg.create), -1, map[string]*string{"message.timestamp.type": &stamps}, topic)
		if err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
			return fmt.Errorf("making the topic %s: %w", topic, err)
		}
	}
	return nil
}

// firstOf waits for the first message of the inputs, which is their header line.
func firstOf(ctx context.Context, cfg config) (*kgo.Record, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(cfg.brokers...), kgo.FetchMaxWait(100*time.Millisecond),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{cfg.in: {0: kgo.NewOffset().AtStart()}}))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	for {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return nil, err
		}
		if records := fetches.Records(); len(records) > 0 {
			return records[0], nil
		}
	}
}
