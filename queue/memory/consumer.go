package memory

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"queuebench/queue"
)

// Consumer takes messages out of the queue.
type Consumer struct {
	q      *Queue
	cfg    queue.ConsumerConfig
	wake   chan struct{}
	closed chan struct{}
	once   sync.Once
	timer  *time.Timer

	// taking is held while a batch is made, which needs not hold up the queue,
	// so that Close does not give its memory away. It guards what follows.
	taking  sync.Mutex
	busy    int64 // until then it serves the last batch, ns since the epoch
	spans   []span
	batch   []queue.Delivery
	headers []queue.Header // of the batch
	wakes   wakes

	// Guarded by the queue's lock.
	waiting  bool
	holding  int   // partition in which the last batch lies, −1 for none
	heldFrom int64 // its first offset
	turn     int   // partition that is asked first
}

// span is messages of a segment. What it holds does not change any more.
type span struct {
	first   int64 // offset of the first message
	data    []byte
	slots   []slot
	headers []header
	before  slot // the message before the first: where that begins
}

// Consumer opens a consumer. The first of a group decides where the group
// starts; with the last one the group is forgotten.
func (q *Queue) Consumer(ctx context.Context, cfg queue.ConsumerConfig) (queue.Consumer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c := &Consumer{q: q, cfg: cfg, wake: make(chan struct{}, 1), closed: make(chan struct{}), timer: stoppedTimer(), holding: -1}
	members, err := q.enter(c)
	if err != nil {
		return nil, err
	}
	if n := q.cfg.Partitions; members > n && cfg.Event != nil {
		cfg.Event(queue.Event{Kind: "idle", Text: fmt.Sprintf("group %q has %d consumers for %d partitions: consumer %d gets nothing", cfg.Group, members, n, cfg.ID)})
	}
	return c, nil
}

// enter puts a consumer into its group and returns how many members it has.
func (q *Queue) enter(c *Consumer) (members int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return 0, queue.ErrClosed
	}
	g := q.groups[c.cfg.Group]
	if g == nil {
		g = &group{}
		for i, p := range q.partitions {
			offset, err := q.start(p, c.cfg.Start)
			if err != nil {
				return 0, fmt.Errorf("memory: partition %d: %w", i, err)
			}
			g.cursors = append(g.cursors, p.seek(offset))
		}
		for i, p := range q.partitions {
			p.cursors = append(p.cursors, g.cursors[i])
		}
		q.groups[c.cfg.Group] = g
	}
	g.members = append(g.members, c)
	g.assign()
	return len(g.members), nil
}

// assign shares the partitions out in turn.
func (g *group) assign() {
	for i, c := range g.cursors {
		c.owner = g.members[i%len(g.members)]
		wake(c.owner.wake)
	}
}

func (q *Queue) start(p *partition, s queue.Start) (int64, error) {
	switch s.Kind {
	case queue.StartEarliest:
		return p.oldest(), nil
	case queue.StartLatest:
		return p.next, nil
	case queue.StartOffset:
		if s.Offset < p.oldest() {
			return 0, fmt.Errorf("cannot start at offset %d: the oldest that is kept is %d (set Retain to keep what was read)", s.Offset, p.oldest())
		}
		return s.Offset, nil
	case queue.StartTime:
		at := int64(s.Time.Sub(q.epoch))
		for seg := p.head; seg != nil; seg = seg.next {
			for i := range seg.slots {
				if seg.slots[i].at >= at {
					return seg.first + int64(i), nil
				}
			}
		}
		return p.next, nil
	}
	return 0, fmt.Errorf("unknown start position %d", s.Kind)
}

// letGo gives up the memory of the last batch. The lock is held.
func (c *Consumer) letGo() {
	if c.holding < 0 {
		return
	}
	p := c.q.partitions[c.holding]
	p.holders = slices.DeleteFunc(p.holders, func(o *Consumer) bool { return o == c })
	c.holding = -1
	if !c.q.cfg.Retain {
		p.release()
	}
}

// Close leaves the group; the other members take over its partitions.
func (c *Consumer) Close() error {
	c.once.Do(func() {
		c.taking.Lock()
		defer c.taking.Unlock()
		c.q.mu.Lock()
		defer c.q.mu.Unlock()
		close(c.closed)
		c.letGo()
		g := c.q.groups[c.cfg.Group]
		g.members = slices.DeleteFunc(g.members, func(o *Consumer) bool { return o == c })
		if len(g.members) > 0 {
			g.assign()
			return
		}
		delete(c.q.groups, c.cfg.Group)
		for i, p := range c.q.partitions {
			p.cursors = slices.DeleteFunc(p.cursors, func(o *cursor) bool { return o == g.cursors[i] })
		}
	})
	return nil
}
