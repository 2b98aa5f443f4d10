package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"queuebench/internal/secret"
	"queuebench/queue"
)

// A full buffer makes Send wait, is told of, and drops nothing.
func TestAFullBufferWaits(t *testing.T) {
	k := cluster(t)
	for name, change := range map[string]func(*ProducerSettings){
		"messages": func(p *ProducerSettings) { p.BufferMessages = 10 },
		"bytes":    func(p *ProducerSettings) { p.BufferBytes, p.BatchBytes = 1000, 600 },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(k)
			cfg.Settings.Producer.Linger = 5 * time.Millisecond
			change(&cfg.Settings.Producer)
			q := created(t, cfg)
			p := produce(t, q)
			var ms []queue.Message
			for i := range 200 {
				ms = append(ms, queue.Message{Payload: fmt.Appendf(nil, "%0100d", i), Partition: queue.AnyPartition})
			}
			if n, err := p.Send(t.Context(), ms); n != 200 || err != nil {
				t.Fatalf("Send took %d: %v", n, err)
			}
			if n := p.Pending(); n > 10 {
				t.Errorf("%d are pending in a buffer of 10", n)
			}
			if err := p.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			if p.acked != 200 {
				t.Errorf("%d of 200 acknowledged", p.acked)
			}
			if e := p.events[len(p.events)-1]; e.Kind != "blocked" || e.Took <= 0 {
				t.Errorf("the last event is %+v", e)
			}
		})
	}
}

// What a broker refuses is counted, with its reason.
func TestFailedDeliveriesAreNamed(t *testing.T) {
	k := cluster(t)
	q := created(t, config(k))
	p := produce(t, q)
	refuse := func(code int16) {
		k.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
			r := req.ResponseKind().(*kmsg.ProduceResponse)
			for _, topic := range req.(*kmsg.ProduceRequest).Topics {
				rt := kmsg.NewProduceResponseTopic()
				rt.Topic, rt.TopicID = topic.Topic, topic.TopicID
				for _, part := range topic.Partitions {
					rp := kmsg.NewProduceResponseTopicPartition()
					rp.Partition, rp.ErrorCode, rp.BaseOffset = part.Partition, code, -1
					rt.Partitions = append(rt.Partitions, rp)
				}
				r.Topics = append(r.Topics, rt)
			}
			return r, nil, true
		})
	}
	p.send(t, 0, "before")
	refuse(kerr.TopicAuthorizationFailed.Code)
	p.send(t, 0, "a", "b", "c")
	if len(p.failed) == 0 || !errors.Is(p.failed[0].Err, kerr.TopicAuthorizationFailed) || !strings.Contains(p.failed[0].Err.Error(), "TOPIC_AUTHORIZATION_FAILED") {
		t.Errorf("failed: %+v", p.failed)
	}
	large := strings.Repeat("x", 2_000_000)
	p.send(t, 0, large)
	if last := p.failed[len(p.failed)-1]; !errors.Is(last.Err, kerr.MessageTooLarge) || last.First != 4 {
		t.Errorf("a message of 2 MB: %+v", last)
	}
	p.send(t, 0, "after")
	if p.acked != 2 {
		t.Errorf("%d acknowledged, two were sent that were not refused", p.acked)
	}
}

// A transaction whose commit fails acknowledges nothing, and its messages are
// read by nobody.
func TestATransactionThatFails(t *testing.T) {
	k := cluster(t)
	cfg := config(k)
	cfg.Settings.Producer.Transactional, cfg.Settings.Producer.CommitInterval = "tx", time.Hour
	q := created(t, cfg)
	p := produce(t, q)
	c := consume(t, q, "g", queue.Start{})
	k.ControlKey(int16(kmsg.EndTxn), func(req kmsg.Request) (kmsg.Response, error, bool) {
		r := req.ResponseKind().(*kmsg.EndTxnResponse)
		r.ErrorCode = kerr.TransactionalIDAuthorizationFailed.Code
		return r, nil, true
	})
	if _, err := p.Send(t.Context(), []queue.Message{{Payload: []byte("never"), Partition: 0}}); err != nil {
		t.Fatal(err)
	}
	if got, _ := c.receive(t, 1, 100*time.Millisecond); len(got) > 0 || p.acked > 0 {
		t.Errorf("%q was received and %d acknowledged before a commit", got, p.acked)
	}
	if err := p.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.acked > 0 || len(p.failed) != 1 || !strings.Contains(p.failed[0].Err.Error(), "committing a transaction") {
		t.Errorf("%d acknowledged, failed: %+v", p.acked, p.failed)
	}
	if got, _ := c.receive(t, 1, 100*time.Millisecond); len(got) > 0 {
		t.Errorf("%q was received of a transaction that failed", got)
	}
}

