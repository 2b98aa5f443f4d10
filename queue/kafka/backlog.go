package kafka

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"queuebench/queue"
)

// backlog holds records that were fetched and not received, up to a bound, at
// which the partitions are paused. The client goes on polling meanwhile, so that
// its group sees it alive and a rebalance is served.
type backlog struct {
	c    *Consumer
	most int

	mu      sync.Mutex
	records []*kgo.Record // in the order in which they came
	err     error
	arrived chan struct{} // told when there are records, or an error
	left    chan struct{} // told when there is room
}

func newBacklog(c *Consumer, most int) *backlog {
	return &backlog{c: c, most: most, arrived: make(chan struct{}, 1), left: make(chan struct{}, 1)}
}

// pump polls into the backlog until the consumer is closed.
func (b *backlog) pump(ctx context.Context) {
	for {
		room := b.room()
		if room == 0 {
			if !b.full(ctx) {
				return
			}
			continue
		}
		fetches := b.c.client.PollRecords(ctx, min(room, pollMost))
		n := b.store(fetches)
		if b.c.member != nil {
			b.c.client.AllowRebalance()
		}
		if n > 0 {
			b.c.err.passed()
			signal(b.arrived)
			continue
		}
		if err := b.c.trouble(ctx, fetches); err != nil {
			b.mu.Lock()
			b.err = err
			b.mu.Unlock()
			signal(b.arrived)
			return
		}
	}
}

func (b *backlog) room() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(0, b.most-len(b.records))
}

func (b *backlog) store(fetches kgo.Fetches) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fetches.EachRecord(func(r *kgo.Record) {
		b.records = append(b.records, r)
		n++
	})
	return n
}

// full pauses the partitions until half of the backlog is received. It is false
// when the consumer is closed.
func (b *backlog) full(ctx context.Context) bool {
	topic := b.c.q.cfg.Topic
	b.c.client.PauseFetchTopics(topic)
	start := time.Now()
	defer func() {
		b.c.client.ResumeFetchTopics(topic)
		b.c.hooks.event(queue.Event{Kind: "paused", Took: time.Since(start), Text: fmt.Sprintf("a backlog of %d messages was full: the partitions were paused until half of it was received", b.most)})
	}()
	for {
		select {
		case <-b.left:
		case <-ctx.Done():
			return false
		case <-b.c.closed:
			return false
		}
		if b.room() >= b.most-b.most/2 {
			return true
		}
	}
}

// take moves records into a batch, and the position behind them.
func (b *backlog) take(ctx context.Context, into *deliveries) error {
	for {
		b.mu.Lock()
		n, err := min(len(b.records), pollMost), b.err
		if b.c.member != nil {
			b.c.member.lock()
		}
		for _, r := range b.records[:n] {
			if b.c.static != nil && b.c.static.beyond(r.Partition, r.Offset) {
				continue
			}
			if !r.Attrs.IsControl() && b.c.diffs.isMessage(r) {
				into.add(r)
			}
			b.c.moved(r.Partition, r)
		}
		into.records = append(into.records, b.records[:n]...)
		if b.c.member != nil {
			b.c.member.unlock()
		}
		b.records = slices.Delete(b.records, 0, n)
		b.mu.Unlock()
		if n > 0 {
			signal(b.left)
		}
		if len(into.all) > 0 {
			return nil
		}
		if b.c.static != nil && b.c.static.done() {
			return queue.ErrEnd
		}
		if n > 0 {
			continue
		}
		if err != nil {
			return err
		}
		select {
		case <-b.arrived:
		case <-b.c.closed:
			return errClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// drop forgets records of partitions that another reads from now on.
func (b *backlog) drop(gone []int32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.records = slices.DeleteFunc(b.records, func(r *kgo.Record) bool { return slices.Contains(gone, r.Partition) })
	signal(b.left)
}

// stop ends the pump's waiting.
func (b *backlog) stop() { signal(b.left) }
