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
	marker string   // an empty queue whose name says that the exchange is ours
	keys   []string // of the partitions, by which they are bound to the exchange

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
	for k := range cfg.Partitions {
		q.keys = append(q.keys, strconv.Itoa(k))
	}
	conn, err := q.dial(ctx, "queue")
	if err != nil {
		return nil, err
	}
	defer conn.hangUp()
	version, _ := conn.Properties["version"].(string)
	q.info = cfg.describe(version)
	return q, nil
}

// link is a connection that can be left whatever the server does.
type link struct {
	*amqp.Connection
	socket net.Conn
}

// goodbye is how long a server may take to close a connection.
const goodbye = 500 * time.Millisecond

// hangUp closes a connection, of which the server hears if it answers. What waits for
// it ends.
func (l *link) hangUp() {
	// Whatever the server sends meanwhile, a heartbeat say, makes the library give it
	// more time to answer.
	late := time.AfterFunc(goodbye+goodbye/2, func() { l.socket.Close() })
	defer late.Stop()
	l.CloseDeadline(time.Now().Add(goodbye))
}

// during runs f, which waits for answers of the server at most as long as the context
// lasts. The connection is gone if it has ended before.
func (l *link) during(ctx context.Context, f func() error) error {
	stop := context.AfterFunc(ctx, l.hangUp)
	defer stop()
	return errors.Join(f(), ctx.Err())
}

// dial opens a connection within the context's time.
func (q *Queue) dial(ctx context.Context, name string) (*link, error) {
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
	var socket net.Conn
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
			socket = c
			return c, err
		},
	})
	if err != nil {
		return nil, fmt.Errorf("rabbitmq: connecting to %s as %s: %w", q.cfg.URL, q.cfg.Identity.User, err)
	}
	return &link{conn, socket}, nil
}

// Info says what the queues were given.
func (q *Queue) Info() queue.Info { return q.info }

// queueName is the queue of a partition; group is what group gives.
func (q *Queue) queueName(group string, partition int) string {
	if q.cfg.Theirs.Queue != "" {
		return q.cfg.Theirs.Queue
	}
	return q.cfg.Name + "." + group + "." + strconv.Itoa(partition)
}

// Create makes the exchange and the queues of the groups that are known. What a
// queue like this made before is removed first; an exchange of others is refused,
// unless it is Config.Theirs.
func (q *Queue) Create(ctx context.Context) error {
	if q.handles.Closed() {
		return queue.ErrClosed
	}
	return q.with(ctx, func(conn *amqp.Connection) error {
		theirs := &q.cfg.Theirs
		if !theirs.none() {
			if err := q.find(conn); err != nil || !q.makes() {
				return err
			}
		}
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
		if theirs.none() {
			if err := ch.ExchangeDeclare(q.cfg.Name, "direct", true, false, false, false, nil); err != nil {
				return fmt.Errorf("rabbitmq: creating exchange %s: %w", q.cfg.Name, err)
			}
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

// makes says that the queue has queues of its own on the server.
func (q *Queue) makes() bool { return q.cfg.Theirs.Queue == "" && !q.cfg.Theirs.WriteOnly }

// with runs f over a connection of its own.
func (q *Queue) with(ctx context.Context, f func(*amqp.Connection) error) error {
	conn, err := q.dial(ctx, "queue")
	if err != nil {
		return err
	}
	defer conn.hangUp()
	return conn.during(ctx, func() error { return f(conn.Connection) })
}

// Close closes the producers and consumers that are open.
func (q *Queue) Close() error {
	_, err := q.handles.Close()
	return err
}
