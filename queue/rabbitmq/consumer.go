package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"

	"queuebench/queue"
	"queuebench/queue/broker"
)

// Consumer is a member of a group, with a channel for each partition. A batch is
// acknowledged by the next Receive, or by Close.
type Consumer struct {
	q     *Queue
	cfg   queue.ConsumerConfig
	group string // of its queues' names
	inbox *broker.Inbox[delivery]

	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	working sync.WaitGroup
	closed  sync.Once

	receiving sync.Mutex // held by Receive
	held      []delivery
	out       []queue.Delivery
	headers   []queue.Header
	last      []delivery // of each partition, to acknowledge
}

// delivery is a message and the channel on which it came.
type delivery struct {
	amqp.Delivery
	ch        *amqp.Channel
	partition int32
}

// Consumer joins a group. Where the producers' side has made nothing yet it
// waits.
func (q *Queue) Consumer(ctx context.Context, cfg queue.ConsumerConfig) (queue.Consumer, error) {
	if q.handles.Closed() {
		return nil, queue.ErrClosed
	}
	if k := cfg.Start.Kind; k == queue.StartOffset || k == queue.StartTime {
		return nil, errors.New("rabbitmq: a queue has no offsets and no times to begin at: begin at the earliest or the latest")
	}
	c := &Consumer{q: q, cfg: cfg, inbox: broker.NewInbox[delivery](), last: make([]delivery, q.cfg.Partitions)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	conn, streams, err := c.open(ctx)
	if err != nil {
		c.cancel()
		return nil, err
	}
	c.working.Go(func() { c.work(conn, streams) })
	if !q.handles.Keep(c) {
		c.Close()
		return nil, queue.ErrClosed
	}
	return c, nil
}

func (c *Consumer) event(kind, text string) {
	if c.cfg.Event != nil {
		c.cfg.Event(queue.Event{Kind: kind, Text: text})
	}
}

// Receive returns what has come, and acknowledges what it returned before.
func (c *Consumer) Receive(ctx context.Context) ([]queue.Delivery, error) {
	c.receiving.Lock()
	defer c.receiving.Unlock()
	select {
	case <-c.inbox.Closed(): // Close has acknowledged
		return nil, queue.ErrClosed
	default:
	}
	c.acknowledge()
	batch, err := c.inbox.Take(ctx, c.q.cfg.ReceiveMax)
	if err != nil {
		return nil, err
	}
	c.held = batch
	c.out, c.headers = c.out[:0], c.headers[:0]
	again := 0
	for i := range batch {
		m := &batch[i]
		d := queue.Delivery{Payload: m.Body, Partition: m.partition, Offset: -1}
		if !m.Timestamp.IsZero() {
			d.BrokerNs, d.BrokerKind = m.Timestamp.UnixNano(), "create"
		}
		if len(m.Headers) > 0 {
			first := len(c.headers)
			if c.headers = appendHeaders(c.headers, m.Headers); len(c.headers) > first {
				d.Headers = c.headers[first:len(c.headers):len(c.headers)]
			}
		}
		if m.Redelivered {
			again++
		}
		c.out = append(c.out, d)
	}
	if again > 0 {
		c.event("redelivered", fmt.Sprintf("%d of %d messages may have been sent by the server before", again, len(batch)))
	}
	return c.out, nil
}

// acknowledge acknowledges what the last Receive returned, with one command for
// each channel. What is not acknowledged when its channel ends comes again.
func (c *Consumer) acknowledge() {
	held := c.held
	c.held = nil
	if c.q.cfg.AutoAck {
		return
	}
	clear(c.last)
	for i := range held {
		m := &held[i]
		if last := &c.last[m.partition]; last.ch != nil && last.ch != m.ch {
			c.ack(last) // of a connection that has ended, likely
		}
		c.last[m.partition] = *m
	}
	for i := range c.last {
		if c.last[i].ch != nil {
			c.ack(&c.last[i])
		}
	}
}

func (c *Consumer) ack(m *delivery) {
	if err := m.ch.Ack(m.DeliveryTag, true); err != nil && !errors.Is(err, amqp.ErrClosed) {
		c.event("retry", fmt.Sprintf("an acknowledgement was not sent, so messages will come again: %v", err))
	}
}

// Close gives back what nobody received: the server sends it to others.
func (c *Consumer) Close() error {
	c.closed.Do(func() {
		c.inbox.Close()
		c.cancel()
		c.working.Wait()
		c.q.handles.Forget(c)
	})
	return nil
}
