package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"queuebench/queue"
)

// Static readers share partitions by number, and end at the ends that the first
// Receive saw.
func TestStaticReading(t *testing.T) {
	k := cluster(t)
	cfg := config(k)
	cfg.Partitions, cfg.Reading, cfg.Readers = 5, Static, 2
	for _, backlog := range []int{0, 3} {
		for _, transactional := range []string{"", "tx"} {
			cfg.Topic, cfg.MaxBacklog, cfg.Settings.Producer.Transactional = fmt.Sprintf("static-%d%s", backlog, transactional), backlog, transactional
			q := created(t, cfg)
			a, b := consume(t, q, "g", queue.Start{}), consume(t, q, "g", queue.Start{})
			p := produce(t, q)
			for part := range int32(5) {
				p.send(t, part, numbered(int(part)*100, 10)...)
			}
			first, err := a.receive(t, 1, 5*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			p.send(t, 0, "late")
			rest, err := a.receive(t, 1000, 5*time.Second)
			if !errors.Is(err, queue.ErrEnd) {
				t.Errorf("a static reader ended with %v", err)
			}
			var want []string
			for _, part := range []int{0, 2, 4} {
				want = append(want, numbered(part*100, 10)...)
			}
			if got := append(first, rest...); !sameSet(got, want) {
				t.Errorf("reader 0 of 2 got %q", got)
			}
			got, err := b.receive(t, 1000, 5*time.Second)
			if want = append(numbered(100, 10), numbered(300, 10)...); !errors.Is(err, queue.ErrEnd) || !sameSet(got, want) {
				t.Errorf("reader 1 of 2 got %q, %v", got, err)
			}
			if _, err := b.Receive(t.Context()); !errors.Is(err, queue.ErrEnd) {
				t.Errorf("and then %v", err)
			}
		}
	}
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// A start time is looked up in each partition. Beyond the end of one, a static
// reader gets nothing of it and a streaming one what is new.
func TestStartTime(t *testing.T) {
	k := cluster(t)
	cfg := config(k)
	cfg.Partitions = 2
	q := created(t, cfg)
	p := produce(t, q)
	p.send(t, 0, "old-0")
	p.send(t, 1, "old-1")
	time.Sleep(5 * time.Millisecond)
	at := time.Now()
	time.Sleep(5 * time.Millisecond)
	p.send(t, 0, "new-0")

	again := cfg
	again.Existing, again.Start = true, queue.Start{Kind: queue.StartTime, Time: at}
	again.Reading = Static
	static := open(t, again)
	got, err := consume(t, static, "s", queue.Start{}).receive(t, 100, 5*time.Second)
	if !errors.Is(err, queue.ErrEnd) || !slices.Equal(got, []string{"new-0"}) {
		t.Errorf("a static reader got %q, %v", got, err)
	}
	again.Reading = Streaming
	streaming := open(t, again)
	c := consume(t, streaming, "c", queue.Start{})
	p.send(t, 1, "newer-1")
	got, _ = c.receive(t, 100, 300*time.Millisecond)
	if !sameSet(got, []string{"new-0", "newer-1"}) {
		t.Errorf("a streaming reader got %q", got)
	}
	again.Start.Time = time.Now().Add(time.Hour)
	c = consume(t, open(t, again), "d", queue.Start{})
	p.send(t, 0, "newest")
	if got, _ = c.receive(t, 100, 300*time.Millisecond); !slices.Equal(got, []string{"newest"}) {
		t.Errorf("a streaming reader from the future got %q", got)
	}
}

// An existing topic is neither emptied nor removed, and what lay in it is of no
// concern; one that is there under the name of a topic that is to be made is not
// removed either.
func TestAnExistingTopicStays(t *testing.T) {
	k := cluster(t)
	cfg := config(k)
	cfg.Partitions = 3
	other := created(t, cfg)
	produce(t, other).send(t, 0, "theirs")

	q := open(t, cfg)
	if err := q.Create(t.Context()); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("Create over another's topic: %v", err)
	}
	if err := q.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	cfg.Existing, cfg.Partitions = true, 0
	q = created(t, cfg)
	if n := q.Info().Partitions; n != 3 {
		t.Errorf("a topic of 3 partitions has %d", n)
	}
	c := consume(t, q, "g", queue.Start{})
	produce(t, q).send(t, 0, "ours")
	if got, _ := c.receive(t, 100, 300*time.Millisecond); !slices.Equal(got, []string{"ours"}) {
		t.Errorf("received %q", got)
	}
	if err := q.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	if k.TopicInfo(cfg.Topic) == nil {
		t.Error("the topic is gone")
	}
	cfg.Topic = "never-made"
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := New(ctx, cfg); err == nil {
		t.Error("a topic that is not there was opened")
	}
}

// Errors that may pass are tried again; so many in a row are fatal.
func TestErrorsInARow(t *testing.T) {
	k := cluster(t)
	q := created(t, config(k))
	c := consume(t, q, "g", queue.Start{})
	p := produce(t, q)
	fail := func(most int) {
		fetches := 0 // counted by the cluster alone
		k.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
			if fetches++; fetches > most {
				return nil, nil, false
			}
			k.KeepControl()
			r := req.ResponseKind().(*kmsg.FetchResponse)
			for _, topic := range req.(*kmsg.FetchRequest).Topics {
				rt := kmsg.NewFetchResponseTopic()
				rt.Topic, rt.TopicID = topic.Topic, topic.TopicID
				for _, part := range topic.Partitions {
					rp := kmsg.NewFetchResponseTopicPartition()
					rp.Partition, rp.ErrorCode = part.Partition, kerr.NotLeaderForPartition.Code
					rt.Partitions = append(rt.Partitions, rp)
				}
				r.Topics = append(r.Topics, rt)
			}
			return r, nil, true
		})
	}
	fail(3)
	p.send(t, 0, "after some errors")
	if got, err := c.receive(t, 1, 10*time.Second); err != nil || got[0] != "after some errors" {
		t.Errorf("received %q, %v", got, err)
	}
	if n := c.kinds()["retry"]; n == 0 {
		t.Error("no event tells of the errors")
	}
	row := trouble{row: maxErrors - 1}
	c.Consumer.(*Consumer).err = row
	fail(1 << 30)
	if _, err := c.receive(t, 1, 10*time.Second); err == nil || !strings.Contains(err.Error(), "in a row") || !strings.Contains(err.Error(), "partition 0") {
		t.Errorf("after %d errors in a row: %v", maxErrors, err)
	}
}

