package deltalake

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"queuebench/queue"
)

// load sends n numbered messages and returns how many were acknowledged.
type load struct {
	t      testing.TB
	id     int
	q      *Queue
	p      queue.Producer
	mu     sync.Mutex
	acked  map[int64]error // by number in the producer
	traces []queue.Trace
	events []queue.Event
}

func newLoad(t testing.TB, q *Queue, id int) *load {
	t.Helper()
	l := &load{t: t, id: id, q: q, acked: map[int64]error{}}
	var err error
	l.p, err = q.Producer(t.Context(), queue.ProducerConfig{
		ID: id,
		Acked: func(as []queue.Ack) {
			l.mu.Lock()
			defer l.mu.Unlock()
			for _, a := range as {
				for i := range a.N {
					if _, twice := l.acked[a.First+i]; twice {
						t.Errorf("message %d was acknowledged twice", a.First+i)
					}
					l.acked[a.First+i] = a.Err
				}
			}
		},
		Trace: func(tr queue.Trace) { l.mu.Lock(); l.traces = append(l.traces, tr); l.mu.Unlock() },
		Event: func(e queue.Event) { l.mu.Lock(); l.events = append(l.events, e); l.mu.Unlock() },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.p.Close() })
	return l
}

// send sends messages from..to−1, a few at a time with a pause, so that they
// fall into many commits.
func (l *load) send(ctx context.Context, from, to int, pause time.Duration) error {
	for i := from; i < to; {
		var ms []queue.Message
		for ; i < to && len(ms) < 5; i++ {
			b := binary.LittleEndian.AppendUint32(nil, uint32(l.id))
			ms = append(ms, queue.Message{Payload: binary.LittleEndian.AppendUint32(b, uint32(i)), Partition: queue.AnyPartition})
		}
		if _, err := l.p.Send(ctx, ms); err != nil {
			return err
		}
		time.Sleep(pause)
	}
	return l.p.Flush(ctx)
}

// failed is how many acknowledgements carry an error.
func (l *load) failed() (n int, first error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, err := range l.acked {
		if err != nil {
			n++
			first = err
		}
	}
	return n, first
}

func (l *load) event(kind string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// sink receives and counts, by producer and number.
type sink struct {
	c      queue.Consumer
	count  map[[2]uint32]int
	last   map[uint32]uint32
	total  int
	traces []queue.Trace
	// unordered: the order of a producer's messages is not checked, since it
	// holds within a partition only.
	unordered bool
}

func newSink(t testing.TB, q *Queue, group string, start queue.Start) *sink {
	t.Helper()
	s := &sink{count: map[[2]uint32]int{}, last: map[uint32]uint32{}}
	var err error
	s.c, err = q.Consumer(t.Context(), queue.ConsumerConfig{Group: group, Start: start, Trace: func(tr queue.Trace) { s.traces = append(s.traces, tr) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.c.Close() })
	return s
}

// receive takes n messages, then listens for a while for more.
func (s *sink) receive(ctx context.Context, n int, after time.Duration) error {
	for want := s.total + n; ; {
		wait, cancel := ctx, func() {}
		if s.total >= want {
			wait, cancel = context.WithTimeout(ctx, after)
		}
		batch, err := s.c.Receive(wait)
		cancel()
		if s.total >= want && errors.Is(err, context.DeadlineExceeded) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("received %d of %d: %w", s.total, want, err)
		}
		for _, d := range batch {
			id := [2]uint32{binary.LittleEndian.Uint32(d.Payload), binary.LittleEndian.Uint32(d.Payload[4:])}
			if last, ok := s.last[id[0]]; ok && id[1] != last+1 && !s.unordered {
				return fmt.Errorf("producer %d: message %d came after %d", id[0], id[1], last)
			}
			s.last[id[0]] = id[1]
			s.count[id]++
			s.total++
		}
	}
}

// checkOnce checks that exactly the messages 0..n−1 came, once each.
func (s *sink) checkOnce(t testing.TB, id, n int) {
	t.Helper()
	lost, twice := 0, 0
	for i := range n {
		switch c := s.count[[2]uint32{uint32(id), uint32(i)}]; {
		case c == 0:
			lost++
		case c > 1:
			twice++
		}
	}
	if lost+twice > 0 {
		t.Errorf("producer %d: of %d messages %d were lost and %d came twice", id, n, lost, twice)
	}
}

// checkExactlyOnce sends and receives through a queue, and expects every
// message to be acknowledged and received once, in order.
func checkExactlyOnce(t *testing.T, cfg Config, n int) *load {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	q := open(t, cfg)
	if err := q.Create(ctx); err != nil {
		t.Fatal(err)
	}
	s := newSink(t, q, "g", queue.Start{})
	l := newLoad(t, q, 1)
	done := make(chan error, 1)
	go func() { done <- l.send(ctx, 0, n, time.Millisecond) }()
	if err := s.receive(ctx, n, 30*time.Millisecond); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Errorf("Send: %v", err)
	}
	s.checkOnce(t, 1, n)
	if failed, err := l.failed(); failed > 0 || len(l.acked) != n {
		t.Errorf("%d of %d messages have a fate, %d failed, such as: %v", len(l.acked), n, failed, err)
	}
	s.c.Close()
	late := newSink(t, q, "late", queue.Start{})
	if err := late.receive(ctx, n, 0); err != nil {
		t.Error(err)
	}
	late.checkOnce(t, 1, n)
	return l
}

func isVersion0(key string) bool { return strings.HasSuffix(key, versionKey(0)) }

func medianOf(ds []time.Duration) time.Duration {
	ds = slices.Clone(ds)
	slices.Sort(ds)
	return ds[len(ds)/2]
}
