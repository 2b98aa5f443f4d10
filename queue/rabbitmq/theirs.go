package rabbitmq

import (
	"errors"
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Place is a queue or an exchange that is there already and is somebody else's. It
// is neither made nor emptied nor removed.
type Place struct {
	// Queue is published to through the default exchange and consumed from: what a
	// consumer gets of it, whoever sent it, is gone.
	Queue string
	// Exchange is published to under Key, and read through queues of our own, bound
	// to it under Binding for as long as we are there: its other queues get all that
	// they would get without us.
	Exchange, Key, Binding string
	// WriteOnly says that nobody consumes here: nothing is bound to the exchange, and
	// the queue may have messages and consumers.
	WriteOnly bool
	// Untouched refuses a queue that has messages or consumers, which would mix with
	// ours, when Create is called.
	Untouched bool
}

func (p Place) none() bool { return p.Queue == "" && p.Exchange == "" }

// what names it in a sentence.
func (p Place) what() string {
	if p.Queue != "" {
		return "the queue " + p.Queue
	}
	return "the exchange " + p.Exchange
}

func (p Place) check(c Config) error {
	switch {
	case p.none():
	case p.Queue != "" && p.Exchange != "":
		return fmt.Errorf("rabbitmq: the queue %s and the exchange %s: name one", p.Queue, p.Exchange)
	case c.Partitions > 1:
		return fmt.Errorf("rabbitmq: %d partitions: %s is one", c.Partitions, p.what())
	case p.Queue != "" && !p.WriteOnly && len(c.Groups) > 1:
		return fmt.Errorf("rabbitmq: %d groups of consumers on the queue %s: each message goes to one of them only, so name an exchange, to which each has a queue of its own", len(c.Groups), p.Queue)
	}
	return nil
}

// find looks for what is somebody else's.
func (q *Queue) find(conn *amqp.Connection) error {
	ch, err := conn.Channel()
	if err != nil {
		return fmt.Errorf("rabbitmq: opening a channel: %w", err)
	}
	defer ch.Close()
	p := q.cfg.Theirs
	if p.Exchange != "" {
		err = ch.ExchangeDeclarePassive(p.Exchange, "direct", true, false, false, false, nil) // the server compares the name only
		return p.missing(err)
	}
	state, err := ch.QueueDeclarePassive(p.Queue, true, false, false, false, nil)
	if err != nil {
		return p.missing(err)
	}
	if p.Untouched && state.Messages+state.Consumers > 0 {
		return fmt.Errorf("rabbitmq: the queue %s has %d messages and %d consumers: a run on it would take the messages, and share its own with the consumers: name an empty one that nobody reads, or an exchange", p.Queue, state.Messages, state.Consumers)
	}
	return nil
}

// missing explains why what is somebody else's cannot be used; nil for no error.
func (p Place) missing(err error) error {
	if err == nil {
		return nil
	}
	var reply *amqp.Error
	if errors.As(err, &reply) && reply.Code == amqp.NotFound {
		return fmt.Errorf("rabbitmq: there is no %s: %w; it must be there before the run begins", p.what()[len("the "):], err)
	}
	return fmt.Errorf("rabbitmq: looking for %s: %w", p.what(), err)
}

// to is where a message of a partition is published.
func (q *Queue) to(partition int32) (exchange, key string) {
	switch p := &q.cfg.Theirs; {
	case p.Queue != "":
		return "", p.Queue
	case p.Exchange != "":
		return p.Exchange, p.Key
	}
	return q.cfg.Name, q.keys[partition]
}

// binding is from where, and under which key, a queue of ours gets a partition's
// messages.
func (q *Queue) binding(partition int) (exchange, key string) {
	if p := &q.cfg.Theirs; p.Exchange != "" {
		return p.Exchange, p.Binding
	}
	return q.cfg.Name, q.keys[partition]
}
