package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"queuebench/queue"
)

// open joins the group over a connection of its own, and subscribes.
func (c *Consumer) open(ctx context.Context) (conn *link, streams []stream, err error) {
	if conn, err = c.q.dial(ctx, fmt.Sprintf("consumer-%d", c.cfg.ID)); err != nil {
		return nil, nil, err
	}
	if err = conn.during(ctx, func() (err error) {
		if c.q.makes() { // else it is there, or consuming says so
			if err = c.join(ctx, conn.Connection); err != nil {
				return err
			}
		}
		streams, err = c.consume(conn.Connection)
		return err
	}); err != nil {
		conn.hangUp()
		return nil, nil, err
	}
	return conn, streams, nil
}

// join waits for the exchange and makes the group's queues.
func (c *Consumer) join(ctx context.Context, conn *amqp.Connection) error {
	for {
		there, ours, err := c.q.exists(conn)
		switch {
		case err != nil:
			return err
		case there && ours:
			c.group, err = c.q.group(conn, c.cfg)
			return err
		case there && c.q.cfg.Theirs.none():
			return fmt.Errorf("rabbitmq: the exchange %s is not one that Queuebench made", c.q.cfg.Name)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("rabbitmq: waiting for exchange %s: %w", c.q.cfg.Name, ctx.Err())
		}
	}
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
func (c *Consumer) work(conn *link, streams []stream) {
	for {
		why := c.pass(conn, streams)
		conn.hangUp()
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
			err = conn.during(c.ctx, func() (err error) {
				streams, err = c.consume(conn.Connection)
				return err
			})
			if err == nil {
				c.event("reconnected", c.q.cfg.URL)
				break
			}
			conn.hangUp()
			var reply *amqp.Error
			if errors.As(err, &reply) && reply.Code == amqp.NotFound {
				c.inbox.Fail(err) // the queue is gone, and what was in it
				return
			}
		}
	}
}

// pass returns when the connection, or a subscription, has ended.
func (c *Consumer) pass(conn *link, streams []stream) error {
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
	conn.hangUp()
	passing.Wait()
	return why
}
