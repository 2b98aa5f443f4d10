package deltalake

import (
	"context"
	"sync"
	"time"

	"queuebench/queue"
)

// Consumer hands out what the tails of its partitions have fetched, one data
// file at a time.
type Consumer struct {
	q        *Queue
	g        *group
	cfg      queue.ConsumerConfig
	wake     chan struct{}
	closed   chan struct{}
	close    sync.Once
	callback sync.Mutex // keeps Trace and Event to one goroutine at a time

	// Of Receive alone.
	turn int
	last *fetched
	from *tail
	err  error // fatal; what other partitions have comes no more
}

// Receive waits for the next data file of a partition that this consumer has
// in its group.
func (c *Consumer) Receive(ctx context.Context) ([]queue.Delivery, error) {
	if c.from != nil {
		c.from.recycle(c.last)
		c.from, c.last = nil, nil
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		select {
		case <-c.closed:
			return nil, queue.ErrClosed
		default:
		}
		if c.err != nil {
			return nil, c.err
		}
		var f *fetched
		var from *tail
		if f, from, c.err = c.take(); c.err != nil {
			return nil, c.err
		}
		if f != nil {
			c.last, c.from = f, from
			f.trace.Set(queue.StageDeliver, time.Duration(c.q.cfg.Clock.Now()-f.readyAt))
			if c.cfg.Trace != nil {
				c.callback.Lock()
				c.cfg.Trace(f.trace)
				c.callback.Unlock()
			}
			return f.deliveries, nil
		}
		select {
		case <-c.wake:
		case <-c.closed:
		case <-ctx.Done():
		}
	}
}

// take asks the tails in turn. The group's lock makes sure that a tail is
// asked by its owner only.
func (c *Consumer) take() (*fetched, *tail, error) {
	c.g.mu.Lock()
	defer c.g.mu.Unlock()
	for i := range c.g.tails {
		k := (c.turn + i) % len(c.g.tails)
		t := c.g.tails[k]
		if t.owner != c {
			continue
		}
		f, err := t.take()
		if f != nil || err != nil {
			c.turn = k + 1
			return f, t, err
		}
	}
	return nil, nil, nil
}

func (c *Consumer) event(e queue.Event) {
	if c.cfg.Event != nil {
		c.callback.Lock()
		defer c.callback.Unlock()
		c.cfg.Event(e)
	}
}

// Close leaves the group. With the last consumer the group's tails end, and
// Close waits for them.
func (c *Consumer) Close() error {
	c.close.Do(func() {
		close(c.closed)
		c.q.mu.Lock()
		others := c.g.leave(c)
		if !others {
			delete(c.q.groups, c.cfg.Group)
		}
		c.q.mu.Unlock()
		if !others {
			c.g.cancel()
			c.g.wg.Wait()
		}
	})
	return nil
}
