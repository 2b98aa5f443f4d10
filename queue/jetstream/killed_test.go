package jetstream

import (
	"context"
	"encoding/binary"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"queuebench/queue"
)

// freePort is a port that a server can have, and have again.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// A server that is killed in the middle of a load loses nothing that it had
// acknowledged to a file stream, whether it syncs or not: what was written
// outlives the process. The clients go on by themselves, and say what they met.
func TestAKilledServerLosesNothingAcknowledged(t *testing.T) {
	for name, always := range map[string]bool{"default": false, "sync always": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := serverConfig{Dir: t.TempDir(), Port: freePort(t), SyncAlways: always, Monitor: -1}
			first := start(t, cfg)
			q := open(t, Config{URL: first.url, MaxPending: 100, AckTimeout: 2 * time.Second, AckWait: time.Second})
			if err := q.Create(t.Context()); err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			acked := map[uint64]bool{}
			fates := int64(0)
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
			received := map[uint64]bool{}
			ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
			defer cancel()
			sent, killed := uint64(0), false
			send := func(n int) {
				ms := make([]queue.Message, n)
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
			for !killed {
				send(50)
				if count() > 200 {
					first.kill() // with messages under way
					killed = true
				}
			}
			send(100) // the client keeps them until it is connected again
			before := count()
			second := start(t, cfg)
			defer second.stop()
			for count() < before+20 { // until the stream takes messages again
				send(20)
				time.Sleep(20 * time.Millisecond)
				if ctx.Err() != nil {
					t.Fatal("nothing was acknowledged after the restart")
				}
			}
			if err := p.Flush(ctx); err != nil {
				t.Fatalf("%v: %d messages have no fate", err, p.Pending())
			}
			mu.Lock()
			if fates != int64(sent) {
				t.Errorf("%d messages have a fate, %d were sent", fates, sent)
			}
			mu.Unlock()
			lost := func() (n int) {
				for k := range acked {
					if !received[k] {
						n++
					}
				}
				return n
			}
			for lost() > 0 {
				batch, err := c.Receive(ctx)
				if err != nil {
					t.Fatalf("%v: %d of %d acknowledged messages were lost", err, lost(), len(acked))
				}
				for _, d := range batch {
					received[binary.LittleEndian.Uint64(d.Payload)] = true
				}
			}
			for _, kind := range []string{"disconnected", "reconnected"} {
				if !events[kind] {
					t.Errorf("no event says %s", kind)
				}
			}
			t.Logf("%d sent, %d acknowledged, %d received", sent, len(acked), len(received))
			p.Close()
			c.Close()
			if err := q.Remove(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// What a consumer did not acknowledge comes again, to another of its group, and
// an event says so.
func TestRedeliveriesAreTold(t *testing.T) {
	q := open(t, Config{URL: start(t, serverConfig{Monitor: -1}).url, AckWait: 200 * time.Millisecond})
	if err := q.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	p, err := q.Producer(t.Context(), queue.ProducerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	p.Send(t.Context(), []queue.Message{{Payload: []byte("a")}, {Payload: []byte("b")}})
	silent, err := q.Consumer(t.Context(), queue.ConsumerConfig{Group: "g"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := silent.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	var told []string
	c, err := q.Consumer(t.Context(), queue.ConsumerConfig{Group: "g", Event: func(e queue.Event) { told = append(told, e.Kind+": "+e.Text) }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := c.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	if len(told) == 0 || !strings.Contains(told[0], "redelivered: ") {
		t.Errorf("the events are %q", told)
	}
}
