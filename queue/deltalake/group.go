package deltalake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"queuebench/queue"
)

// group is the consumers that share the messages, and a tail for each table.
type group struct {
	q      *Queue
	tails  []*tail
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex // guards the owners of tails, and members
	members []*Consumer
}

// Consumer opens a consumer. The first of a group decides where the group
// starts; a partition has one consumer of the group at a time; with the last
// consumer the group is forgotten.
func (q *Queue) Consumer(ctx context.Context, cfg queue.ConsumerConfig) (queue.Consumer, error) {
	if err := q.probed(ctx); err != nil {
		return nil, err
	}
	c := &Consumer{q: q, cfg: cfg, wake: make(chan struct{}, 1), closed: make(chan struct{})}
	q.mu.Lock()
	g := q.groups[cfg.Group]
	q.mu.Unlock()
	var fresh *group
	if g == nil {
		var err error
		if fresh, err = q.newGroup(ctx, cfg.Start); err != nil {
			return nil, err
		}
	}
	members, err := q.enter(ctx, c, fresh)
	if err != nil {
		return nil, err
	}
	if tables := len(q.tables); members > tables {
		c.event(queue.Event{Kind: "idle", Text: fmt.Sprintf("group %q has %d consumers for %d partitions: consumer %d gets nothing", cfg.Group, members, tables, cfg.ID)})
	}
	return c, nil
}

// enter puts a consumer into its group, or into a fresh one, and returns how
// many members it has.
func (q *Queue) enter(ctx context.Context, c *Consumer, fresh *group) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return 0, queue.ErrClosed
	}
	g := q.groups[c.cfg.Group]
	if g == nil {
		if g = fresh; g == nil { // the last member left meanwhile
			return 0, fmt.Errorf("deltalake: the group %q was being closed, open the consumer again", c.cfg.Group)
		}
		q.groups[c.cfg.Group] = g
	}
	c.g = g
	members := g.join(c)
	if g == fresh {
		g.start(ctx)
	}
	return members, nil
}

func (q *Queue) newGroup(ctx context.Context, s queue.Start) (*group, error) {
	g := &group{q: q, tails: make([]*tail, len(q.tables))}
	errs := make([]error, len(q.tables))
	var wg sync.WaitGroup
	for i, t := range q.tables {
		wg.Go(func() {
			version, notBefore, err := t.start(ctx, s)
			if err != nil {
				errs[i] = fmt.Errorf("deltalake: table %s: %w", t.name, err)
				return
			}
			g.tails[i] = newTail(t, g, version, notBefore)
		})
	}
	wg.Wait()
	return g, errors.Join(errs...)
}

func (g *group) start(ctx context.Context) {
	ctx, g.cancel = context.WithCancel(context.WithoutCancel(ctx))
	for _, t := range g.tails {
		g.wg.Go(func() { t.run(ctx) })
	}
}

func (g *group) join(c *Consumer) (members int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members = append(g.members, c)
	g.assign()
	return len(g.members)
}

// leave hands the partitions to the other members. It returns false if there
// are none.
func (g *group) leave(c *Consumer) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members = slices.DeleteFunc(g.members, func(o *Consumer) bool { return o == c })
	if len(g.members) == 0 {
		return false
	}
	g.assign()
	return true
}

// assign shares the tails out in turn. The lock is held.
func (g *group) assign() {
	for i, t := range g.tails {
		t.owner = g.members[i%len(g.members)]
		wake(t.owner.wake)
	}
}

func (g *group) wakeOwner(t *tail) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t.owner != nil {
		wake(t.owner.wake)
	}
}

func (g *group) event(t *tail, kind, text string) {
	g.mu.Lock()
	c := t.owner
	g.mu.Unlock()
	if c != nil {
		c.event(queue.Event{Kind: kind, Text: fmt.Sprintf("partition %d: %s", t.t.partition, text)})
	}
}
