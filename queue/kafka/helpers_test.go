package kafka

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"queuebench/queue"
)

// sent is a producer with what its fates were.
type sent struct {
	queue.Producer
	mu     sync.Mutex
	acked  int64
	failed []queue.Ack
	events []queue.Event
}

func produce(t testing.TB, q *Queue) *sent {
	t.Helper()
	s := &sent{}
	var err error
	s.Producer, err = q.Producer(t.Context(), queue.ProducerConfig{
		Acked: func(as []queue.Ack) {
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, a := range as {
				if a.Err != nil {
					s.failed = append(s.failed, a)
				} else {
					s.acked += a.N
				}
			}
		},
		Event: func(e queue.Event) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.events = append(s.events, e)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// send sends texts to a partition and waits for their fates.
func (s *sent) send(t testing.TB, partition int32, texts ...string) {
	t.Helper()
	var ms []queue.Message
	for _, text := range texts {
		ms = append(ms, queue.Message{Payload: []byte(text), Partition: partition})
	}
	if _, err := s.Send(t.Context(), ms); err != nil {
		t.Fatal(err)
	}
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func numbered(from, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint(from+i))
	}
	return all
}

// heard is a consumer with its events.
type heard struct {
	queue.Consumer
	mu     sync.Mutex
	events []queue.Event
}

func consume(t testing.TB, q *Queue, group string, start queue.Start) *heard {
	t.Helper()
	h := &heard{}
	var err error
	h.Consumer, err = q.Consumer(t.Context(), queue.ConsumerConfig{Group: group, Start: start, Event: func(e queue.Event) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.events = append(h.events, e)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func (h *heard) kinds() map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := map[string]int{}
	for _, e := range h.events {
		all[e.Kind]++
	}
	return all
}

// receive returns the texts of n messages, or of those that came within d.
func (h *heard) receive(t testing.TB, n int, d time.Duration) (texts []string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	for len(texts) < n {
		batch, err := h.Receive(ctx)
		if err != nil {
			return texts, err
		}
		for _, m := range batch {
			texts = append(texts, string(m.Payload))
		}
	}
	return texts, nil
}

func created(t testing.TB, cfg Config) *Queue {
	t.Helper()
	q := open(t, cfg)
	if err := q.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	return q
}

// held are the records of a consumer's backlog.
func held(h *heard) []*kgo.Record {
	b := h.Consumer.(*Consumer).backlog
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.records)
}
