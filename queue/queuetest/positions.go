package queuetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"queuebench/queue"
)

func (s *suite) consumerBeforeProducer(t *testing.T) {
	q := s.created(t)
	c := s.consumer(t, q, "g", earliest)
	s.quiet(t, c)
	p := s.producer(t, q, 0)
	p.sendMessages(t, 10, 10, 50, anyPartition)
	s.checkAll(t, q, s.mustCollect(t, c, 10), 0, 0, 10)
}

func (s *suite) lateConsumerGetsAll(t *testing.T) {
	q := s.created(t)
	p := s.producer(t, q, 0)
	half := s.opt.Messages / 2
	for range 3 { // several commits where there are commits
		p.sendMessages(t, half/3, 10, 50, anyPartition)
		p.flush(t)
	}
	c := s.consumer(t, q, "late", earliest)
	p.sendMessages(t, half, 10, 50, anyPartition)
	n := half/3*3 + half
	s.checkAll(t, q, s.mustCollect(t, c, n), 0, 0, int64(n))
	s.quiet(t, c)
}

func (s *suite) lateGroupGetsAll(t *testing.T) {
	q := s.created(t)
	p := s.producer(t, q, 0)
	p.sendMessages(t, 200, 10, 50, anyPartition)
	p.flush(t)
	for _, name := range []string{"first", "second"} {
		c := s.consumer(t, q, name, earliest)
		s.checkAll(t, q, s.mustCollect(t, c, 200), 0, 0, 200)
		s.quiet(t, c)
	}
}

func (s *suite) latestGetsWhatFollows(t *testing.T) {
	q := s.created(t)
	p := s.producer(t, q, 0)
	p.sendMessages(t, 100, 10, 50, anyPartition)
	p.flush(t)
	c := s.consumer(t, q, "g", queue.Start{Kind: queue.StartLatest})
	p.sendMessages(t, 100, 10, 50, anyPartition)
	s.checkAll(t, q, s.mustCollect(t, c, 100), 0, 100, 200)
	s.quiet(t, c)
}

func (s *suite) startAtOffset(t *testing.T) {
	q := s.created(t)
	p := s.producer(t, q, 0)
	const rounds, each = 5, 20
	for range rounds {
		p.sendMessages(t, each, each, 50, 0)
		p.flush(t)
	}
	p.checkAcks(t)
	p.mu.Lock()
	ack := p.acks[len(p.acks)/2]
	p.mu.Unlock()
	if ack.Offset < 0 {
		t.Fatalf("the acknowledgement does not tell the offset: %+v", ack)
	}
	c := s.consumer(t, q, "g", queue.Start{Kind: queue.StartOffset, Offset: ack.Offset})
	got := s.mustCollect(t, c, int(p.took-ack.First))
	s.checkAll(t, q, got, 0, ack.First, p.took)
	if got[0].Offset != ack.Offset {
		t.Errorf("the first message has offset %d, asked for %d", got[0].Offset, ack.Offset)
	}
	s.quiet(t, c)
}

// startAtTime allows messages of before the time that share a commit with one
// after it, but none that was acknowledged before.
func (s *suite) startAtTime(t *testing.T) {
	q := s.created(t)
	p := s.producer(t, q, 0)
	p.sendMessages(t, 50, 10, 50, 0)
	p.flush(t)
	time.Sleep(20 * time.Millisecond)
	at := time.Now()
	time.Sleep(20 * time.Millisecond)
	p.sendMessages(t, 50, 10, 50, 0)
	p.flush(t)
	c := s.consumer(t, q, "g", queue.Start{Kind: queue.StartTime, Time: at})
	s.checkAll(t, q, s.mustCollect(t, c, 50), 0, 50, 100)
	s.quiet(t, c)
}

func (s *suite) twoGroupsEachGetAll(t *testing.T) {
	q := s.created(t)
	a, b := s.consumer(t, q, "a", earliest), s.consumer(t, q, "b", earliest)
	p := s.producer(t, q, 0)
	p.sendMessages(t, s.opt.Messages, 10, 50, anyPartition)
	for _, c := range []queue.Consumer{a, b} {
		s.checkAll(t, q, s.mustCollect(t, c, s.opt.Messages), 0, 0, int64(s.opt.Messages))
		s.quiet(t, c)
	}
}

func (s *suite) groupSharesMessages(t *testing.T) {
	q := s.created(t)
	cs := []queue.Consumer{s.consumer(t, q, "g", earliest), s.consumer(t, q, "g", earliest), s.consumer(t, q, "g", earliest)}
	p := s.producer(t, q, 0)
	parts := q.Info().Partitions
	n := 0
	for k := range parts {
		p.sendMessages(t, 60, 10, 50, int32(k))
		n += 60
	}
	var mu sync.Mutex
	var all []delivery
	ctx := s.deadline(t)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for i, c := range cs {
		wg.Go(func() {
			for {
				batch, err := s.collect(ctx, c, 1, true)
				s.from(batch, i)
				mu.Lock()
				all = append(all, batch...)
				enough := len(all) >= n
				mu.Unlock()
				if enough {
					select {
					case <-done:
					default:
						close(done)
					}
				}
				if err != nil {
					return
				}
			}
		})
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
	time.Sleep(s.opt.Quiet)
	for _, c := range cs {
		c.Close()
	}
	wg.Wait()
	s.checkAll(t, q, all, 0, 0, int64(n))
}

// consumerLeavesGroup closes a consumer in the middle, one that has a partition:
// the others take over where it stood.
func (s *suite) consumerLeavesGroup(t *testing.T) {
	q := s.created(t)
	leaves, stays := s.consumer(t, q, "g", earliest), s.consumer(t, q, "g", earliest)
	p := s.producer(t, q, 0)
	n := 0
	send := func() {
		for k := range q.Info().Partitions {
			p.sendMessages(t, 40, 10, 50, int32(k))
			n += 40
		}
		p.flush(t)
	}
	send()
	// Which of the two has the only partition, if there is one, is the queue's
	// choice.
	var all []delivery
	for ctx := s.deadline(t); len(all) == 0; leaves, stays = stays, leaves {
		listen, cancel := context.WithTimeout(ctx, s.opt.Quiet)
		var err error
		all, err = s.collect(listen, leaves, 1, true)
		cancel()
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		if len(all) > 0 {
			break
		}
	}
	if err := leaves.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	send()
	rest := s.mustCollect(t, stays, n-len(all))
	for i := range rest { // what the other gave back comes after what came later
		s.from(rest[i:i+1], 1+i)
	}
	all = append(all, rest...)
	s.checkAll(t, q, all, 0, 0, int64(n))
	s.quiet(t, stays)
}

// from notes which of several consumers received a batch, where that matters for
// its order.
func (s *suite) from(batch []delivery, consumer int) {
	for i := range batch {
		if s.opt.Competing {
			batch[i].by = consumer
		}
	}
}
