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

	// Guarded by the queue's lock.
	waiting  bool
	holding  int   // partition in which the last batch lies, −1 for none
	heldFrom int64 // its first offset
	turn     int   // partition that is asked first
	busy     time.Time
	batch    []queue.Delivery
	headers  []queue.Header // of the batch
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

// Receive waits for messages of a partition that the group gave to this
// consumer.
func (c *Consumer) Receive(ctx context.Context) ([]queue.Delivery, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		batch, wait, err := c.take()
		if err != nil || len(batch) > 0 {
			return batch, err
		}
		if err := waitFor(ctx, c.closed, c.wake, c.timer, wait); err != nil {
			return nil, err
		}
	}
}

// take returns what can be received now, or after how long to ask again (0:
// when there is something new).
func (c *Consumer) take() ([]queue.Delivery, time.Duration, error) {
	q := c.q
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-c.closed:
		return nil, 0, queue.ErrClosed
	default:
	}
	c.letGo()
	now := time.Now()
	if wait := max(q.frozen(now), c.busy.Sub(now)); wait > 0 {
		return nil, wait, nil
	}
	var wait time.Duration
	g := q.groups[c.cfg.Group]
	for i := range g.cursors {
		k := (c.turn + i) % len(g.cursors)
		if g.cursors[k].owner != c {
			continue
		}
		batch, later := c.read(k, g.cursors[k], int64(now.Sub(q.epoch)))
		if len(batch) > 0 {
			c.turn = k + 1
			c.busy = now.Add(time.Duration(len(batch)) * q.cfg.Faults.ServiceTime)
			return batch, 0, nil
		}
		if later > 0 && (wait == 0 || later < wait) {
			wait = later
		}
	}
	c.waiting = true
	return nil, wait, nil
}

// read takes messages from a partition; later is when its next message can be
// received, 0 if it has none.
func (c *Consumer) read(k int, cur *cursor, now int64) (batch []queue.Delivery, later time.Duration) {
	q := c.q
	c.batch, c.headers = c.batch[:0], c.headers[:0]
	from := cur.next
	for len(c.batch) < q.cfg.ReceiveMax {
		if cur.seg == nil {
			break
		}
		i := int(cur.next - cur.seg.first)
		if i == len(cur.seg.slots) {
			if cur.seg.next == nil {
				break
			}
			cur.seg = cur.seg.next
			continue
		}
		s := &cur.seg.slots[i]
		if left := s.at + int64(q.cfg.Faults.Delay) - now; left > 0 {
			later = time.Duration(left)
			break
		}
		begin := 0
		if i > 0 {
			begin = cur.seg.slots[i-1].end
		}
		if !s.dropped && cur.next >= cur.from {
			d := queue.Delivery{Payload: cur.seg.data[s.key:s.body:s.body], Headers: c.headersOf(cur.seg, i), Partition: int32(k), Offset: cur.next}
			if s.hasKey {
				d.Key = cur.seg.data[begin:s.key:s.key]
			}
			if q.stampBase != 0 {
				d.BrokerNs, d.BrokerKind = q.stampBase+s.at, "append"
			}
			c.batch = append(c.batch, d)
			if s.twice {
				c.batch = append(c.batch, d)
			}
		}
		cur.read += int64(s.end - begin)
		cur.next++
	}
	p := q.partitions[k]
	if cur.next > from {
		q.wakeProducers()
	}
	if len(c.batch) == 0 {
		return nil, later
	}
	c.holding, c.heldFrom = k, from
	p.holders = append(p.holders, c)
	return c.batch, 0
}

// headersOf are the headers of message i of a segment, in the consumer's memory.
func (c *Consumer) headersOf(seg *segment, i int) []queue.Header {
	from := 0
	if i > 0 {
		from = seg.slots[i-1].headers
	}
	s := &seg.slots[i]
	if from == s.headers {
		return nil
	}
	begin, first := s.body, len(c.headers)
	for _, h := range seg.headers[from:s.headers] {
		c.headers = append(c.headers, queue.Header{Name: h.name, Value: seg.data[begin:h.end:h.end]})
		begin = h.end
	}
	return c.headers[first:len(c.headers):len(c.headers)]
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
