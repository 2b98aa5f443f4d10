package queuetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"queuebench/queue"
)

// ends waits for the end of a call.
func (s *suite) ends(t *testing.T, what string, ch <-chan error) error {
	t.Helper()
	select {
	case err := <-ch:
		return err
	case <-time.After(s.opt.Timeout):
		t.Fatalf("%s did not end", what)
		return nil
	}
}

func receiveInBackground(ctx context.Context, c queue.Consumer) <-chan error {
	ch := make(chan error, 1)
	go func() {
		for {
			if _, err := c.Receive(ctx); err != nil {
				ch <- err
				return
			}
		}
	}()
	time.Sleep(20 * time.Millisecond) // so that it is likely to wait
	return ch
}

func (s *suite) cancelReceive(t *testing.T) {
	q := s.created(t)
	c := s.consumer(t, q, "g", earliest)
	ctx, cancel := context.WithCancel(t.Context())
	ch := receiveInBackground(ctx, c)
	cancel()
	if err := s.ends(t, "a cancelled Receive", ch); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled Receive returned %v", err)
	}
	// A cancelled Receive has lost nothing.
	p := s.producer(t, q, 0)
	p.sendMessages(t, 20, 5, 30, anyPartition)
	s.checkAll(t, q, s.mustCollect(t, c, 20), 0, 0, 20)
}

// cancelSend sends until the queue makes the caller wait, or for a while, and
// cancels: what was taken is accounted for, the rest never arrives.
func (s *suite) cancelSend(t *testing.T) {
	q := s.created(t)
	p := s.producer(t, q, 0)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	n, err := p.Send(done, []queue.Message{{Payload: appendMessage(nil, identity{0, 0}, 100), Partition: anyPartition}})
	p.took, p.next = int64(n), int64(n)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("Send with a cancelled context returned %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	for range 40 {
		if err := p.trySendMessages(ctx, 500, 500, 200, anyPartition); err != nil {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("a cancelled Send returned %v", err)
			}
			break
		}
	}
	taken := p.took
	c := s.consumer(t, q, "g", earliest)
	s.checkAll(t, q, s.mustCollect(t, c, int(taken)), 0, 0, taken)
	s.quiet(t, c)
	p.flush(t)
	p.checkAcks(t)
}

func (s *suite) closeEndsReceive(t *testing.T) {
	q := s.created(t)
	c := s.consumer(t, q, "g", earliest)
	ch := receiveInBackground(t.Context(), c)
	if err := c.Close(); err != nil {
		t.Errorf("Close of the consumer: %v", err)
	}
	if err := s.ends(t, "Receive of a closed consumer", ch); !errors.Is(err, queue.ErrClosed) {
		t.Errorf("Receive of a closed consumer returned %v", err)
	}
}

func (s *suite) closeTwiceAndErrClosed(t *testing.T) {
	q := s.created(t)
	p := s.producer(t, q, 0)
	c := s.consumer(t, q, "g", earliest)
	p.sendMessages(t, 3, 3, 30, anyPartition)
	p.flush(t)
	for range 2 {
		if err := p.Close(); err != nil {
			t.Errorf("Close of the producer: %v", err)
		}
		if err := c.Close(); err != nil {
			t.Errorf("Close of the consumer: %v", err)
		}
	}
	if n, err := p.Send(t.Context(), []queue.Message{{Payload: []byte("x"), Partition: anyPartition}}); n != 0 || !errors.Is(err, queue.ErrClosed) {
		t.Errorf("Send after Close: %d, %v", n, err)
	}
	if err := p.Flush(t.Context()); !errors.Is(err, queue.ErrClosed) {
		t.Errorf("Flush after Close: %v", err)
	}
	if n := p.Pending(); n != 0 {
		t.Errorf("%d messages are pending after Close", n)
	}
	if _, err := c.Receive(t.Context()); !errors.Is(err, queue.ErrClosed) {
		t.Errorf("Receive after Close: %v", err)
	}
	// Others go on.
	again := s.consumer(t, q, "other", queue.Start{Kind: queue.StartLatest})
	p2 := s.producer(t, q, 1)
	p2.sendMessages(t, 5, 5, 30, anyPartition)
	s.checkAll(t, q, s.mustCollect(t, again, 5), 1, 0, 5)
}

func (s *suite) queueCloseEndsAll(t *testing.T) {
	q := s.created(t)
	p := s.producer(t, q, 0)
	c := s.consumer(t, q, "g", earliest)
	p.sendMessages(t, 3, 3, 30, anyPartition)
	p.flush(t)
	ch := receiveInBackground(t.Context(), c)
	for range 2 {
		if err := q.Close(); err != nil {
			t.Errorf("Close of the queue: %v", err)
		}
	}
	s.ends(t, "Receive on a closed queue", ch)
	if _, err := c.Receive(t.Context()); err == nil {
		t.Error("Receive on a closed queue returned messages")
	}
	if _, err := p.Send(t.Context(), []queue.Message{{Payload: []byte("x"), Partition: anyPartition}}); err == nil {
		t.Error("Send on a closed queue took messages")
	}
	if _, err := q.Producer(t.Context(), queue.ProducerConfig{}); !errors.Is(err, queue.ErrClosed) {
		t.Errorf("Producer on a closed queue: %v", err)
	}
	if _, err := q.Consumer(t.Context(), queue.ConsumerConfig{}); !errors.Is(err, queue.ErrClosed) {
		t.Errorf("Consumer on a closed queue: %v", err)
	}
}
