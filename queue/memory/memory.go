// Package memory is a queue inside the process: the floor that shows what the
// runner itself costs, and a queue for tests that can be made to misbehave on
// purpose.
//
// It is bounded, keeps no more than its slowest group has to read (unless it
// is told to retain), and allocates nothing per message once it is warm. It
// refuses to be a result: its Info says that it is an in-process floor.
package memory

import (
	"context"
	"hash/maphash"
	"math"
	"slices"
	"sync"
	"time"

	"queuebench/queue"
)

// Queue is a queue in memory.
type Queue struct {
	cfg Config
	// epoch is what the times in slots count from.
	epoch time.Time
	// stampBase is epoch on the clock of the run, ns; 0 for no stamps.
	stampBase int64
	// seed makes equal keys of all producers fall into the same partition.
	seed maphash.Seed

	mu         sync.Mutex
	closed     bool
	partitions []*partition
	groups     map[string]*group
	producers  []*Producer
	count      int64 // messages taken since Create, for the faults
	firstSend  int64 // since epoch, ns; notYet until there was one
}

const notYet = math.MinInt64

// now is the time since the epoch, ns.
func (q *Queue) now() int64 { return int64(time.Since(q.epoch)) }

// group is the consumers that share the messages.
type group struct {
	cursors []*cursor // one per partition
	members []*Consumer
}

// New makes a queue. It refuses a negative setting.
func New(cfg Config) (*Queue, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	q := &Queue{cfg: cfg, seed: maphash.MakeSeed(), epoch: time.Now(), groups: map[string]*group{}}
	if cfg.Clock != nil {
		q.stampBase = cfg.Clock.Now() - int64(time.Since(q.epoch))
	}
	q.empty()
	return q, nil
}

func (q *Queue) empty() {
	q.partitions = make([]*partition, q.cfg.Partitions)
	for i := range q.partitions {
		q.partitions[i] = &partition{}
	}
	q.count, q.firstSend = 0, notYet
}

// Info describes the queue.
func (q *Queue) Info() queue.Info {
	return queue.Info{
		Kind: "memory", Partitions: q.cfg.Partitions, InProcess: true, LosesNothing: true, DeliversOnce: true, Headers: true, Keys: true,
		Durability: "An acknowledged message is in the memory of this process and is gone when the process ends.",
	}
}

// Create empties the queue. Consumers that are open start at the beginning
// again.
func (q *Queue) Create(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var waiting wakes
	defer waiting.all()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return queue.ErrClosed
	}
	q.empty()
	for _, g := range q.groups {
		for i, c := range g.cursors {
			*c = cursor{owner: c.owner}
			q.partitions[i].cursors = append(q.partitions[i].cursors, c)
		}
		for _, m := range g.members {
			m.holding = -1
		}
	}
	q.producersWait(&waiting)
	return nil
}

// Remove empties the queue.
func (q *Queue) Remove(ctx context.Context) error { return q.Create(ctx) }

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
	for _, p := range producers {
		p.Close()
	}
	for _, c := range consumers {
		c.Close()
	}
	return nil
}

// frozen is how long the queue still stands still at now, 0 if it does not.
// The lock is held.
func (q *Queue) frozen(now int64) time.Duration {
	if q.firstSend == notYet {
		return 0
	}
	var left time.Duration
	for _, f := range q.cfg.Faults.Freezes {
		if from := q.firstSend + int64(f.After); now >= from {
			left = max(left, time.Duration(from-now)+f.For)
		}
	}
	return left
}

// wakes are those to be woken once the lock is free, so that they find it so.
type wakes []chan struct{}

func (w *wakes) all() {
	for _, ch := range *w {
		wake(ch)
	}
	*w = (*w)[:0]
}

// producersWait adds the producers that wait for room. The lock is held.
func (q *Queue) producersWait(w *wakes) {
	for _, p := range q.producers {
		if p.waiting {
			p.waiting = false
			*w = append(*w, p.wake)
		}
	}
}

// consumersWait adds the owners of a partition that wait for it. The lock is
// held.
func (q *Queue) consumersWait(p *partition, w *wakes) {
	for _, c := range p.cursors {
		if c.owner != nil && c.owner.waiting {
			c.owner.waiting = false
			*w = append(*w, c.owner.wake)
		}
	}
}

func wake(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
