package memory

import (
	"context"
	"sort"
	"time"

	"queuebench/queue"
)

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
		if wait < 0 {
			continue
		}
		if err := waitFor(ctx, c.closed, c.wake, c.timer, wait); err != nil {
			return nil, err
		}
	}
}

// take returns what can be received now, or after how long to ask again: 0 for
// when there is something new, negative for at once.
func (c *Consumer) take() ([]queue.Delivery, time.Duration, error) {
	c.taking.Lock()
	defer c.taking.Unlock()
	k, now, wait, err := c.grab()
	c.wakes.all()
	if err != nil || len(c.spans) == 0 {
		return nil, wait, err
	}
	c.batch, c.headers = c.batch[:0], c.headers[:0]
	for i := range c.spans {
		c.read(k, &c.spans[i])
	}
	if c.q.cfg.Faults.ServiceTime > 0 {
		c.busy = now + int64(len(c.batch))*int64(c.q.cfg.Faults.ServiceTime)
	}
	return c.batch, -1, nil
}

// grab moves the cursor of a partition over what can be received now, and keeps
// where it lies.
func (c *Consumer) grab() (partition int, now int64, wait time.Duration, err error) {
	q := c.q
	c.spans = c.spans[:0]
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-c.closed:
		return 0, 0, 0, queue.ErrClosed
	default:
	}
	c.letGo()
	now = q.now()
	if wait := max(q.frozen(now), time.Duration(c.busy-now)); wait > 0 {
		return 0, now, wait, nil
	}
	g := q.groups[c.cfg.Group]
	for i := range g.cursors {
		k := (c.turn + i) % len(g.cursors)
		if g.cursors[k].owner != c {
			continue
		}
		from := g.cursors[k].next
		later := c.advance(g.cursors[k], now)
		if len(c.spans) > 0 {
			c.turn = k + 1
			c.holding, c.heldFrom = k, from
			q.partitions[k].holders = append(q.partitions[k].holders, c)
			q.producersWait(&c.wakes)
			return k, now, 0, nil
		}
		if later > 0 && (wait == 0 || later < wait) {
			wait = later
		}
	}
	c.waiting = true
	return 0, now, wait, nil
}

// advance moves a cursor over what can be received; later is when its next
// message can, 0 if it has none.
func (c *Consumer) advance(cur *cursor, now int64) (later time.Duration) {
	for room := c.q.cfg.ReceiveMax; room > 0 && cur.seg != nil; {
		i := int(cur.next - cur.seg.first)
		slots := cur.seg.slots[i:]
		if len(slots) == 0 {
			if cur.seg.next == nil {
				return 0
			}
			cur.seg = cur.seg.next
			continue
		}
		slots = slots[:min(len(slots), room)]
		if delay := int64(c.q.cfg.Faults.Delay); delay > 0 {
			n := sort.Search(len(slots), func(i int) bool { return slots[i].at+delay > now })
			if n == 0 {
				return time.Duration(slots[0].at + delay - now)
			}
			slots = slots[:n]
		}
		s := span{first: cur.next, data: cur.seg.data, slots: slots, headers: cur.seg.headers}
		if i > 0 {
			s.before = cur.seg.slots[i-1]
		}
		cur.read += int64(slots[len(slots)-1].end - s.before.end)
		cur.next += int64(len(slots))
		room -= len(slots)
		if skip := cur.from - s.first; skip > 0 { // it is before the group's start
			n := min(skip, int64(len(slots)))
			s.first, s.slots, s.before = s.first+n, slots[n:], slots[n-1]
		}
		c.spans = append(c.spans, s)
	}
	return 0
}

// read adds the messages of a span to the batch.
func (c *Consumer) read(k int, s *span) {
	before := &s.before
	for i := range s.slots {
		m := &s.slots[i]
		if !m.dropped {
			d := queue.Delivery{Payload: s.data[m.key:m.body:m.body], Partition: int32(k), Offset: s.first + int64(i)}
			if m.hasKey {
				d.Key = s.data[before.end:m.key:m.key]
			}
			if m.headers > before.headers {
				d.Headers = c.headersOf(s, before, m)
			}
			if c.q.stampBase != 0 {
				d.BrokerNs, d.BrokerKind = c.q.stampBase+m.at, "append"
			}
			c.batch = append(c.batch, d)
			if m.twice {
				c.batch = append(c.batch, d)
			}
		}
		before = m
	}
}

// headersOf are the headers of a message, in the consumer's memory.
func (c *Consumer) headersOf(s *span, before, m *slot) []queue.Header {
	begin, first := int(m.body), len(c.headers)
	for _, h := range s.headers[before.headers:m.headers] {
		c.headers = append(c.headers, queue.Header{Name: h.name, Value: s.data[begin:h.end:h.end]})
		begin = h.end
	}
	return c.headers[first:len(c.headers):len(c.headers)]
}
