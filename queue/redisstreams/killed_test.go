//go:build interop

package redisstreams

import (
	"context"
	"encoding/binary"
	"sync"
	"testing"
	"time"

	"queuebench/queue"
)

// A server that syncs each write loses nothing that it acknowledged, when it is
// killed in the middle of a load; the clients go on by themselves.
func TestAKilledServerLosesNothingAcknowledged(t *testing.T) {
	s := start(t, "--appendonly", "yes", "--appendfsync", "always")
	q := open(t, Config{URL: s.url(), Pipeline: 50, MaxPending: 500})
	if err := q.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	acked, fates := map[uint64]bool{}, int64(0)
	events := map[string]bool{}
	event := func(e queue.Event) {
		mu.Lock()
		defer mu.Unlock()
		events[e.Kind] = true
	}
	p, err := q.Producer(t.Context(), queue.ProducerConfig{Event: event, Acked: func(acks []queue.Ack) {
		mu.Lock()
		defer mu.Unlock()
		for _, a := range acks {
			fates += a.N
			for i := range a.N {
				if a.Err == nil {
					acked[uint64(a.First+i)] = true
				}
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := q.Consumer(t.Context(), queue.ConsumerConfig{Group: "g", Event: event})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sent := uint64(0)
	send := func() {
		ms := make([]queue.Message, 20)
		for i := range ms {
			ms[i] = queue.Message{Payload: binary.LittleEndian.AppendUint64(nil, sent+uint64(i)), Partition: queue.AnyPartition}
		}
		took, err := p.Send(ctx, ms)
		sent += uint64(took)
		if err != nil {
			t.Fatal(err)
		}
	}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(acked)
	}
	for count() < 1000 {
		send()
	}
	s.stop()
	send()
	before := count()
	s.start(t)
	for count() < before+100 {
		send()
	}
	if err := p.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if fates != int64(sent) {
		t.Errorf("%d of %d messages have a fate", fates, sent)
	}
	received := map[uint64]bool{}
	for lost := len(acked); lost > 0; {
		batch, err := c.Receive(ctx)
		if err != nil {
			t.Fatalf("%v: %d of %d acknowledged messages were lost", err, lost, len(acked))
		}
		for _, d := range batch {
			k := binary.LittleEndian.Uint64(d.Payload)
			if acked[k] && !received[k] {
				lost--
			}
			received[k] = true
		}
	}
	if !events["disconnected"] || !events["reconnected"] {
		t.Errorf("the events are %v", events)
	}
	t.Logf("%d sent, %d acknowledged, %d received", sent, len(acked), len(received))
}
