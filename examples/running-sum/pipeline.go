package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"queuebench/runner/identity"
)

// state is what an output says, and what the next one goes on from.
type state struct {
	Sum   int64 `json:"sum"`
	Count int64 `json:"count"` // inputs
	// Covers are the inputs since the output before, as ranges of identities.
	Covers string `json:"covers"`
}

// largestCovers bounds the text of an output, so that it is a message for any
// broker: what does not fit stands in further outputs of the same transaction.
const largestCovers = 512 << 10

// pipeline reads, sums and writes.
type pipeline struct {
	cfg     config
	session *kgo.GroupTransactSession
	decode  decoder
	header  bool // the first message of partition 0 is the header line
	headAt  int64
	state   state
}

// open joins the group, and finds out from where the sum goes on.
func open(ctx context.Context, cfg config) (*pipeline, error) {
	p := &pipeline{cfg: cfg, decode: jsonInputs(cfg.value, cfg.id)}
	var err error
	if p.state, err = lastState(ctx, cfg); err != nil {
		return nil, err
	}
	if cfg.format == "delimited" {
		header, err := firstOf(ctx, cfg)
		if err != nil {
			return nil, fmt.Errorf("waiting for the header line of %s: %w", cfg.in, err)
		}
		if p.decode, err = delimitedInputs(header.Value, cfg.delimiter, cfg.value, cfg.id); err != nil {
			return nil, err
		}
		p.header, p.headAt = true, header.Offset
	}
	p.session, err = kgo.NewGroupTransactSession(
		kgo.SeedBrokers(cfg.brokers...),
		kgo.TransactionalID(cfg.transactional),
		kgo.ConsumerGroup(cfg.group),
		kgo.ConsumeTopics(cfg.in),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.FetchMaxWait(100*time.Millisecond),
		// A process that was killed holds its partitions for so long.
		kgo.SessionTimeout(6*time.Second), kgo.HeartbeatInterval(time.Second),
		kgo.UnknownTopicRetries(-1),
	)
	return p, err
}

func (p *pipeline) close() { p.session.Close() }

// run goes on until ctx ends, which is no error.
func (p *pipeline) run(ctx context.Context) error {
	for next := time.Now().Add(p.cfg.interval); ctx.Err() == nil; next = next.Add(p.cfg.interval) {
		if late := time.Since(next); late > 0 { // a commit took longer than the interval
			next = next.Add(late)
		}
		if err := p.interval(ctx, next); err != nil {
			return err
		}
	}
	return nil
}

// interval reads until it ends, and commits what it has read with its output.
func (p *pipeline) interval(ctx context.Context, until time.Time) error {
	now, cover := p.state, identity.Cover{}
	reading, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	var bad error
	for reading.Err() == nil && bad == nil {
		fetches := p.session.PollFetches(reading)
		fetches.EachError(func(topic string, partition int32, err error) {
			if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
				bad = fmt.Errorf("reading %s, partition %d: %w", topic, partition, err)
			}
		})
		fetches.EachRecord(func(r *kgo.Record) {
			if bad == nil {
				bad = p.add(&now, &cover, r)
			}
		})
	}
	if bad != nil || cover.Len() == 0 {
		return bad
	}
	if err := p.session.Begin(); err != nil {
		return err
	}
	// What was read is committed also when the program is asked to end.
	ctx = context.WithoutCancel(ctx)
	for _, covers := range cover.Texts(largestCovers) {
		now.Covers = covers
		body, err := json.Marshal(now)
		if err != nil {
			return err
		}
		p.session.Produce(ctx, &kgo.Record{
			Topic: p.cfg.out, Key: []byte("sum"), Value: body,
			Headers: []kgo.RecordHeader{
				{Key: "pathway_time", Value: strconv.AppendInt(nil, time.Now().UnixMilli(), 10)},
				{Key: "pathway_diff", Value: []byte("1")},
			},
		}, nil) // End tells of a failure
	}
	committed, err := p.session.End(ctx, kgo.TryCommit)
	switch {
	case err != nil:
		return fmt.Errorf("committing: %w", err)
	case committed:
		p.state = now
	}
	return nil // what was not committed is read again
}

// add adds an input.
func (p *pipeline) add(now *state, cover *identity.Cover, r *kgo.Record) error {
	if p.header && r.Partition == 0 && r.Offset == p.headAt {
		return nil
	}
	in, err := p.decode(r.Value)
	if err == nil {
		err = cover.Add(in.id)
	}
	if err != nil {
		return fmt.Errorf("%s, partition %d, offset %d: %.80q: %w", r.Topic, r.Partition, r.Offset, r.Value, err)
	}
	now.Sum += in.value
	now.Count++
	return nil
}
