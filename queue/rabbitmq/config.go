// Package rabbitmq is RabbitMQ as a queue under test, over AMQP 0-9-1: an
// exchange, a queue for each group and partition bound to it, publishing with
// confirms, and consumers that compete for a queue's messages.
//
// It publishes no message a second time by itself: what a broken connection
// leaves without a confirm has failed. It never touches an exchange that it did
// not make. What a group did not ask for when it was published is gone, as
// always with RabbitMQ: there are no offsets to begin at.
//
// Of a queue or an exchange that is there already (Config.Theirs) it makes and
// removes nothing but queues of its own that it binds to the exchange.
package rabbitmq

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"queuebench/internal/secret"
	"queuebench/queue/broker"
)

// Type is the kind of queue that the server makes.
type Type string

// The types.
const (
	Quorum  Type = "quorum"  // replicated, always on disk
	Classic Type = "classic" // on one server
)

// Config says where the server is, and how it keeps its queues.
type Config struct {
	// URL is the server: amqp://host:5672/vhost, or amqps:// for TLS.
	URL      string
	Identity broker.Identity // guest, guest if empty, which a server takes from its own host only

	// Name is the exchange's, and the prefix of the queues, which go on with a dot.
	Name       string
	Partitions int // 1 if 0
	// Theirs is what is there already and takes the place of the exchange; zero for
	// none. It is one partition.
	Theirs Place
	// Groups have their queues from Create on. Without any, the first group that
	// opens gets all since Create, and others what is published after they open.
	Groups []string

	Type Type // Quorum if empty
	// Transient leaves messages of a classic queue in memory.
	Transient bool
	// Replicas of a quorum queue at its start; 0 for the server's choice.
	Replicas int
	// Unconfirmed takes a message for acknowledged once the socket has it.
	Unconfirmed bool
	// Stamp gives each message the time of its publishing, in seconds.
	Stamp bool

	// MaxPending bounds the messages of a producer without a confirm; 10,000 if 0.
	MaxPending int
	// ConfirmTimeout is how long the server may confirm none of the messages that a
	// channel has published, 10 s if 0, times apart in which it says that it takes
	// none. Then they have failed, and the connection is opened again: a quorum queue
	// that had no leader when they came may never confirm them.
	ConfirmTimeout time.Duration
	// AutoAck makes the server take what it sent for delivered.
	AutoAck bool
	// Prefetch bounds what a consumer of a partition has without an
	// acknowledgement; 1,000 if 0.
	Prefetch int
	// ReceiveMax is how many messages one Receive returns at most; 1,024 if 0.
	ReceiveMax int
}

func (c Config) withDefaults() Config {
	c.Partitions = cmp.Or(c.Partitions, 1)
	c.MaxPending = cmp.Or(c.MaxPending, 10_000)
	c.ConfirmTimeout = cmp.Or(c.ConfirmTimeout, 10*time.Second)
	c.Prefetch = cmp.Or(c.Prefetch, 1000)
	c.ReceiveMax = cmp.Or(c.ReceiveMax, 1024)
	c.Type = cmp.Or(c.Type, Quorum)
	if c.Identity.User == "" && c.Identity.Password.IsZero() {
		c.Identity.User, c.Identity.Password = "guest", secret.Of("guest")
	}
	return c
}

// maxPrefetch is what the protocol can say.
const maxPrefetch = 65535

// Check says what is wrong with the settings, the name apart.
func (c Config) Check() error {
	c = c.withDefaults()
	if err := broker.Positive("rabbitmq", map[string]int{"Partitions": c.Partitions, "MaxPending": c.MaxPending, "Prefetch": c.Prefetch, "ReceiveMax": c.ReceiveMax}); err != nil {
		return err
	}
	switch {
	case c.URL == "":
		return errors.New("rabbitmq: no server is named, such as amqp://127.0.0.1:5672/")
	case c.Type != Quorum && c.Type != Classic:
		return fmt.Errorf("rabbitmq: a queue of type %q is neither quorum nor classic", c.Type)
	case c.Transient && c.Type == Quorum:
		return errors.New("rabbitmq: a quorum queue keeps every message on disk: leave transient out, or take a classic queue")
	case c.Replicas < 0 || c.Replicas > 0 && c.Type == Classic:
		return fmt.Errorf("rabbitmq: %d replicas: only a quorum queue has them, at least 1", c.Replicas)
	case c.Prefetch > maxPrefetch:
		return fmt.Errorf("rabbitmq: Prefetch %d is more than %d", c.Prefetch, maxPrefetch)
	case c.ConfirmTimeout < time.Millisecond:
		return fmt.Errorf("rabbitmq: ConfirmTimeout %v is not at least a millisecond", c.ConfirmTimeout)
	}
	return c.Theirs.check(c)
}

// unused is after how long without a consumer the server removes a queue of
// ours that nobody removed.
const unused = 24 * time.Hour
