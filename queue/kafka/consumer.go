package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"queuebench/queue"
)

// pollMost is how many messages one Receive returns at most.
const pollMost = 10_000

// Consumer reads the topic.
type Consumer struct {
	q      *Queue
	cfg    queue.ConsumerConfig
	hooks  *hooks
	closed chan struct{}
	once   sync.Once

	// Made by begin, which waits for a topic that is not there yet.
	begun   bool
	client  *kgo.Client
	member  *member  // of a group; nil for a static reader
	static  *static  // nil for a member of a group
	backlog *backlog // nil where none bounds it

	batch deliveries
	err   trouble
	diffs diffs

	keeping sync.WaitGroup // what runs beside
	cancel  context.CancelFunc
}

// Consumer opens a consumer. Where it starts is decided before it returns; a
// topic that the other half of a run is to create is waited for by Receive.
func (q *Queue) Consumer(ctx context.Context, cfg queue.ConsumerConfig) (queue.Consumer, error) {
	if q.isClosed() {
		return nil, errClosed
	}
	c := &Consumer{q: q, cfg: cfg, hooks: newHooks(cfg.Trace, cfg.Event), closed: make(chan struct{})}
	c.diffs.understood = q.cfg.Diffs
	if cfg.Start.Kind == queue.StartEarliest {
		c.cfg.Start = q.cfg.Start
	}
	if q.cfg.Reading == Static {
		c.static = &static{c: c, index: q.reader(cfg.Group)}
	} else {
		c.member = q.enter(c)
	}
	err := c.begin(ctx)
	if errors.Is(err, kerr.UnknownTopicOrPartition) && !q.cfg.Existing {
		err = nil
		if c.cfg.Start.Kind == queue.StartLatest {
			c.cfg.Start.Kind = queue.StartEarliest // all of it will be new
		}
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	q.mu.Lock()
	closed := q.closed
	q.consumers = append(q.consumers, c)
	q.mu.Unlock()
	if closed {
		c.Close()
		return nil, errClosed
	}
	return c, nil
}

// begin makes the client, once the topic is there.
func (c *Consumer) begin(ctx context.Context) error {
	if c.begun || c.static != nil { // a static reader begins with its first Receive
		return nil
	}
	if _, err := c.q.detail(ctx); err != nil && !kerr.IsRetriable(err) || errors.Is(err, kerr.UnknownTopicOrPartition) {
		return err
	}
	if err := c.member.starts(ctx); err != nil {
		return err
	}
	s := &c.q.cfg.Settings
	return c.open(append(s.Consumer.options(), c.member.options(&s.Consumer)...))
}

// open makes the client and what runs beside it.
func (c *Consumer) open(opts []kgo.Opt) error {
	common, err := c.q.cfg.Settings.common(nil, c.hooks)
	if err != nil {
		return err
	}
	if most := c.q.cfg.MaxBacklog; most > 0 {
		c.backlog = newBacklog(c, most) // a member may be told of its partitions before the client is made
	}
	ctx, cancel := context.WithCancel(context.Background())
	if c.client, err = kgo.NewClient(append(append(common, opts...), kgo.WithContext(ctx))...); err != nil {
		cancel()
		return fmt.Errorf("kafka: %w", err)
	}
	c.cancel, c.begun = cancel, true
	if c.backlog != nil {
		c.keeping.Go(func() { c.backlog.pump(ctx) })
	}
	if c.member != nil {
		c.keeping.Go(func() { c.member.keep(ctx) })
	}
	return nil
}

// Receive waits for the next batch.
func (c *Consumer) Receive(ctx context.Context) ([]queue.Delivery, error) {
	for {
		select {
		case <-c.closed:
			return nil, errClosed
		default:
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !c.begun {
			if err := c.beginLate(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if c.member != nil {
			c.member.commitBatch(ctx)
		}
		if c.static != nil && c.static.done() {
			return nil, queue.ErrEnd
		}
		c.batch.reset()
		var err error
		if c.backlog != nil {
			err = c.backlog.take(ctx, &c.batch)
		} else {
			err = c.poll(ctx, &c.batch)
		}
		if len(c.batch.all) > 0 {
			return c.batch.all, nil
		}
		if err != nil {
			return nil, c.ended(ctx, err)
		}
	}
}

// beginLate waits for the topic: it is not known how long its producer takes.
func (c *Consumer) beginLate(ctx context.Context) error {
	err := error(nil)
	if c.static != nil {
		err = c.static.begin(ctx)
	} else {
		err = c.begin(ctx)
	}
	if err == nil {
		return nil
	}
	if errors.Is(err, kerr.UnknownTopicOrPartition) && !c.q.cfg.Existing {
		if c.wait(ctx, retryPause) {
			return nil
		}
	}
	return c.ended(ctx, err)
}

// ended is what Receive returns for an error.
func (c *Consumer) ended(ctx context.Context, err error) error {
	select {
	case <-c.closed:
		return errClosed
	default:
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// wait pauses, unless it is closed or cancelled meanwhile.
func (c *Consumer) wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.closed:
	case <-ctx.Done():
	}
	return false
}

// poll asks the client for records until there are some. What it takes is
// delivered: the group's position moves before a rebalance can.
func (c *Consumer) poll(ctx context.Context, into *deliveries) error {
	for {
		fetches := c.client.PollRecords(ctx, pollMost)
		if c.member != nil {
			c.member.lock()
		}
		into.take(fetches, c)
		if c.member != nil {
			c.member.unlock()
			c.client.AllowRebalance()
		}
		if len(into.all) > 0 {
			c.err.passed()
			return nil
		}
		err := c.trouble(ctx, fetches)
		if err != nil {
			return err
		}
		if c.static != nil && c.static.done() {
			return queue.ErrEnd
		}
	}
}

// Close leaves the group, with the position committed, and releases the client.
func (c *Consumer) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.hooks.close()
		if c.client != nil {
			// A broker that does not answer must not hold up the end.
			timer := time.AfterFunc(closeLimit, c.cancel)
			if c.backlog != nil {
				c.backlog.stop()
			}
			c.client.CloseAllowingRebalance()
			timer.Stop()
			c.cancel()
			c.keeping.Wait()
		}
		c.diffs.tell(c.hooks.event)
		if c.member != nil {
			c.member.leave()
		}
		forget(c.q, &c.q.consumers, c)
	})
	return nil
}