// A topic that appears late is waited for; one half of a run creates it.
func TestAConsumerWaitsForItsTopic(t *testing.T) {
	k := cluster(t)
	cfg := config(k)
	reader := open(t, cfg)
	c := consume(t, reader, "g", queue.Start{Kind: queue.StartLatest})
	go func() {
		time.Sleep(100 * time.Millisecond)
		q, err := New(context.Background(), cfg)
		if err != nil || q.Create(context.Background()) != nil {
			return
		}
		defer q.Close()
		p, err := q.Producer(context.Background(), queue.ProducerConfig{})
		if err == nil {
			_, _ = p.Send(context.Background(), []queue.Message{{Payload: []byte("x"), Partition: queue.AnyPartition}})
			_ = p.Flush(context.Background())
		}
	}()
	if got, err := c.receive(t, 1, 10*time.Second); err != nil || got[0] != "x" {
		t.Errorf("received %q, %v", got, err)
	}
	if err := reader.Remove(t.Context()); err != nil || k.TopicInfo(cfg.Topic) != nil {
		t.Errorf("the half that reads did not remove the topic: %v", err)
	}
}

// What is gone is never skipped.
func TestMessagesThatAreGoneAreAnError(t *testing.T) {
	k := cluster(t)
	q := created(t, config(k))
	p := produce(t, q)
	p.send(t, 0, numbered(0, 10)...)
	c := consume(t, q, "g", queue.Start{Kind: queue.StartOffset, Offset: 3})
	if err := q.joined(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := c.receive(t, 7, 5*time.Second); err != nil || got[0] != "3" {
		t.Fatalf("received %q, %v", got, err)
	}
	if err := k.DeleteRecords(q.cfg.Topic, 0, 8); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Consumer(t.Context(), queue.ConsumerConfig{Group: "h", Start: queue.Start{Kind: queue.StartOffset, Offset: 3}}); err == nil || !strings.Contains(err.Error(), "offset 3") && !strings.Contains(err.Error(), "from 3") {
		t.Errorf("a start at what is gone: %v", err)
	}
}

func TestPathwayHeaders(t *testing.T) {
	k := cluster(t)
	cfg := config(k)
	cfg.Diffs = true
	q := created(t, cfg)
	c := consume(t, q, "g", queue.Start{})
	p := produce(t, q)
	for i, diff := range []string{"1", "-1", "", "2", "x", "-7"} {
		m := queue.Message{Payload: fmt.Append(nil, i), Partition: 0, Headers: []queue.Header{{Name: "pathway_time", Value: []byte("10")}, {Name: "pathway_diff", Value: []byte(diff)}}}
		if i == 2 {
			m.Headers = nil
		}
		if _, err := p.Send(t.Context(), []queue.Message{m}); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, _ := c.receive(t, 100, 300*time.Millisecond); !slices.Equal(got, []string{"0", "2", "3", "4"}) {
		t.Errorf("received %q", got)
	}
	c.Close()
	var texts []string
	for _, e := range c.events {
		if e.Kind == "retraction" || e.Kind == "note" {
			texts = append(texts, e.Text)
		}
	}
	if len(texts) != 2 || !strings.HasPrefix(texts[0], "2 records") || !strings.HasPrefix(texts[1], "1 records") {
		t.Errorf("events %q", texts)
	}
}

func TestBrokerStamps(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_123)
	for kind, want := range map[int8]string{0: "create", 1: "append", -1: ""} {
		var d deliveries
		d.add(&kgo.Record{Timestamp: at, Attrs: kgo.NewRecordAttrs(kgo.RecordAttrsOpts{TimestampType: kind})})
		if got := d.all[0]; got.BrokerKind != want || got.BrokerNs != int64(len(want)/max(1, len(want)))*at.UnixNano() {
			t.Errorf("type %d: kind %q, %d ns", kind, got.BrokerKind, got.BrokerNs)
		}
	}
	q := created(t, config(cluster(t)))
	before := time.Now().UnixMilli()
	produce(t, q).send(t, 0, "x")
	after := time.Now().UnixMilli()
	batch, err := consume(t, q, "g", queue.Start{}).Receive(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := batch[0]; d.BrokerKind != "create" || d.BrokerNs < before*1e6 || d.BrokerNs > after*1e6 {
		t.Errorf("kind %q, %d not within %d and %d ms", d.BrokerKind, d.BrokerNs, before, after)
	}
}
