package rabbitmq

import (
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"queuebench/queue"
	"queuebench/queue/broker"
)

func TestHeaders(t *testing.T) {
	for _, hs := range [][]queue.Header{
		{{Name: "a"}, {Name: "b"}, {Name: "a"}},
		{{Name: strings.Repeat("n", 129)}},
	} {
		if checkHeaders(hs) == nil {
			t.Errorf("%q was not refused", hs)
		}
	}
	q := &Queue{}
	m := broker.Outgoing{Number: 36, Message: queue.Message{Headers: []queue.Header{{Name: "z", Value: []byte{0}}, {Name: "a", Value: []byte("x")}}}}
	out := q.publishing(&m)
	out.Headers["x-delivery-count"] = int64(3)
	out.Headers["number"] = int64(7)
	got := appendHeaders(nil, out.Headers)
	if len(got) != 3 || got[0].Name != "a" || string(got[1].Value) != "7" || string(got[2].Value) != "\x00" || out.MessageId != "10" || out.DeliveryMode != amqp.Persistent {
		t.Errorf("the headers came as %q", got)
	}
}

// A line tells the fate of its messages in order, and a returned one has failed
// although the server confirms it.
func TestConfirms(t *testing.T) {
	l := &line{returns: make(chan amqp.Return, 4), returned: map[string]bool{}, partition: 2, pending: []published{{number: 7}, {number: 9}, {number: 40}}}
	l.returns <- amqp.Return{MessageId: messageID(9)}
	var acks []queue.Ack
	for _, ok := range []bool{true, true, false, true} {
		acks = l.confirm(acks, amqp.Confirmation{Ack: ok})
	}
	want := []queue.Ack{{First: 7, N: 1, Partition: 2, Offset: -1}, {First: 9, N: 1, Partition: 2, Offset: -1, Err: errReturned}, {First: 40, N: 1, Partition: 2, Offset: -1, Err: errNack}}
	if len(acks) != len(want) {
		t.Fatalf("%d fates", len(acks))
	}
	for i := range want {
		if acks[i] != want[i] {
			t.Errorf("fate %d is %+v", i, acks[i])
		}
	}
}

func TestDurabilityIsWhatWasAskedFor(t *testing.T) {
	for says, c := range map[string]struct {
		cfg  Config
		safe bool
	}{
		"synced to disk by a majority of a quorum": {Config{}, true},
		"majority of the 3 replicas":               {Config{Replicas: 3}, true},
		"persistent messages":                      {Config{Type: Classic}, true},
		"in the memory of one server":              {Config{Type: Classic, Transient: true}, false},
		"no publisher confirms":                    {Config{Unconfirmed: true}, false},
		"consumers do not acknowledge":             {Config{AutoAck: true}, false},
	} {
		c.cfg.URL = "amqp://127.0.0.1/"
		if err := c.cfg.Check(); err != nil {
			t.Error(err)
		}
		if got := c.cfg.withDefaults().describe("3.10.8"); !strings.Contains(got.Durability, says) || !strings.Contains(got.Durability, "RabbitMQ 3.10.8") || got.LosesNothing != c.safe {
			t.Errorf("%+v is %+v", c.cfg, got)
		}
	}
	two := []string{"a", "b"}
	for _, cfg := range []Config{{}, {URL: "x", ConfirmTimeout: 1}, {URL: "x", Theirs: Place{Queue: "q", Exchange: "e"}}, {URL: "x", Theirs: Place{Queue: "q"}, Partitions: 2}, {URL: "x", Theirs: Place{Queue: "q"}, Groups: two}, {URL: "x", Type: "lazy"}, {URL: "x", Transient: true}, {URL: "x", Type: Classic, Replicas: 3}, {URL: "x", Prefetch: 70000}, {URL: "x", Prefetch: -1}} {
		if cfg.Check() == nil {
			t.Errorf("%+v was not refused", cfg)
		}
	}
}
