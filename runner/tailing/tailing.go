// Package tailing records what a consumer receives of messages that others
// send: a table or topic that is tailed.
//
// It knows neither a schedule nor the sender, and refuses to guess either:
// a row has no identity but its place in the order of its partition, so that
// losses and repetitions are not counted here, and its latency is that from the
// stamp that it carries, if it carries one.
package tailing

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"queuebench/clock"
	"queuebench/objectstore"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
	"queuebench/stats"
)

// Group is the consumer group of a tail.
const Group = "tail"

// actor is the consumer, process who records what concerns the whole.
const actor, process = "consumer-0", "bench"

// The ends of a tail, as rawlog.Tail.EndedBy has them.
const (
	ByDuration = "duration"
	ByIdle     = "idle"
	ByCount    = "count"
)

// Config is what a tail is made of.
type Config struct {
	Clock *clock.Clock
	Log   *logwriter.Log
	// Tail says what is tailed; the counts are filled in.
	Tail rawlog.Tail
	// Open opens the consumer.
	Open func(ctx context.Context, cfg queue.ConsumerConfig) (queue.Consumer, error)
	// Retractions counts the rows that take others back; nil where the queue
	// knows none.
	Retractions func() int64
	Requests    func() objectstore.Counts // to the queue's store
	Before      objectstore.Counts        // of them, before the first was this tail's
	Prices      objectstore.Prices

	Duration time.Duration // ends it after so long; 0 for never
	Idle     time.Duration // ends it when nothing has come for so long; 0 for never
	Count    int64         // ends it with the batch that makes so many messages; 0 for never

	SpoolDir string       // its file system is watched
	Status   func(Status) // is shown how it goes, each second; nil for nobody
}

// Status is how a tail goes.
type Status struct {
	Elapsed   time.Duration
	Rows      int64
	PerSecond int64 // in the last second
	Version   int64 // of the last message; −1 for none
}

// Result is how a tail went.
type Result struct {
	Step rawlog.Step
	// Latency is from the stamp to the receipt, of the messages that have one
	// and were not there before.
	Latency stats.Compact
}

// recorder is a tail that is under way.
type recorder struct {
	cfg      *Config
	begun    int64
	received *logwriter.ReceivedWriter
	events   *logwriter.EventsWriter
	batches  *logwriter.BatchesWriter

	mu      sync.Mutex // guards the writers above and what follows
	tail    rawlog.Tail
	rows    int64
	next    map[int32]int64 // seq by partition
	last    int64           // when something came, clock; the beginning before
	latency stats.Counter
}

// Run tails until it ends by itself, ctx ends, or the consumer fails. The
// result is there with an error, too. The log's writers are closed; the caller
// closes the step.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	r := &recorder{cfg: &cfg, begun: cfg.Clock.Now(), tail: cfg.Tail, next: map[int32]int64{}}
	r.tail.First, r.tail.Last = -1, -1
	r.last = r.begun
	r.received, r.events, r.batches = cfg.Log.Received(0, 0, actor), cfg.Log.Events(0, 0, process), cfg.Log.Batches(0, 0, process)
	consumer, err := cfg.Open(ctx, queue.ConsumerConfig{Group: Group, Event: r.event, Trace: r.trace})
	if err == nil {
		err = r.attend(ctx, consumer)
		err = errors.Join(err, consumer.Close())
	}
	return r.result(ctx, err), err
}

// attend receives, and looks each second.
func (r *recorder) attend(ctx context.Context, consumer queue.Consumer) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	wg.Go(func() { r.watch(ctx, stop) })
	defer wg.Wait()
	defer stop(nil)
	for {
		batch, err := consumer.Receive(ctx)
		var ended *end
		switch {
		case errors.As(context.Cause(ctx), &ended):
			r.mu.Lock()
			r.tail.EndedBy = ended.by
			r.mu.Unlock()
			return nil
		case err != nil:
			return err
		}
		if r.take(batch) {
			stop(&end{ByCount})
		}
	}
}

// end is the cause with which a tail ends by itself.
type end struct{ by string }

func (e *end) Error() string { return "ended by " + e.by }

