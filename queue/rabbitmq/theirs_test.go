//go:build interop

package rabbitmq

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"queuebench/queue"
)

// server is a channel on which a test makes what is somebody else's, under a name of
// its own.
func server(t *testing.T) (ch *amqp.Channel, name string) {
	t.Helper()
	q := open(t, Config{})
	conn, err := q.dial(t.Context(), "test")
	if err == nil {
		ch, err = conn.Channel()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return ch, fmt.Sprintf("theirs-%d-%d", os.Getpid(), names.Add(1))
}

// pass sends messages into a queue and takes as many out of another, which may be
// the same, and returns what came.
func pass(t *testing.T, in, out *Queue, bodies ...string) (got []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c, err := out.Consumer(ctx, queue.ConsumerConfig{Group: "group-0", Start: queue.Start{Kind: queue.StartLatest}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	acked := int64(0)
	p, err := in.Producer(ctx, queue.ProducerConfig{Acked: func(as []queue.Ack) {
		for _, a := range as {
			if acked += a.N; a.Err != nil {
				t.Errorf("a message has failed: %v", a.Err)
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, b := range bodies {
		if _, err := p.Send(ctx, []queue.Message{{Payload: []byte(b)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Flush(ctx); err != nil || acked != int64(len(bodies)) {
		t.Fatalf("%d acknowledged: %v", acked, err)
	}
	for len(got) < len(bodies) {
		batch, err := c.Receive(ctx)
		if err != nil {
			t.Fatalf("after %q: %v", got, err)
		}
		for _, d := range batch {
			if got = append(got, string(d.Payload)); d.Partition != 0 {
				t.Errorf("partition %d", d.Partition)
			}
		}
	}
	slices.Sort(got)
	return got
}

// A queue of somebody else's is written and read, and is there afterwards. One that
// has messages, or is read by others, is refused where a run would take part in
// that, and not where it is only written.
func TestAQueueOfSomebodyElse(t *testing.T) {
	ch, name := server(t)
	theirs := Place{Queue: name, Untouched: true}
	q := open(t, Config{Theirs: theirs})
	if err := q.Create(t.Context()); err == nil || !strings.Contains(err.Error(), "no queue "+name) || !strings.Contains(err.Error(), "must be there") {
		t.Fatalf("without the queue: %v", err)
	}
	if _, err := ch.QueueDeclare(name, true, false, false, false, amqp.Table{"x-queue-type": "quorum"}); err != nil {
		t.Fatal(err)
	}
	defer func() { ch.QueueDelete(name, false, false, false) }()
	for range 2 { // steps
		q := open(t, Config{Theirs: theirs})
		if err := q.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := pass(t, q, q, "a", "b", "c"); strings.Join(got, "") != "abc" {
			t.Errorf("received %q", got)
		}
		if err := q.Remove(t.Context()); err != nil {
			t.Error(err)
		}
		if info := q.Info(); info.LosesNothing || !strings.Contains(info.Durability, "the queue "+name) || !strings.Contains(info.Durability, "is not told") {
			t.Errorf("%+v", info)
		}
		// The server has our consumer for a moment longer, and what it acknowledged.
		settled := func(s amqp.Queue) bool { return s.Messages+s.Consumers == 0 }
		state, err := ch.QueueDeclarePassive(name, true, false, false, false, nil)
		for i := 0; err == nil && !settled(state) && i < 300; i++ {
			time.Sleep(50 * time.Millisecond)
			state, err = ch.QueueDeclarePassive(name, true, false, false, false, nil)
		}
		if err != nil || !settled(state) {
			t.Fatalf("the queue is %+v after the step: %v", state, err)
		}
	}
	if err := ch.Publish("", name, false, false, amqp.Publishing{Body: []byte("theirs")}); err != nil {
		t.Fatal(err)
	}
	if _, err := ch.Consume(name, "", false, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	if err := open(t, Config{Theirs: theirs}).Create(t.Context()); err == nil || !strings.Contains(err.Error(), "1 consumers") || !strings.Contains(err.Error(), "or an exchange") {
		t.Errorf("a queue that is in use: %v", err)
	}
	if err := open(t, Config{Theirs: Place{Queue: name, WriteOnly: true}}).Create(t.Context()); err != nil {
		t.Errorf("a queue that is only written: %v", err)
	}
}

// An exchange of somebody else's is read through queues of our own: its other queues
// get all that they would get without us, and ours are gone afterwards, also by what
// cleans up after a run that was killed.
func TestAnExchangeOfSomebodyElse(t *testing.T) {
	for kind, key := range map[string]string{"fanout": "", "topic": "orders.new", "direct": "orders"} {
		t.Run(kind, func(t *testing.T) {
			ch, name := server(t)
			theirs := Place{Exchange: name, Key: key, Binding: key}
			q := open(t, Config{Theirs: theirs})
			if err := q.Create(t.Context()); err == nil || !strings.Contains(err.Error(), "no exchange "+name) {
				t.Fatalf("without the exchange: %v", err)
			}
			if err := ch.ExchangeDeclare(name, kind, true, false, false, false, nil); err != nil {
				t.Fatal(err)
			}
			defer func() { ch.ExchangeDelete(name, false, false) }()
			if _, err := ch.QueueDeclare(name+"-q", true, false, false, false, nil); err != nil {
				t.Fatal(err)
			}
			defer func() { ch.QueueDelete(name+"-q", false, false, false) }()
			if err := ch.QueueBind(name+"-q", key, name, false, nil); err != nil {
				t.Fatal(err)
			}
			if err := q.Create(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := pass(t, q, q, "a", "b"); strings.Join(got, "") != "ab" {
				t.Errorf("received %q", got)
			}
			if info := q.Info(); !info.LosesNothing || !strings.Contains(info.Durability, "bound to the exchange "+name) {
				t.Errorf("%+v", info)
			}
			if err := q.Remove(t.Context()); err != nil {
				t.Error(err)
			}
			killed := open(t, Config{Theirs: theirs, Groups: []string{"group-0", "group-1"}})
			if err := killed.Create(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n, err := RemoveExchanges(t.Context(), Config{URL: url(t)}, []string{q.cfg.Name, killed.cfg.Name}); n != 1 || err != nil {
				t.Errorf("%d were removed: %v", n, err)
			}
			state, err := ch.QueueDeclarePassive(name+"-q", true, false, false, false, nil)
			if err != nil || state.Messages != 2 {
				t.Errorf("their queue is %+v: %v", state, err)
			}
			if err := ch.Publish(name, key, true, false, amqp.Publishing{Body: []byte("later")}); err != nil {
				t.Error(err)
			}
			if _, err := ch.QueueDeclarePassive(killed.queueName("group-1", 0), true, false, false, false, nil); err == nil {
				t.Error("a queue of ours is left")
			}
		})
	}
}

// A pipeline lies between a queue that is only written and one that is only read.
func TestFromOneQueueToAnother(t *testing.T) {
	ch, name := server(t)
	for _, q := range []string{name + "-in", name + "-out"} {
		if _, err := ch.QueueDeclare(q, true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		defer func() { ch.QueueDelete(q, false, false, false) }()
	}
	deliveries, err := ch.Consume(name+"-in", "", true, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the channel
		for d := range deliveries {
			_ = ch.Publish("", name+"-out", false, false, amqp.Publishing{Body: append([]byte("made of "), d.Body...)})
		}
	}()
	in := open(t, Config{Theirs: Place{Queue: name + "-in", WriteOnly: true}})
	out := open(t, Config{Theirs: Place{Queue: name + "-out", Untouched: true}})
	for _, q := range []*Queue{in, out} {
		if err := q.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := pass(t, in, out, "a", "b"); strings.Join(got, ", ") != "made of a, made of b" {
		t.Errorf("received %q", got)
	}
}
