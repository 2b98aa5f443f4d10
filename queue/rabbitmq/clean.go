package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"slices"

	amqp "github.com/rabbitmq/amqp091-go"
)

// cleanGroups is how many groups of consumers RemoveExchanges looks for.
const cleanGroups = 64

// RemoveExchanges removes those of the named exchanges that a queue like this made,
// with their queues of the groups group-0 to group-63, and returns their number. cfg
// says where the server is. The protocol cannot list anything, so each name is asked
// for: a message that must find a queue comes back where the name's marker is not
// there.
func RemoveExchanges(ctx context.Context, cfg Config, names []string) (int, error) {
	cfg.Name, cfg.Groups, cfg.Partitions = "queuebench-clean", nil, 1 // of nothing: it is not created
	for g := range cleanGroups {
		cfg.Groups = append(cfg.Groups, fmt.Sprintf("group-%d", g))
	}
	q, err := New(ctx, cfg)
	if err != nil {
		return 0, err
	}
	defer q.Close()
	n := 0
	err = q.with(ctx, func(conn *amqp.Connection) error {
		found, err := present(ctx, conn, "", names, ".owner")
		if err != nil {
			return err
		}
		for _, name := range found {
			q.cfg.Name, q.marker = name, name+".owner"
			if q.cfg.Partitions, err = q.bound(ctx, conn); err != nil {
				return err
			}
			if err := q.remove(conn); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n, err
}

// bound is one more than the number of partitions whose queues are bound to the
// exchange, at least 1: one may have been created and not bound.
func (q *Queue) bound(ctx context.Context, conn *amqp.Connection) (int, error) {
	there, _, err := q.exists(conn)
	if err != nil || !there {
		return 1, err
	}
	keys := make([]string, maxPartitions)
	for k := range keys {
		keys[k] = fmt.Sprint(k)
	}
	found, err := present(ctx, conn, q.cfg.Name, keys, "")
	return len(found) + 1, err
}

// maxPartitions is the most that a run has.
const maxPartitions = 1024

// probes is how many questions are under way at once.
const probes = 1000

// present returns the keys under which a message to an exchange finds a queue; the
// suffix goes behind each.
func present(ctx context.Context, conn *amqp.Connection, exchange string, keys []string, suffix string) (found []string, err error) {
	ch, err := conn.Channel()
	if err != nil {
		return nil, fmt.Errorf("rabbitmq: opening a channel: %w", err)
	}
	defer ch.Close()
	if err := ch.Confirm(false); err != nil {
		return nil, fmt.Errorf("rabbitmq: asking for confirms: %w", err)
	}
	returns := ch.NotifyReturn(make(chan amqp.Return, probes))
	confirms := ch.NotifyPublish(make(chan amqp.Confirmation, probes))
	for some := range slices.Chunk(keys, probes) {
		for _, key := range some {
			if err := ch.PublishWithContext(ctx, exchange, key+suffix, true, false, amqp.Publishing{}); err != nil {
				return nil, fmt.Errorf("rabbitmq: asking for %s: %w", key, err)
			}
		}
		missing := map[string]bool{}
		for range some { // what comes back does so before its confirm
			select {
			case _, ok := <-confirms:
				if !ok {
					return nil, errors.New("rabbitmq: the server ended the channel while it was asked what is there")
				}
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		for more := true; more; {
			select {
			case r := <-returns:
				missing[r.RoutingKey] = true
			default:
				more = false
			}
		}
		for _, key := range some {
			if !missing[key+suffix] {
				found = append(found, key)
			}
		}
	}
	return found, nil
}