// take records a batch, and tells whether it was the last.
func (r *recorder) take(batch []queue.Delivery) (enough bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.cfg.Clock.Now() // under the lock, so that no watermark overtakes it
	for rest := batch; len(rest) > 0; {
		rows := r.received.Reserve(len(rest))
		for i := range rows {
			d := &rest[i]
			seq := r.next[d.Partition]
			r.next[d.Partition] = seq + 1
			rows[i] = rawlog.ReceivedRow{
				Group: Group, Seq: seq, ReceivedNs: now, BrokerNs: d.BrokerNs, BrokerKind: d.BrokerKind,
				Partition: d.Partition, Offset: d.Offset,
			}
			switch {
			case d.Offset <= r.tail.Present:
				r.tail.PresentRows++
			case d.BrokerNs == 0:
				r.tail.Unstamped++
			default:
				// What no histogram holds (30 days) is in the log all the same.
				_ = r.latency.Record(now - d.BrokerNs)
			}
		}
		r.received.Publish(len(rows))
		rest = rest[len(rows):]
	}
	r.received.SetWatermark(now)
	for i := range batch {
		if v := batch[i].Offset; v != r.tail.Last {
			if r.tail.First < 0 {
				r.tail.First = v
			}
			r.tail.Last = v
			r.tail.Versions++
		}
	}
	r.rows += int64(len(batch))
	r.last = now
	return r.cfg.Count > 0 && r.rows >= r.cfg.Count
}

func (r *recorder) event(e queue.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events.Append(rawlog.EventRow{TimeNs: r.cfg.Clock.Now(), Actor: actor, Kind: e.Kind, Text: e.Text, DurationNs: rawlog.Null})
}

func (r *recorder) trace(t queue.Trace) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches.Append(rawlog.NewBatchRow(actor, r.cfg.Clock.Now(), t))
}

// lookEvery is how often a tail looks whether it is at its end.
const lookEvery = 20 * time.Millisecond

// watch writes a row of the table seconds each second, and ends the tail.
func (r *recorder) watch(ctx context.Context, stop context.CancelCauseFunc) {
	s := newSeconds(r)
	defer s.close()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.cfg.Log.Failed():
			stop(fmt.Errorf("the log cannot be written, so the tail ends: %w", r.cfg.Log.Err()))
			return
		case <-ticker.C:
		}
		now := r.cfg.Clock.Now()
		s.look(now)
		r.mu.Lock()
		last := r.last
		r.mu.Unlock()
		switch {
		case r.cfg.Duration > 0 && now-r.begun >= int64(r.cfg.Duration):
			stop(&end{ByDuration})
		case r.cfg.Idle > 0 && now-last >= int64(r.cfg.Idle):
			stop(&end{ByIdle})
		}
	}
}

// result closes the writers and makes the manifest's entry.
func (r *recorder) result(ctx context.Context, err error) *Result {
	now := r.cfg.Clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.received.SetWatermark(now)
	r.events.SetWatermark(now)
	r.batches.SetWatermark(now)
	r.received.Close()
	r.events.Close()
	r.batches.Close()
	if r.cfg.Retractions != nil {
		r.tail.Retractions = r.cfg.Retractions()
	}
	tail := r.tail
	step := rawlog.Step{
		Loop: rawlog.LoopTail, Tail: &tail, Settings: map[string]string{}, Groups: []string{Group},
		StartedNs: r.begun, DurationNs: now - r.begun, DeadlineNs: now, EndedNs: now, Complete: err == nil,
		Accounting: rawlog.Accounting{Received: r.rows},
	}
	if live := r.rows - tail.PresentRows; step.DurationNs > 0 {
		step.Rate = float64(live) / (float64(step.DurationNs) / 1e9)
	}
	if err != nil {
		step.CutOffNs = now
		if ctx.Err() == nil {
			step.Failure = err.Error()
		}
	}
	if r.cfg.Requests != nil {
		n := r.cfg.Requests().Minus(r.cfg.Before)
		step.Requests = map[string]int64{
			"put": n.Put, "put_if_absent": n.PutIfAbsent, "get": n.Get, "miss": n.Miss,
			"list": n.List, "head": n.Head, "delete": n.Delete, "failed": n.Failed,
		}
		if r.rows > 0 {
			millions := float64(r.rows) / 1e6
			step.Cost = &rawlog.Cost{Prices: r.cfg.Prices.Name, RequestsPerMillion: float64(n.Total()) / millions, DollarsPerMillion: r.cfg.Prices.Of(n) / millions}
		}
	}
	return &Result{Step: step, Latency: r.latency.Take()}
}
