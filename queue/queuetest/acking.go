package queuetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"queuebench/queue"
)

func (s *suite) acksCoverEachMessageOnce(t *testing.T) {
	q := s.created(t)
	p := s.producer(t, q, 0)
	for i := range 10 {
		p.sendMessages(t, s.opt.Messages/10, 1+i, 50, anyPartition)
		if i%3 == 0 {
			p.flush(t)
		}
	}
	p.flush(t)
	if acked, failed := p.checkAcks(t); acked != p.took || failed != 0 {
		t.Errorf("%d acknowledged, %d failed, of %d", acked, failed, p.took)
	}
	if !s.opt.Offsets {
		return
	}
	// What the acknowledgements tell is where the messages are found.
	type place struct {
		partition int32
		offset    int64
	}
	want := map[int64]place{}
	for _, a := range p.acks {
		for i := range a.N {
			want[a.First+i] = place{a.Partition, a.Offset + i*a.OffsetStep}
		}
	}
	c := s.consumer(t, q, "g", earliest)
	for _, d := range s.mustCollect(t, c, int(p.took)) {
		if got := (place{d.Partition, d.Offset}); got != want[d.id.seq] {
			t.Fatalf("message %d was acknowledged at %+v and found at %+v", d.id.seq, want[d.id.seq], got)
		}
	}
}

func (s *suite) flushAndPending(t *testing.T) {
	q := s.created(t)
	p := s.producer(t, q, 0)
	if n := p.Pending(); n != 0 {
		t.Errorf("%d messages are pending before the first", n)
	}
	p.flush(t) // nothing to wait for
	p.sendMessages(t, 25, 5, 50, anyPartition)
	if n := p.Pending(); n < 0 || n > 25 {
		t.Errorf("%d of 25 messages are pending", n)
	}
	p.flush(t)
	if n := p.Pending(); n != 0 {
		t.Errorf("%d messages are pending after Flush", n)
	}
	if acked, failed := p.checkAcks(t); acked != 25 || failed != 0 {
		t.Errorf("after Flush %d of 25 messages are acknowledged, %d failed", acked, failed)
	}
	// What was acknowledged is there, although the producer is gone.
	p.Close()
	c := s.consumer(t, q, "g", earliest)
	s.checkAll(t, q, s.mustCollect(t, c, 25), 0, 0, 25)
}

func (s *suite) stalled(t *testing.T) *producer {
	q := s.opt.Stall(t)
	s.create(t, q)
	p := s.producer(t, q, 0)
	p.sendMessages(t, 30, 10, 50, anyPartition)
	if n := p.Pending(); n != 30 {
		t.Errorf("%d of 30 messages are pending on a queue that acknowledges nothing", n)
	}
	return p
}

func (s *suite) flushIsCancelled(t *testing.T) {
	p := s.stalled(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	ch := make(chan error, 1)
	go func() { ch <- p.Flush(ctx) }()
	if err := s.ends(t, "a cancelled Flush", ch); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a cancelled Flush returned %v", err)
	}
}

func (s *suite) closeFailsWhatIsPending(t *testing.T) {
	p := s.stalled(t)
	if err := p.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if acked, failed := p.checkAcks(t); acked != 0 || failed != 30 {
		t.Errorf("Close with 30 messages pending: %d acknowledged, %d failed", acked, failed)
	}
	if n := p.Pending(); n != 0 {
		t.Errorf("%d messages are pending after Close", n)
	}
	before := len(p.acks)
	time.Sleep(30 * time.Millisecond)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.acks) != before {
		t.Error("Acked was called after Close had returned")
	}
}

func (s *suite) wrongPartitionIsRefused(t *testing.T) {
	q := s.created(t)
	p := s.producer(t, q, 0)
	for _, k := range []int32{int32(q.Info().Partitions), -2} {
		n, err := p.Send(s.deadline(t), []queue.Message{{Payload: []byte("x"), Partition: k}})
		if n != 0 || err == nil {
			t.Errorf("Send to partition %d of %d took %d messages, error %v", k, q.Info().Partitions, n, err)
		} else if !strings.Contains(err.Error(), "partition") {
			t.Errorf("Send to partition %d: the error does not name the partition: %v", k, err)
		}
	}
	// The producer is none the worse for it.
	p.sendMessages(t, 3, 3, 30, anyPartition)
	p.flush(t)
	p.checkAcks(t)
}
