package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"queuebench/internal/secret"
	"queuebench/queue"
	"queuebench/queue/broker"
)

// Queue is a stream. It implements queue.Queue.
type Queue struct {
	cfg        Config
	conn       *nats.Conn
	js         jetstream.JetStream
	durability string
	caveat     string // why a stream of somebody else's may lose messages nevertheless; empty for none

	mu      sync.Mutex
	handles broker.Handles
	joined  map[string]bool // groups that this process made or found
	next    uint64          // of an existing stream: the first message that is of concern
}

// ownerKey is the stream's metadata by which its maker knows it again.
const ownerKey = "queuebench"

// partitionsKey is where that metadata has the number of partitions.
const partitionsKey = "queuebench-partitions"

// New connects to the server; it makes nothing there.
func New(ctx context.Context, cfg Config) (*Queue, error) {
	cfg = cfg.withDefaults()
	if err := errors.Join(cfg.Check(), checkName(cfg.Name)); err != nil {
		return nil, err
	}
	q := &Queue{cfg: cfg, joined: map[string]bool{}}
	var err error
	if q.conn, err = q.connect(ctx, "queue", nil); err != nil {
		return nil, err
	}
	if q.js, err = jetstream.New(q.conn); err == nil {
		_, err = q.js.AccountInfo(ctx)
	}
	if err != nil {
		q.conn.Close()
		return nil, fmt.Errorf("jetstream at %s: %w (is JetStream enabled there, -js?)", q.conn.ConnectedUrlRedacted(), err)
	}
	if cfg.Existing {
		if err := q.adopt(ctx); err != nil {
			q.conn.Close()
			return nil, err
		}
	}
	q.durability = q.cfg.durability(q.conn.ConnectedServerVersion(), cfg.fileSync(ctx), q.caveat)
	return q, nil
}

// connect opens a connection, which is opened again whenever it breaks. Event
// may be nil.
func (q *Queue) connect(ctx context.Context, name string, event func(queue.Event)) (*nats.Conn, error) {
	tell := func(kind, text string) {
		if event != nil {
			event(queue.Event{Kind: kind, Text: text})
		}
	}
	tlsConfig, err := q.cfg.tls()
	if err != nil {
		return nil, err
	}
	opts := []nats.Option{
		nats.Name("queuebench " + q.cfg.Name + " " + name),
		nats.MaxReconnects(-1), nats.ReconnectWait(200 * time.Millisecond), nats.ReconnectJitter(0, 0),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // nil: closed by us
				tell("disconnected", err.Error())
			}
		}),
		nats.ReconnectHandler(func(c *nats.Conn) { tell("reconnected", c.ConnectedUrlRedacted()) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { tell("error", err.Error()) }),
		nats.LameDuckModeHandler(func(*nats.Conn) { tell("throttled", "the server shuts down: lame duck mode") }),
	}
	if tlsConfig != nil {
		opts = append(opts, nats.Secure(tlsConfig))
	}
	if q.cfg.Identity.User != "" {
		opts = append(opts, nats.UserInfo(q.cfg.Identity.User, q.cfg.Identity.Password.Reveal()))
	}
	if !q.cfg.Token.IsZero() {
		opts = append(opts, nats.Token(q.cfg.Token.Reveal()))
	}
	if q.cfg.CredsFile != "" {
		if err := secret.CheckFile(q.cfg.CredsFile); err != nil {
			return nil, fmt.Errorf("jetstream: %w", err)
		}
		opts = append(opts, nats.UserCredentials(q.cfg.CredsFile))
	}
	if deadline, ok := ctx.Deadline(); ok {
		opts = append(opts, nats.Timeout(max(time.Millisecond, min(5*time.Second, time.Until(deadline)))))
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, err := nats.Connect(q.cfg.URL, opts...)
	if err != nil {
		return nil, fmt.Errorf("jetstream: connecting to %s: %w", q.cfg.URL, err)
	}
	return c, nil
}

// Info says what the stream was given.
func (q *Queue) Info() queue.Info {
	return queue.Info{
		Kind: "nats", Partitions: q.cfg.Partitions, Durability: q.durability, Headers: true,
		DeliversOnce: q.cfg.Acks == AckNone,
		LosesNothing: q.cfg.Storage == File && !q.cfg.Async && q.cfg.Acks != AckNone && q.caveat == "",
	}
}

// Create makes the stream. One of its name is removed first if a queue like this
// made it, and is refused otherwise.
func (q *Queue) Create(ctx context.Context) error {
	if q.handles.Closed() {
		return queue.ErrClosed
	}
	if q.cfg.Existing {
		return q.passOver(ctx)
	}
	ours, err := q.exists(ctx)
	if err != nil {
		return err
	}
	if ours {
		if err := q.js.DeleteStream(ctx, q.cfg.Name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			return fmt.Errorf("jetstream: removing stream %s of an earlier run: %w", q.cfg.Name, err)
		}
	}
	cfg := jetstream.StreamConfig{
		Name: q.cfg.Name, Description: "made by queuebench for a run, and removed after it",
		Subjects: []string{q.cfg.Name + ".*"}, Storage: jetstream.FileStorage, Replicas: q.cfg.Replicas,
		Metadata: map[string]string{ownerKey: q.cfg.Name, partitionsKey: strconv.Itoa(q.cfg.Partitions)},
	}
	if q.cfg.Storage == Memory {
		cfg.Storage = jetstream.MemoryStorage
	}
	if q.cfg.Async {
		cfg.PersistMode = jetstream.AsyncPersistMode
	}
	if _, err := q.js.CreateStream(ctx, cfg); err != nil {
		return fmt.Errorf("jetstream: creating stream %s: %w", q.cfg.Name, err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.joined)
	return nil
}

// exists says whether there is a stream of that name that a queue like this
// made. One that was not is an error.
func (q *Queue) exists(ctx context.Context) (bool, error) {
	s, err := q.js.Stream(ctx, q.cfg.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("jetstream: looking for stream %s: %w", q.cfg.Name, err)
	}
	if s.CachedInfo().Config.Metadata[ownerKey] != q.cfg.Name {
		return false, fmt.Errorf("jetstream: there is a stream %s that Queuebench did not make, and which it does not touch: choose another run id", q.cfg.Name)
	}
	return true, nil
}

// Remove deletes the stream, its messages and its consumers.
func (q *Queue) Remove(ctx context.Context) error {
	if q.handles.Closed() {
		return queue.ErrClosed
	}
	if q.cfg.Existing {
		return q.leave(ctx)
	}
	ours, err := q.exists(ctx)
	if err != nil || !ours {
		return err
	}
	if err := q.js.DeleteStream(ctx, q.cfg.Name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("jetstream: removing stream %s: %w", q.cfg.Name, err)
	}
	return nil
}

// Close closes the producers and consumers that are open.
func (q *Queue) Close() error {
	_, err := q.handles.Close()
	q.conn.Close()
	return err
}
