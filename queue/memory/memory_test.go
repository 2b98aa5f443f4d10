package memory

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"queuebench/clock"
	"queuebench/queue"
	"queuebench/queue/queuetest"
)

func open(t testing.TB, cfg Config) *Queue {
	t.Helper()
	q, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close() })
	return q
}

func TestConformance(t *testing.T) {
	for name, cfg := range map[string]Config{
		"freeing": {},
		"small":   {Partitions: 3, Capacity: 20000, ReceiveMax: 3, Faults: Faults{Delay: time.Microsecond}},
		"stamped": {Partitions: 2, Retain: true, Clock: clock.New()},
	} {
		t.Run(name, func(t *testing.T) {
			queuetest.Run(t, func(t *testing.T) queue.Queue { return open(t, cfg) }, queuetest.Options{
				Quiet: 30 * time.Millisecond, Offsets: true, Keys: true, Retains: cfg.Retain,
				Stall: func(t *testing.T) queue.Queue { return open(t, Config{Faults: Faults{WithholdAcks: true}}) },
			})
		})
	}
}

func send(t testing.TB, ctx context.Context, q *Queue, n int) (acked, failed int64, err error) {
	t.Helper()
	p, err := q.Producer(ctx, queue.ProducerConfig{Acked: func(as []queue.Ack) {
		for _, a := range as {
			if a.Err == nil {
				acked += a.N
			} else {
				failed += a.N
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for i := range n {
		if _, err := p.Send(ctx, []queue.Message{{Payload: fmt.Appendf(nil, "%d", i)}}); err != nil {
			return acked, failed, err
		}
	}
	return acked, failed, nil
}

// received drains what is there within d and returns the payloads.
func received(t testing.TB, q *Queue, d time.Duration) (all []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	c, err := q.Consumer(ctx, queue.ConsumerConfig{Group: "g"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for {
		batch, err := c.Receive(ctx)
		if err != nil {
			return all
		}
		for _, m := range batch {
			all = append(all, string(m.Payload))
		}
	}
}

func TestSendWaitsForRoom(t *testing.T) {
	for name, cfg := range map[string]Config{"messages": {Capacity: 10}, "bytes": {CapacityBytes: 10}} {
		t.Run(name, func(t *testing.T) {
			q := open(t, cfg)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			defer cancel()
			acked, _, err := send(t, ctx, q, 11)
			if acked != 10 || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a queue of 10 took %d of 11: %v", acked, err)
			}
			if got := received(t, q, 30*time.Millisecond); len(got) != 10 {
				t.Errorf("%d of 10 received", len(got))
			}
		})
	}
	q := open(t, Config{CapacityBytes: 10})
	p, _ := q.Producer(t.Context(), queue.ProducerConfig{})
	if _, err := p.Send(t.Context(), []queue.Message{{Payload: make([]byte, 11)}}); err == nil {
		t.Error("a message that can never fit was not refused")
	}
}

func TestRoomComesWithReading(t *testing.T) {
	q := open(t, Config{Capacity: 8})
	const n = 20000
	c, err := q.Consumer(t.Context(), queue.ConsumerConfig{Group: "g"})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, _, err := send(t, t.Context(), q, n)
		done <- err
	}()
	for got := 0; got < n; {
		batch, err := c.Receive(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range batch {
			if string(m.Payload) != fmt.Sprint(got) {
				t.Fatalf("message %d is %q", got, m.Payload)
			}
			got++
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A batch stays intact until the next Receive, also when its partition was
// given to another consumer meanwhile and all of it was read.
func TestBatchSurvivesRebalance(t *testing.T) {
	q := open(t, Config{Partitions: 1})
	a, _ := q.Consumer(t.Context(), queue.ConsumerConfig{Group: "g"})
	if _, _, err := send(t, t.Context(), q, 3*segmentMessages); err != nil {
		t.Fatal(err)
	}
	held, err := a.Receive(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	q.mu.Lock()
	q.groups["g"].cursors[0].owner = nil
	q.mu.Unlock()
	b, _ := q.Consumer(t.Context(), queue.ConsumerConfig{Group: "g"})
	q.mu.Lock()
	q.groups["g"].cursors[0].owner = b.(*Consumer)
	q.mu.Unlock()
	for range 3 {
		if _, _, err := send(t, t.Context(), q, segmentMessages); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for i, m := range held {
		if string(m.Payload) != fmt.Sprint(i) {
			t.Fatalf("message %d of a batch that is still held became %q", i, m.Payload)
		}
	}
}

func TestStartBeforeWhatIsKeptIsRefused(t *testing.T) {
	q := open(t, Config{})
	send(t, t.Context(), q, 2*segmentMessages)
	c, _ := q.Consumer(t.Context(), queue.ConsumerConfig{Group: "g"})
	for range 3 {
		if _, err := c.Receive(contextFor(t, 20*time.Millisecond)); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	}
	_, err := q.Consumer(t.Context(), queue.ConsumerConfig{Group: "h", Start: queue.Start{Kind: queue.StartOffset, Offset: 5}})
	if err == nil {
		t.Error("a start at what was given back was not refused")
	}
}

func contextFor(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestNegativeSettingsAreRefused(t *testing.T) {
	for _, cfg := range []Config{{Partitions: -1}, {Capacity: -1}, {CapacityBytes: -1}, {ReceiveMax: -1}, {Faults: Faults{Delay: -1}}, {Faults: Faults{DropEvery: -1}}} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%+v was not refused", cfg)
		}
	}
}
