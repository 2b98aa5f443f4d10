package rabbitmq

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"queuebench/queue"
)

// fates keeps what became of messages, by their numbers.
type fates struct {
	mu  sync.Mutex
	of  map[int64]error
	two int // messages that have two
}

func (f *fates) told(acks []queue.Ack) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range acks {
		for i := range a.N {
			if _, there := f.of[a.First+i]; there {
				f.two++
			}
			f.of[a.First+i] = a.Err
		}
	}
}

func (f *fates) acked() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, err := range f.of {
		if err == nil {
			n++
		}
	}
	return n
}

// A server that keeps a connection and does not confirm what came over it, or only
// a part, or does not even read it, is left after the timeout: each message has one
// fate, a window that was full is free again, and the producer goes on.
func TestConfirmsThatNeverCome(t *testing.T) {
	const window = 64
	for name, c := range map[string]struct {
		confirms func(tag uint64) bool
		deaf     bool
		size     int
		acked    int // of the first window
	}{
		"none":              {confirms: func(uint64) bool { return false }},
		"all but the first": {confirms: func(tag uint64) bool { return tag > 1 }, acked: window - 1},
		"every second":      {confirms: func(tag uint64) bool { return tag%2 == 0 }, acked: window / 2},
		"nothing is read":   {deaf: true, size: 256 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newFake(t)
			server.deaf = func(connection int) bool { return c.deaf && connection == 1 }
			server.confirms = func(connection int, tag uint64) bool { return connection > 1 || c.confirms(tag) }
			q, err := New(t.Context(), Config{URL: server.url(), Name: "q", MaxPending: window, ConfirmTimeout: 400 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			defer q.Close()
			f := &fates{of: map[int64]error{}}
			var mu sync.Mutex
			var events []string
			p, err := q.Producer(t.Context(), queue.ProducerConfig{Acked: f.told, Event: func(e queue.Event) {
				mu.Lock()
				defer mu.Unlock()
				events = append(events, e.Kind+": "+e.Text)
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			sent := int64(0)
			send := func(n int) {
				t.Helper()
				took, err := p.Send(ctx, repeated(queue.Message{Payload: bytes.Repeat([]byte("x"), c.size)}, n))
				if sent += int64(took); err != nil {
					t.Fatal(err)
				}
			}
			send(window)
			send(1) // the window is full until the timeout
			for f.acked() <= c.acked {
				send(1)
			}
			if err := p.Flush(ctx); err != nil {
				t.Fatal(err)
			}
			if int64(len(f.of)) != sent || f.two > 0 {
				t.Errorf("%d of %d messages have a fate, %d have two", len(f.of), sent, f.two)
			}
			acked := 0
			for n := range int64(window) {
				if err := f.of[n]; err == nil {
					acked++
				} else if !strings.Contains(err.Error(), "whether the queue has the message is not known") || !strings.Contains(err.Error(), "400ms") {
					t.Errorf("message %d: %v", n, err)
				}
			}
			if acked != c.acked {
				t.Errorf("%d of the first %d messages are acknowledged, want %d", acked, window, c.acked)
			}
			mu.Lock()
			defer mu.Unlock()
			if len(events) < 2 || !strings.HasPrefix(events[0], "disconnected: the server confirmed none") || !strings.HasPrefix(events[1], "reconnected: ") {
				t.Errorf("the events are %q", events)
			}
		})
	}
}

func repeated(m queue.Message, n int) (all []queue.Message) {
	for range n {
		all = append(all, m)
	}
	return all
}

// A producer can be closed while nothing is confirmed, and what it had has failed.
func TestCloseWithoutConfirms(t *testing.T) {
	server := newFake(t)
	server.confirms = func(int, uint64) bool { return false }
	q, err := New(t.Context(), Config{URL: server.url(), Name: "q"})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	f := &fates{of: map[int64]error{}}
	p, err := q.Producer(t.Context(), queue.ProducerConfig{Acked: f.told})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Send(t.Context(), repeated(queue.Message{Payload: []byte("x")}, 10)); err != nil {
		t.Fatal(err)
	}
	p.Close()
	if len(f.of) != 10 || !errors.Is(f.of[9], errAbandoned) {
		t.Errorf("the fates are %v", f.of)
	}
}

// The server is not expected to confirm while it says that it takes no messages,
// nor is that time counted afterwards.
func TestPatience(t *testing.T) {
	long := time.Now().Add(-time.Hour)
	s, l := &session{}, &line{}
	if !s.patience(l).IsZero() {
		t.Error("no message waits, and a confirm is expected")
	}
	l.pending, l.since = []published{{number: 1}}, long
	if got := s.patience(l); !got.Equal(long) {
		t.Errorf("since %v, not %v", got, long)
	}
	s.block(true)
	if !s.patience(l).IsZero() {
		t.Error("a server that takes no messages is expected to confirm")
	}
	s.block(false)
	if got := s.patience(l); !got.After(long) {
		t.Error("the time in which it took no messages is counted")
	}
	l.since = time.Now().Add(time.Hour)
	if got := s.patience(l); !got.Equal(l.since) {
		t.Error("a later confirm is not taken")
	}
}