// Closing aborts what is open, which would otherwise hold up every reader.
func TestClosingEndsATransaction(t *testing.T) {
	k := cluster(t)
	cfg := config(k)
	cfg.Settings.Producer.Transactional, cfg.Settings.Producer.CommitInterval, cfg.Settings.Producer.Linger = "tx", time.Hour, 0
	q := created(t, cfg)
	p := produce(t, q)
	if _, err := p.Send(t.Context(), []queue.Message{{Payload: []byte("given up"), Partition: 0}}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond) // it is on the broker
	p.Close()
	if p.acked != 0 || len(p.failed) != 1 {
		t.Errorf("%d acknowledged, %d failed", p.acked, len(p.failed))
	}
	c := consume(t, q, "g", queue.Start{})
	produce(t, q).send(t, 0, "kept")
	if got, err := c.receive(t, 1, 5*time.Second); err != nil || got[0] != "kept" {
		t.Errorf("received %q, %v", got, err)
	}
}

func TestAcksZeroTellNoOffset(t *testing.T) {
	cfg := config(cluster(t))
	cfg.Settings.Producer.Acks, cfg.Settings.Producer.Idempotent = 0, false
	q := created(t, cfg)
	var acks []queue.Ack
	p, err := q.Producer(t.Context(), queue.ProducerConfig{Acked: func(as []queue.Ack) { acks = append(acks, as...) }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Send(t.Context(), []queue.Message{{Payload: []byte("x"), Partition: 0}}); err != nil {
		t.Fatal(err)
	}
	if err := p.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Close()
	if len(acks) != 1 || acks[0].Err != nil || acks[0].Offset != -1 || acks[0].OffsetStep != 0 {
		t.Errorf("acknowledged: %+v", acks)
	}
	if info := q.Info(); info.LosesNothing || info.DeliversOnce {
		t.Errorf("acks=0 promises: %+v", info)
	}
}

func TestPartitioners(t *testing.T) {
	for _, name := range partitioners {
		p := newPartitioner(name).ForTopic("t")
		m := &message{partition: 3}
		r := &kgo.Record{Key: []byte("k"), Context: m}
		if !p.RequiresConsistency(r) || p.Partition(r, 5) != 3 {
			t.Errorf("%s: a message for partition 3 goes elsewhere", name)
		}
		m.partition = -1
		first := p.Partition(r, 7)
		if first < 0 || first > 6 {
			t.Errorf("%s: partition %d of 7", name, first)
		}
		keyed := name != "random" && name != "roundrobin" && name != "sticky"
		for range 20 {
			if got := p.Partition(r, 7); keyed && got != first {
				t.Errorf("%s: one key in partitions %d and %d", name, first, got)
			}
		}
	}
	// Known answers: murmur2 as Java's client, crc32 as librdkafka's.
	for name, want := range map[string]int{"murmur2_random": 0, "consistent_random": 8} {
		r := &kgo.Record{Key: []byte("key-1"), Context: &message{partition: -1}}
		if got := newPartitioner(name).ForTopic("t").Partition(r, 10); got != want {
			t.Errorf("%s: key-1 of 10 partitions is in %d, want %d", name, got, want)
		}
	}
}

// SASL against a broker that checks it.
func TestSASL(t *testing.T) {
	for _, mechanism := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} {
		k := cluster(t, kfake.EnableSASL(), kfake.Superuser(mechanism, "anna", "right"))
		for password, good := range map[string]bool{"right": true, "wr0ng-secret": false} {
			cfg := config(k)
			cfg.Settings.Protocol, cfg.Settings.SASL = "sasl_plaintext", SASL{mechanism, "anna", secret.Of(password)}
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			q, err := New(ctx, cfg)
			cancel()
			if good != (err == nil) {
				t.Errorf("%s with the password %q: %v", mechanism, password, err)
			}
			if err != nil && strings.Contains(err.Error(), password) {
				t.Errorf("the error tells the password: %v", err)
			}
			if err != nil {
				continue
			}
			t.Cleanup(func() { q.Close() })
			if err := q.Create(t.Context()); err != nil {
				t.Fatal(err)
			}
			c := consume(t, q, "g", queue.Start{})
			produce(t, q).send(t, 0, "x")
			if got, err := c.receive(t, 1, 5*time.Second); err != nil || got[0] != "x" {
				t.Errorf("%s: received %q, %v", mechanism, got, err)
			}
		}
	}
}
