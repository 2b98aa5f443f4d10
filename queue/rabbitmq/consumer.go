package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

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
	conn, err := c.join(ctx)
	if err != nil {
		c.cancel()
		return nil, err
	}
	streams, err := c.consume(conn)
	if err != nil {
		c.cancel()
		conn.Close()
		return nil, err
	}
	c.working.Go(func() { c.work(conn, streams) })
	if !q.handles.Keep(c) {
		c.Close()
		return nil, queue.ErrClosed
	}
	return c, nil
}

// join waits for the exchange and makes the group's queues.
func (c *Consumer) join(ctx context.Context) (*amqp.Connection, error) {
	conn, err := c.q.dial(ctx, fmt.Sprintf("consumer-%d", c.cfg.ID))
	if err != nil {
		return nil, err
	}
	for {
		there, ours, err := c.q.exists(conn)
		if err == nil && there && ours {
			break
		}
		if err == nil && there {
			err = fmt.Errorf("rabbitmq: the exchange %s is not one that Queuebench made", c.q.cfg.Name)
		}
		if err != nil {
			conn.Close()
			return nil, err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			conn.Close()
			return nil, fmt.Errorf("rabbitmq: waiting for exchange %s: %w", c.q.cfg.Name, ctx.Err())
		}
	}
	if c.group, err = c.q.group(conn, c.cfg); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// group names the queues of a group, and makes them where they are not there.
func (q *Queue) group(conn *amqp.Connection, cfg queue.ConsumerConfig) (string, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if name, ok := q.groups[cfg.Group]; ok {
		return name, nil
	}
	name := cfg.Group
	if q.first {
		name = firstGroup
	}
	ch, err := conn.Channel()
	if err != nil {
		return "", err
	}
	defer ch.Close()
	if err := q.declare(ch, name); err != nil {
		return "", err
	}
	if cfg.Start.Kind == queue.StartLatest {
		for k := range q.cfg.Partitions {
			if _, err := ch.QueuePurge(q.queueName(name, k), false); err != nil {
				return "", fmt.Errorf("rabbitmq: beginning at the latest: %w", err)
			}
		}
	}
	q.first = false
	q.groups[cfg.Group] = name
	return name, nil
}

// stream is what comes of a partition.
type stream struct {
	ch *amqp.Channel
	in <-chan amqp.Delivery
}

// consume subscribes to the queue of each partition.
func (c *Consumer) consume(conn *amqp.Connection) ([]stream, error) {
	var all []stream
	for k := range c.q.cfg.Partitions {
		ch, err := conn.Channel()
		if err == nil {
			err = ch.Qos(c.q.cfg.Prefetch, 0, false)
		}
		if err != nil {
			return nil, fmt.Errorf("rabbitmq: opening a channel: %w", err)
		}
		name := c.q.queueName(c.group, k)
		in, err := ch.Consume(name, "", c.q.cfg.AutoAck, false, false, false, nil)
		if err != nil {
			return nil, fmt.Errorf("rabbitmq: consuming from queue %s: %w", name, err)
		}
		all = append(all, stream{ch, in})
	}
	return all, nil
}

// work passes on what comes until the consumer is closed, over as many
// connections as it takes.
func (c *Consumer) work(conn *amqp.Connection, streams []stream) {
	for {
		why := c.pass(conn, streams)
		conn.CloseDeadline(time.Now().Add(500 * time.Millisecond))
		if c.ctx.Err() != nil {
			return
		}
		c.event("disconnected", why.Error())
		for {
			select {
			case <-time.After(100 * time.Millisecond):
			case <-c.ctx.Done():
				return
			}
			var err error
			if conn, err = c.q.dial(c.ctx, fmt.Sprintf("consumer-%d", c.cfg.ID)); err != nil {
				continue
			}
			var reply *amqp.Error
			if streams, err = c.consume(conn); errors.As(err, &reply) && reply.Code == amqp.NotFound {
				conn.Close()
				c.inbox.Fail(err) // the queue is gone, and what was in it
				return
			} else if err != nil {
				conn.Close()
				continue
			}
			c.event("reconnected", c.q.cfg.URL)
			break
		}
	}
}

// pass returns when the connection, or a subscription, has ended.
func (c *Consumer) pass(conn *amqp.Connection, streams []stream) error {
	closing := conn.NotifyClose(make(chan *amqp.Error, 1))
	ended := make(chan error, len(streams)+1)
	var passing sync.WaitGroup
	for k, s := range streams {
		closed := s.ch.NotifyClose(make(chan *amqp.Error, 1))
		passing.Go(func() {
			for d := range s.in {
				c.inbox.Put(delivery{d, s.ch, int32(k)})
			}
			err := fmt.Errorf("rabbitmq: the server ended the subscription to queue %s", c.q.queueName(c.group, k))
			select {
			case e := <-closed:
				if e != nil {
					err = e
				}
			default:
			}
			ended <- err
		})
	}
	var why error
	select {
	case e := <-closing:
		if why = amqp.ErrClosed; e != nil {
			why = e
		}
	case why = <-ended:
	case <-c.ctx.Done():
		// Close has the last word: it acknowledges over the channels first.
		c.receiving.Lock()
		c.acknowledge()
		c.receiving.Unlock()
	}
	conn.CloseDeadline(time.Now().Add(500 * time.Millisecond))
	passing.Wait()
	return why
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
