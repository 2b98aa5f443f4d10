package runner

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"queuebench/queue"
	"queuebench/queue/memory"
)

// faulty is a queue in memory that goes wrong in ways of its own.
type faulty struct {
	queue.Queue
	removed *atomic.Int64 // calls of Remove

	failCreate   error
	failConsumer error
	breakAfter   int             // the consumer fails after so many batches; 0 for never
	breakDelay   time.Duration   // and takes so long to find out
	breakSends   int             // the producer cannot go on after so many calls of Send; 0 for never
	inject       [][]byte        // payloads that are delivered with the first batch
	stallAfter   int             // the consumer stands still after so many batches; 0 for never
	stallFor     time.Duration   // for so long
	failFirst    int64           // so many messages are delivered, and told to have failed
	reorder      bool            // each batch is delivered backwards
	ackTwice     bool            // each acknowledgement is told twice
	deaf         bool            // Close of consumers never returns before its release
	release      <-chan struct{} // for deaf
	silent       string          // no acknowledgement ever, and a retry is told with this reason
	slowRemove   <-chan struct{} // Remove waits for it, where it is set
}

func newFaulty(f memory.Faults) *faulty {
	q, err := memory.New(memory.Config{Faults: f})
	if err != nil {
		panic(err)
	}
	return &faulty{Queue: q, removed: new(atomic.Int64)}
}

func (q *faulty) Create(ctx context.Context) error {
	if q.failCreate != nil {
		return q.failCreate
	}
	return q.Queue.Create(ctx)
}

func (q *faulty) Remove(ctx context.Context) error {
	q.removed.Add(1)
	if q.slowRemove != nil {
		select {
		case <-q.slowRemove:
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return q.Queue.Remove(ctx)
}

func (q *faulty) Producer(ctx context.Context, cfg queue.ProducerConfig) (queue.Producer, error) {
	if q.silent != "" {
		cfg.Acked = func([]queue.Ack) {}
		cfg.Event(queue.Event{Kind: "retry", Text: q.silent})
	}
	if acked := cfg.Acked; q.ackTwice {
		cfg.Acked = func(a []queue.Ack) {
			acked(a)
			acked(a)
		}
	} else if q.failFirst > 0 {
		cfg.Acked = func(acks []queue.Ack) {
			for _, a := range acks {
				if a.First < q.failFirst && a.Err == nil {
					a.Err = errors.New("the answer was lost")
				}
				acked([]queue.Ack{a})
			}
		}
	}
	p, err := q.Queue.Producer(ctx, cfg)
	if err != nil || q.breakSends == 0 {
		return p, err
	}
	return &faultyProducer{Producer: p, left: q.breakSends}, nil
}

// faultyProducer cannot go on after some calls of Send.
type faultyProducer struct {
	queue.Producer
	left int
}

func (p *faultyProducer) Send(ctx context.Context, batch []queue.Message) (int, error) {
	if p.left--; p.left < 0 {
		return 0, fmt.Errorf("the disk is full, %w", queue.ErrBroken)
	}
	return p.Producer.Send(ctx, batch)
}

func (q *faulty) Consumer(ctx context.Context, cfg queue.ConsumerConfig) (queue.Consumer, error) {
	if q.failConsumer != nil {
		return nil, q.failConsumer
	}
	c, err := q.Queue.Consumer(ctx, cfg)
	return &faultyConsumer{Consumer: c, q: q}, err
}

type faultyConsumer struct {
	queue.Consumer
	q       *faulty
	batches int
}

var errBroken = errors.New("the reader found a gap")

func (c *faultyConsumer) Receive(ctx context.Context) ([]queue.Delivery, error) {
	if c.q.breakAfter > 0 && c.batches == c.q.breakAfter {
		time.Sleep(c.q.breakDelay)
		return nil, errBroken
	}
	if c.q.stallAfter > 0 && c.batches == c.q.stallAfter {
		time.Sleep(c.q.stallFor)
	}
	batch, err := c.Consumer.Receive(ctx)
	if err != nil {
		return nil, err
	}
	c.batches++
	if c.q.reorder {
		out := make([]queue.Delivery, len(batch))
		for i := range batch {
			out[len(batch)-1-i] = batch[i]
		}
		batch = out
	}
	if c.batches == 1 {
		for _, p := range c.q.inject {
			batch = append(batch[:len(batch):len(batch)], queue.Delivery{Payload: p})
		}
	}
	return batch, nil
}

func (c *faultyConsumer) Close() error {
	if c.q.deaf {
		<-c.q.release
	}
	return c.Consumer.Close()
}
