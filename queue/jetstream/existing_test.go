package jetstream

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"queuebench/queue"
)

// A stream of somebody else's is read from where it ends and written to, and is
// there afterwards with all that lay in it, but for our groups.
func TestAnExistingStream(t *testing.T) {
	s := start(t, serverConfig{})
	theirs := Config{URL: s.url, Name: "THEIRS", Existing: true, GroupPrefix: "run-1-"}
	if _, err := New(t.Context(), theirs); err == nil || !strings.Contains(err.Error(), "THEIRS") || !strings.Contains(err.Error(), "must be there") {
		t.Fatalf("without the stream: %v", err)
	}
	admin := open(t, Config{URL: s.url})
	stream, err := admin.js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "THEIRS", Subjects: []string{"all.>", "orders.new"}})
	if err != nil {
		t.Fatal(err)
	}
	q := open(t, theirs)
	add := func(subject, text string) {
		if _, err := q.js.Publish(t.Context(), subject, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	add("all.x", "before")
	if err := q.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	add("all.y", "theirs")
	p, err := q.Producer(t.Context(), queue.ProducerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Send(t.Context(), []queue.Message{{Payload: []byte("ours")}}); err != nil {
		t.Fatal(err)
	}
	if err := p.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := q.Consumer(t.Context(), queue.ConsumerConfig{Group: "g"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for len(got) < 2 {
		batch, err := c.Receive(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range batch {
			if got = append(got, string(d.Payload)); d.Partition != 0 {
				t.Errorf("partition %d", d.Partition)
			}
		}
	}
	if strings.Join(got, ",") != "theirs,ours" {
		t.Errorf("received %q", got)
	}
	c.Close()
	if err := q.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	if info, err := stream.Info(t.Context()); err != nil || info.State.Msgs != 3 || info.State.Consumers != 0 {
		t.Errorf("%+v, %v", info, err)
	}
	if _, err := q.js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "WILD", Subjects: []string{"wild.*"}}); err != nil {
		t.Fatal(err)
	}
	other := open(t, Config{URL: s.url, Name: "WILD", Existing: true})
	if err := other.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Producer(t.Context(), queue.ProducerConfig{}); err == nil || !strings.Contains(err.Error(), "--nats-subject") {
		t.Errorf("a stream of wildcards only: %v", err)
	}
}

// What an acknowledgement of a stream of somebody else's means is what that stream
// is set to, not what one of ours would be.
func TestDurabilityOfAnExistingStream(t *testing.T) {
	s := start(t, serverConfig{Monitor: -1})
	admin := open(t, Config{URL: s.url})
	for says, c := range map[string]struct {
		cfg  jetstream.StreamConfig
		safe bool
	}{
		"storage file, 1 replicas":                {jetstream.StreamConfig{Storage: jetstream.FileStorage}, true},
		"in no file":                              {jetstream.StreamConfig{Storage: jetstream.MemoryStorage}, false},
		"writes its file later":                   {jetstream.StreamConfig{PersistMode: jetstream.AsyncPersistMode}, false},
		"drops its oldest messages beyond limits": {jetstream.StreamConfig{MaxMsgs: 10}, false},
		"acknowledges nothing":                    {jetstream.StreamConfig{NoAck: true}, false},
		"written to a file of one server":         {jetstream.StreamConfig{MaxBytes: 1 << 20, Discard: jetstream.DiscardNew}, true},
	} {
		c.cfg.Name = "S" + strings.ReplaceAll(strings.ReplaceAll(says, " ", "-"), ",", "")
		c.cfg.Subjects = []string{c.cfg.Name}
		if _, err := admin.js.CreateStream(t.Context(), c.cfg); err != nil {
			t.Fatal(err)
		}
		info := open(t, Config{URL: s.url, Name: c.cfg.Name, Existing: true}).Info()
		if !strings.Contains(info.Durability, says) || info.LosesNothing != c.safe {
			t.Errorf("%s: %+v", says, info)
		}
	}
}
