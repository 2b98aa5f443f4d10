package rabbitmq

import (
	"context"
	"errors"
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"

	"queuebench/queue"
)

// declare makes the queues of a group and binds them. Made again with the same
// settings they stay as they are.
func (q *Queue) declare(ch *amqp.Channel, group string) error {
	args := amqp.Table{"x-queue-type": string(q.cfg.Type), "x-expires": unused.Milliseconds()}
	if q.cfg.Replicas > 0 {
		args["x-quorum-initial-group-size"] = int64(q.cfg.Replicas)
	}
	for k := range q.cfg.Partitions {
		name := q.queueName(group, k)
		if _, err := ch.QueueDeclare(name, true, false, false, false, args); err != nil {
			return fmt.Errorf("rabbitmq: creating queue %s: %w", name, err)
		}
		exchange, key := q.binding(k)
		if err := ch.QueueBind(name, key, exchange, false, nil); err != nil {
			return fmt.Errorf("rabbitmq: binding queue %s to exchange %s: %w", name, exchange, err)
		}
	}
	return nil
}

// exists says whether the exchange is there, or need not be, and whether the name is
// ours.
func (q *Queue) exists(conn *amqp.Connection) (there, ours bool, err error) {
	look := func(f func(*amqp.Channel) error) (bool, error) {
		ch, err := conn.Channel()
		if err != nil {
			return false, err
		}
		defer ch.Close()
		var reply *amqp.Error
		switch err := f(ch); {
		case err == nil:
			return true, nil
		case errors.As(err, &reply) && reply.Code == amqp.NotFound:
			return false, nil
		default:
			return false, err
		}
	}
	if there = !q.cfg.Theirs.none(); !there {
		there, err = look(func(ch *amqp.Channel) error {
			return ch.ExchangeDeclarePassive(q.cfg.Name, "direct", true, false, false, false, nil)
		})
	}
	if err == nil {
		ours, err = look(func(ch *amqp.Channel) error {
			_, err := ch.QueueDeclarePassive(q.marker, true, false, false, false, nil)
			return err
		})
	}
	if err != nil {
		err = fmt.Errorf("rabbitmq: looking for exchange %s: %w", q.cfg.Name, err)
	}
	return there, ours, err
}

// remove deletes what is ours.
func (q *Queue) remove(conn *amqp.Connection) error {
	there, ours, err := q.exists(conn)
	switch {
	case err != nil:
		return err
	case there && !ours && q.cfg.Theirs.none():
		return fmt.Errorf("rabbitmq: there is an exchange %s that Queuebench did not make, and which it does not touch: choose another run id", q.cfg.Name)
	case !ours:
		return nil
	}
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	for _, g := range q.known() {
		for k := range q.cfg.Partitions {
			if _, err := ch.QueueDelete(q.queueName(g, k), false, false, false); err != nil {
				return fmt.Errorf("rabbitmq: removing queue %s: %w", q.queueName(g, k), err)
			}
		}
	}
	if err := ch.ExchangeDelete(q.cfg.Name, false, false); err != nil {
		return fmt.Errorf("rabbitmq: removing exchange %s: %w", q.cfg.Name, err)
	}
	_, err = ch.QueueDelete(q.marker, false, false, false)
	return err
}

// known are the groups whose queues this process has made, or Create has.
func (q *Queue) known() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := append([]string{firstGroup}, q.cfg.Groups...)
	for _, g := range q.groups {
		all = append(all, g)
	}
	return all
}

// Remove deletes the exchange and the queues that are ours.
func (q *Queue) Remove(ctx context.Context) error {
	if q.handles.Closed() {
		return queue.ErrClosed
	}
	if !q.makes() {
		return nil
	}
	return q.with(ctx, func(conn *amqp.Connection) error {
		_, ours, err := q.exists(conn)
		if err != nil || !ours {
			return err
		}
		return q.remove(conn)
	})
}
