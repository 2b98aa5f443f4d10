//go:build interop

package rabbitmq

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"queuebench/queue"
)

// load is a producer and a consumer of a queue on a node of a test's own, and what
// became of the messages.
type load struct {
	t    *testing.T
	ctx  context.Context
	p    queue.Producer
	c    queue.Consumer
	sent uint64

	mu     sync.Mutex
	acked  map[uint64]bool
	failed []error
}

func newLoad(t *testing.T, q *Queue) *load {
	l := &load{t: t, acked: map[uint64]bool{}}
	var cancel context.CancelFunc
	l.ctx, cancel = context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	var err error
	if l.p, err = q.Producer(l.ctx, queue.ProducerConfig{Acked: l.told, Event: func(e queue.Event) { t.Logf("%s: %s", e.Kind, e.Text) }}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.p.Close() })
	if l.c, err = q.Consumer(l.ctx, queue.ConsumerConfig{Group: "g"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.c.Close() })
	return l
}

func (l *load) told(acks []queue.Ack) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range acks {
		for i := range a.N {
			if a.Err == nil {
				l.acked[uint64(a.First+i)] = true
			} else {
				l.failed = append(l.failed, a.Err)
			}
		}
	}
}

func (l *load) fates() (acked, failed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acked), len(l.failed)
}

// futile is how many messages may fail in a row, none being acknowledged, before a
// load gives up: many times what may be under way when a server is killed.
const futile = 20_000

// send sends messages that carry their numbers until so many more are acknowledged
// or have failed. It says whether that went on to the end: a server that takes
// messages and confirms none is given up.
func (l *load) send(acked, failed int) bool {
	l.t.Helper()
	a, f := l.fates()
	before, since := a, f
	for wantA, wantF := a+acked, f+failed; a < wantA || f < wantF; a, f = l.fates() {
		if a > before {
			before, since = a, f
		}
		if f-since > max(futile, failed) {
			return false
		}
		ms := make([]queue.Message, 20)
		for i := range ms {
			ms[i] = queue.Message{Payload: binary.LittleEndian.AppendUint64(nil, l.sent+uint64(i))}
		}
		took, err := l.p.Send(l.ctx, ms)
		l.sent += uint64(took)
		if err != nil {
			l.t.Fatalf("%v: %d acknowledged and %d failed of %d, the last with: %v", err, a, f, l.sent, l.last())
		}
	}
	return true
}

// last is why the last of the messages that failed did.
func (l *load) last() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.failed) == 0 {
		return nil
	}
	return l.failed[len(l.failed)-1]
}

// settle waits until each message has its fate, and all that are acknowledged came.
func (l *load) settle() {
	l.t.Helper()
	if err := l.p.Flush(l.ctx); err != nil {
		l.t.Fatal(err)
	}
	acked, failed := l.fates()
	if uint64(acked+failed) != l.sent {
		l.t.Errorf("%d of %d messages have a fate", acked+failed, l.sent)
	}
	received := map[uint64]bool{}
	for missing := acked; missing > 0; {
		batch, err := l.c.Receive(l.ctx)
		if err != nil {
			l.t.Fatalf("%d of %d confirmed messages did not come: %v", missing, acked, err)
		}
		for _, d := range batch {
			if k := binary.LittleEndian.Uint64(d.Payload); !received[k] {
				if received[k] = true; l.acked[k] {
					missing--
				}
			}
		}
	}
	l.t.Logf("%d sent, %d confirmed, %d received", l.sent, acked, len(received))
}

// What a queue has confirmed outlives SIGKILL of its server in the middle of a load;
// the clients go on by themselves, and each message has exactly one fate.
func TestAKilledServerLosesNothingConfirmed(t *testing.T) {
	for _, kind := range []Type{Classic, Quorum} {
		t.Run(string(kind), func(t *testing.T) {
			for try := 1; !survives(t, kind); try++ {
				if try == 3 {
					t.Fatal("the server lost its own queue three times out of three")
				}
			}
		})
	}
}

// survives kills a server under a load and starts it again. It is false where the
// server itself says that it did not recover the queue, as it once was with RabbitMQ
// 3.10 on a busy host: nothing can be said of its messages then, but that the producer
// must be told of each that it has no queue.
func survives(t *testing.T, kind Type) bool {
	n := startNode(t)
	q, err := New(t.Context(), Config{URL: fmt.Sprintf("amqp://127.0.0.1:%d/", n.port), Name: "killed", Type: kind, MaxPending: 500, ConfirmTimeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	if err := q.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	if kind == Quorum {
		n.registered(t, "killed")
	}
	l := newLoad(t, q)
	if !l.send(1000, 0) {
		t.Fatalf("a server that was never killed confirmed nothing: %v", l.last())
	}
	n.kill()
	n.start(t)
	if !l.send(1000, 0) {
		queues := n.ctl(t, "list_queues", "name", "state", "messages")
		bindings := n.ctl(t, "list_bindings", "source_name", "destination_name")
		state := fmt.Sprintf("%d of %d messages failed, the last with: %v\n%s%s%s", len(l.failed), l.sent, l.last(), queues, bindings, n.logged())
		name := q.queueName(firstGroup, 0)
		if strings.Contains(queues, name+"\trunning") && strings.Contains(bindings, "killed\t"+name) {
			t.Fatalf("the server has the queue, and confirms nothing: %s", state)
		}
		if err := l.last(); !errors.Is(err, errReturned) && !errors.Is(err, errNack) && !strings.Contains(err.Error(), "NOT_FOUND - no exchange") {
			t.Fatalf("the server has lost the queue, and the producer is told something else: %s", state)
		}
		t.Logf("the server did not recover its queue: %s", state)
		return false
	}
	l.settle()
	if kind == Quorum {
		leaderless(t, n, l)
	}
	if err := q.Remove(l.ctx); err != nil {
		t.Error(err)
	}
	return true
}

// leaderless starts a server again whose quorum queue has no leader then: RabbitMQ
// 3.10 makes a queue anew, empty, if its list of them was not on the disk when it was
// killed, and holds no election. It keeps its channels and confirms nothing; the
// producer must not wait for ever, and go on as soon as there is a leader.
func leaderless(t *testing.T, n *node, l *load) {
	n.kill()
	if err := os.Remove(n.list(t)); err != nil {
		t.Fatal(err)
	}
	n.start(t)
	if !l.send(0, 1200) { // more than twice of what may be under way
		t.Fatalf("%v", l.last())
	}
	told := 0
	for _, err := range l.failed {
		if strings.Contains(err.Error(), "the server confirmed none of") {
			told++
		}
	}
	if told < 500 {
		t.Errorf("%d of %d failures say that nothing was confirmed, such as: %v", told, len(l.failed), l.failed[len(l.failed)-1])
	}
	n.ctl(t, "eval", `ra:trigger_election({'%2F_killed.-first.0', node()}).`)
	if !l.send(1000, 0) {
		t.Fatalf("the queue has a leader, and the server confirms nothing: %v\n%s", l.last(), n.logged())
	}
	if err := l.p.Flush(l.ctx); err != nil {
		t.Error(err)
	}
}
