// Package deltalake is a Delta Lake table as a queue under test: an
// append-only writer and a tailing reader over object storage.
//
// A batch is two PUTs: a Parquet file of messages, and then the next version of the log, which
// names it, with If-None-Match. A reader polls for the next version and
// fetches what it names. The rules are those of the Delta transaction protocol
// (PROTOCOL.md of delta-io/delta); docs/delta.md explains the design.
//
// The package refuses a store whose conditional PUT does not hold, a table
// that needs features it has not, and any table under a tail that changes by
// more than appends. It never skips a version, a gap or a file, never lists on
// the way of a message, never deletes but in Create and Remove, and has no
// unsafe mode.
package deltalake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"queuebench/objectstore"
	"queuebench/queue"
)

// Queue is one table, or one per partition.
type Queue struct {
	cfg    Config
	tables []*table

	probeMu sync.Mutex
	isFit   bool

	// opening is held while writers are opened or closed, which takes
	// requests; it guards writers. mu guards the rest and is never held long.
	opening   sync.Mutex
	writers   []*writer // nil while no producer is open
	mu        sync.Mutex
	closed    bool
	producers []*Producer
	groups    map[string]*group

	retractions atomic.Int64
}

// New makes a queue. It sends nothing yet.
func New(cfg Config) (*Queue, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	q := &Queue{cfg: cfg, groups: map[string]*group{}}
	for k := range cfg.Partitions {
		name := cfg.Name
		if cfg.Partitions > 1 {
			name = fmt.Sprintf("%s/p=%d", cfg.Name, k)
		}
		q.tables = append(q.tables, &table{cfg: &q.cfg, store: cfg.Store.Sub(name + "/"), name: name, partition: int32(k)})
	}
	return q, nil
}

// Info describes the queue.
func (q *Queue) Info() queue.Info {
	return queue.Info{
		Kind: "delta", Partitions: q.cfg.Partitions, LosesNothing: true, DeliversOnce: true,
		Durability: q.cfg.Store.Durability(), CommitInterval: q.cfg.CommitInterval,
	}
}

// probeTries is how often a store is asked that was busy when it was.
const probeTries = 5

// probed asks once whether the store is fit for commits.
func (q *Queue) probed(ctx context.Context) error {
	q.mu.Lock()
	closed := q.closed
	q.mu.Unlock()
	if closed {
		return queue.ErrClosed
	}
	q.probeMu.Lock()
	defer q.probeMu.Unlock()
	if q.isFit {
		return nil
	}
	for try := 0; ; try++ {
		err := q.probe(ctx)
		if err == nil {
			q.isFit = true
			return nil
		}
		busy := errors.Is(err, objectstore.ErrThrottled) || errors.Is(err, objectstore.ErrConflict)
		if !busy || try == probeTries-1 {
			return fmt.Errorf("deltalake: %w", err)
		}
		if err := sleep(ctx, backoff(5+try)); err != nil {
			return err
		}
	}
}

// Create removes what lies under the table's name. The first producer creates
// the table; consumers wait for it.
func (q *Queue) Create(ctx context.Context) error {
	if err := q.mayWrite(); err != nil {
		return err
	}
	if err := q.probed(ctx); err != nil {
		return err
	}
	return q.Remove(ctx)
}

// Remove deletes the tables. It refuses to while a producer is open.
func (q *Queue) Remove(ctx context.Context) error {
	if err := q.mayWrite(); err != nil {
		return err
	}
	q.mu.Lock()
	closed, producers := q.closed, len(q.producers)
	q.mu.Unlock()
	switch {
	case closed:
		return queue.ErrClosed
	case producers > 0:
		return fmt.Errorf("deltalake: table %s cannot be removed while %d producers write to it: close them first", q.cfg.Name, producers)
	}
	if _, err := objectstore.RemoveAll(ctx, q.cfg.Store, q.cfg.Name+"/"); err != nil {
		return fmt.Errorf("deltalake: remove table %s: %w", q.cfg.Name, err)
	}
	return nil
}

// attach gives a producer the writers, and opens them if it is the first.
func (q *Queue) attach(ctx context.Context, p *Producer) error {
	q.opening.Lock()
	defer q.opening.Unlock()
	if q.writers == nil {
		ws := make([]*writer, len(q.tables))
		errs := make([]error, len(q.tables))
		var wg sync.WaitGroup
		for i, t := range q.tables {
			wg.Go(func() { ws[i], errs[i] = openWriter(ctx, t) })
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			for _, w := range ws {
				if w != nil {
					w.close()
				}
			}
			return err
		}
		q.writers = ws
	}
	p.writers, p.in = q.writers, make([]int64, len(q.writers))
	for i, w := range q.writers {
		var err error
		if p.in[i], err = w.join(ctx, p); err != nil {
			q.leave(p)
			return err
		}
	}
	q.mu.Lock()
	closed := q.closed
	if !closed {
		q.producers = append(q.producers, p)
	}
	q.mu.Unlock()
	if closed {
		q.leave(p)
		return queue.ErrClosed
	}
	return nil
}

// detach takes a closed producer from the writers; the last one ends them.
func (q *Queue) detach(p *Producer) {
	q.opening.Lock()
	defer q.opening.Unlock()
	q.mu.Lock()
	q.producers = slices.DeleteFunc(q.producers, func(o *Producer) bool { return o == p })
	q.mu.Unlock()
	q.leave(p)
}

// leave takes a producer from the writers. opening is held.
func (q *Queue) leave(p *Producer) {
	for _, w := range p.writers {
		w.mu.Lock()
		w.refs = slices.DeleteFunc(w.refs, func(o *Producer) bool { return o == p })
		w.mu.Unlock()
	}
	q.mu.Lock()
	last := len(q.producers) == 0
	q.mu.Unlock()
	if last {
		q.closeWriters()
	}
}

func (q *Queue) closeWriters() {
	for _, w := range q.writers {
		w.close()
	}
	q.writers = nil
}

// Close closes the producers and consumers that are open.
func (q *Queue) Close() error {
	q.mu.Lock()
	q.closed = true
	producers := slices.Clone(q.producers)
	var consumers []*Consumer
	for _, g := range q.groups {
		consumers = append(consumers, g.members...)
	}
	q.mu.Unlock()
	var wg sync.WaitGroup
	for _, p := range producers {
		wg.Go(func() { p.Close() })
	}
	for _, c := range consumers {
		wg.Go(func() { c.Close() })
	}
	wg.Wait()
	return nil
}
