package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"queuebench/queue"
	"queuebench/queue/broker"
)

// Queue is an exchange and its queues. It implements queue.Queue.
type Queue struct {
	cfg    Config
	info   queue.Info
	marker string // an empty queue whose name says that the exchange is ours

	mu      sync.Mutex
	handles broker.Handles
	groups  map[string]string // group → the prefix of its queues
	first   bool              // the queues of the first group are free
}

// firstGroup stands for the first group that opens, where none is named.
const firstGroup = "-first"

// New asks the server for its version; it makes nothing there.
func New(ctx context.Context, cfg Config) (*Queue, error) {
	cfg = cfg.withDefaults()
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if cfg.Name == "" || len(cfg.Name) > 150 {
		return nil, fmt.Errorf("rabbitmq: the name %q: it has 1 to 150 bytes", cfg.Name)
	}
	q := &Queue{cfg: cfg, marker: cfg.Name + ".owner", groups: map[string]string{}, first: len(cfg.Groups) == 0}
	conn, err := q.dial(ctx, "queue")
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	version, _ := conn.Properties["version"].(string)
	q.info = cfg.describe(version)
	return q, nil
}

// dial opens a connection within the context's time.
func (q *Queue) dial(ctx context.Context, name string) (*amqp.Connection, error) {
	tlsConfig, err := q.cfg.Identity.TLSConfig(strings.HasPrefix(q.cfg.URL, "amqps://"))
	if err != nil {
		return nil, err
	}
	url := q.cfg.URL
	if tlsConfig != nil {
		url = "amqps://" + strings.TrimPrefix(strings.TrimPrefix(url, "amqps://"), "amqp://")
	}
	if uri, err := amqp.ParseURI(url); err == nil && tlsConfig != nil {
		tlsConfig.ServerName = uri.Host
	}
	timeout := 10 * time.Second
	if deadline, ok := ctx.Deadline(); ok {
		timeout = max(time.Millisecond, min(timeout, time.Until(deadline)))
	}
	conn, err := amqp.DialConfig(url, amqp.Config{
		SASL:            []amqp.Authentication{&amqp.PlainAuth{Username: q.cfg.Identity.User, Password: q.cfg.Identity.Password.Reveal()}},
		TLSClientConfig: tlsConfig, Heartbeat: 10 * time.Second,
		Properties: amqp.Table{"connection_name": "queuebench " + q.cfg.Name + " " + name},
		Dial: func(network, addr string) (net.Conn, error) {
			d := net.Dialer{Timeout: timeout}
			c, err := d.DialContext(ctx, network, addr)
			if err == nil {
				err = c.SetDeadline(time.Now().Add(timeout)) // of the handshake; the library lifts it
			}
			return c, err
		},
	})
	if err != nil {
		return nil, fmt.Errorf("rabbitmq: connecting to %s as %s: %w", q.cfg.URL, q.cfg.Identity.User, err)
	}
	return conn, nil
}

// Info says what the queues were given.
func (q *Queue) Info() queue.Info { return q.info }

// queueName is the queue of a partition; group is what names gives.
func (q *Queue) queueName(group string, partition int) string {
	return q.cfg.Name + "." + group + "." + strconv.Itoa(partition)
}

// Create makes the exchange and the queues of the groups that are known. What a
// queue like this made before is removed first; an exchange of others is refused.
func (q *Queue) Create(ctx context.Context) error {
	if q.handles.Closed() {
		return queue.ErrClosed
	}
	return q.with(ctx, func(conn *amqp.Connection) error {
		if err := q.remove(conn); err != nil {
			return err
		}
		ch, err := conn.Channel()
		if err != nil {
			return err
		}
		// The marker first, so that what follows is known to be ours.
		if _, err := ch.QueueDeclare(q.marker, true, false, false, false, amqp.Table{"x-expires": unused.Milliseconds()}); err != nil {
			return fmt.Errorf("rabbitmq: creating %s: %w", q.marker, err)
		}
		if err := ch.ExchangeDeclare(q.cfg.Name, "direct", true, false, false, false, nil); err != nil {
			return fmt.Errorf("rabbitmq: creating exchange %s: %w", q.cfg.Name, err)
		}
		groups := q.cfg.Groups
		if len(groups) == 0 {
			groups = []string{firstGroup}
		}
		for _, g := range groups {
			if err := q.declare(ch, g); err != nil {
				return err
			}
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		clear(q.groups)
		q.first = len(q.cfg.Groups) == 0
		return nil
	})
}

// with runs f over a connection of its own.
func (q *Queue) with(ctx context.Context, f func(*amqp.Connection) error) error {
	conn, err := q.dial(ctx, "queue")
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	return errors.Join(f(conn), ctx.Err(), closed(conn.Close()))
}

// closed takes away the error of closing what is closed.
func closed(err error) error {
	if errors.Is(err, amqp.ErrClosed) {
		return nil
	}
	return err
}

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
		if err := ch.QueueBind(name, strconv.Itoa(k), q.cfg.Name, false, nil); err != nil {
			return fmt.Errorf("rabbitmq: binding queue %s: %w", name, err)
		}
	}
	return nil
}

// exists says whether the exchange is there, and whether it is ours.
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
	there, err = look(func(ch *amqp.Channel) error {
		return ch.ExchangeDeclarePassive(q.cfg.Name, "direct", true, false, false, false, nil)
	})
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
	case there && !ours:
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

// Remove deletes the exchange and the queues.
func (q *Queue) Remove(ctx context.Context) error {
	if q.handles.Closed() {
		return queue.ErrClosed
	}
	return q.with(ctx, func(conn *amqp.Connection) error {
		_, ours, err := q.exists(conn)
		if err != nil || !ours {
			return err
		}
		return q.remove(conn)
	})
}

// Close closes the producers and consumers that are open.
func (q *Queue) Close() error {
	_, err := q.handles.Close()
	return err
}
