package redisstreams

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"queuebench/queue"
	"queuebench/queue/broker"
)

// Queue is a set of streams. It implements queue.Queue.
type Queue struct {
	cfg    Config
	opts   *redis.Options
	client *redis.Client
	info   queue.Info
	keys   []string // of the streams
	marker string   // the key that says whose they are

	mu      sync.Mutex
	handles broker.Handles
	joined  map[string]bool // groups that this process made or moved
	end     string          // of an existing stream when Create was called; empty for its beginning
}

// silent takes what the library would print to standard error: each failure comes
// as an error, too.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// silence is the library's only way, for the whole process.
var silence = sync.OnceFunc(func() { redis.SetLogger(silent{}) })

// New connects to the server and asks how it keeps its data; it makes nothing
// there.
func New(ctx context.Context, cfg Config) (*Queue, error) {
	cfg = cfg.withDefaults()
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if cfg.Name == "" {
		return nil, errors.New("redis: the keys need a prefix, and Name is empty")
	}
	opts, err := redis.ParseURL(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("redis: the address: %w", err)
	}
	if opts.TLSConfig != nil || cfg.Identity.Encrypted() {
		host := opts.TLSConfig
		if opts.TLSConfig, err = cfg.Identity.TLSConfig(true); err != nil {
			return nil, err
		}
		if opts.TLSConfig.ServerName = strings.Split(opts.Addr, ":")[0]; host != nil {
			opts.TLSConfig.ServerName = host.ServerName
		}
	}
	opts.Username, opts.Password = cfg.Identity.User, cfg.Identity.Password.Reveal()
	opts.Protocol, opts.MaxRetries, opts.PoolSize, opts.ClientName = 2, -1, 1, "queuebench"
	opts.DialerRetries = 1
	silence()
	opts.ReadTimeout = cfg.Timeout + cfg.WaitTimeout + time.Second
	q := &Queue{cfg: cfg, opts: opts, client: redis.NewClient(opts), marker: cfg.Name + ":owner", joined: map[string]bool{}}
	if cfg.Existing {
		q.keys = []string{cfg.Name}
	}
	for k := range cfg.Partitions - len(q.keys) {
		q.keys = append(q.keys, cfg.Name+":"+strconv.Itoa(k))
	}
	if err := q.client.Ping(ctx).Err(); err != nil {
		q.client.Close()
		return nil, fmt.Errorf("redis at %s: %w", opts.Addr, err)
	}
	q.info = q.ask(ctx)
	return q, nil
}

// dial is a client for one producer or consumer, with a connection of its own.
func (q *Queue) dial() *redis.Client {
	opts := *q.opts
	return redis.NewClient(&opts)
}

// Info says what the server was set to when the queue was opened.
func (q *Queue) Info() queue.Info { return q.info }

// Create makes the name ours. Streams of it that a queue like this made are
// removed first; others are refused.
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
	if !ours {
		n, err := q.client.Exists(ctx, q.keys...).Result()
		if err != nil {
			return fmt.Errorf("redis: looking for streams of %s: %w", q.cfg.Name, err)
		}
		if n > 0 {
			return fmt.Errorf("redis: there are %d keys of the name %s that Queuebench did not make, and which it does not touch: choose another run id", n, q.cfg.Name)
		}
	}
	if _, err := q.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.Unlink(ctx, q.keys...)
		p.Set(ctx, q.marker, q.cfg.Name, 0)
		return nil
	}); err != nil {
		return fmt.Errorf("redis: creating %s: %w", q.cfg.Name, err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.joined)
	return nil
}

// passOver notes where a stream of somebody else's ends: its groups begin there.
func (q *Queue) passOver(ctx context.Context) error {
	info, err := q.client.XInfoStream(ctx, q.cfg.Name).Result()
	if err != nil {
		return fmt.Errorf("redis: the stream %s: %w; it must be there before the run begins, such as by XADD", q.cfg.Name, err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.end = info.LastGeneratedID
	clear(q.joined)
	return nil
}

// leave removes the groups that this process made on a stream of somebody else's.
func (q *Queue) leave(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for group := range q.joined {
		if err := q.client.XGroupDestroy(ctx, q.cfg.Name, group).Err(); err != nil {
			return fmt.Errorf("redis: removing group %s of the stream %s: %w", group, q.cfg.Name, err)
		}
		delete(q.joined, group)
	}
	return nil
}

// exists says whether the name is ours, or its stream somebody else's that we may
// use.
func (q *Queue) exists(ctx context.Context) (bool, error) {
	if q.cfg.Existing {
		return true, nil
	}
	owner, err := q.client.Get(ctx, q.marker).Result()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("redis: looking for %s: %w", q.marker, err)
	}
	if owner != q.cfg.Name {
		return false, fmt.Errorf("redis: the key %s is not of Queuebench, which does not touch it: choose another run id", q.marker)
	}
	return true, nil
}

// Remove deletes the streams.
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
	if err := q.client.Unlink(ctx, append([]string{q.marker}, q.keys...)...).Err(); err != nil {
		return fmt.Errorf("redis: removing %s: %w", q.cfg.Name, err)
	}
	return nil
}

// Close closes the producers and consumers that are open.
func (q *Queue) Close() error {
	first, err := q.handles.Close()
	if !first {
		return err
	}
	return errors.Join(err, q.client.Close())
}
