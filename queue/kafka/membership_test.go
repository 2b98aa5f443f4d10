package kafka

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"queuebench/queue"
)

// A consumer that is stalled for longer than the session and the poll interval
// stays in its group, holds no more than its bound, and goes on where it was.
func TestAStalledConsumerStaysInItsGroup(t *testing.T) {
	k := cluster(t)
	for _, backlog := range []int{0, 7} {
		cfg := config(k)
		cfg.Partitions, cfg.MaxBacklog = 2, backlog
		s := &cfg.Settings.Consumer
		s.Session, s.Heartbeat, s.Rebalance = 900*time.Millisecond, 50*time.Millisecond, 900*time.Millisecond
		q := created(t, cfg)
		c := consume(t, q, "g", queue.Start{})
		p := produce(t, q)
		for i := range 20 {
			p.send(t, int32(i%2), numbered(i*10, 10)...)
		}
		first, err := c.receive(t, 1, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		before := c.kinds()
		time.Sleep(2700 * time.Millisecond)
		if held := len(held(c)); backlog > 0 && held > backlog {
			t.Errorf("a backlog of %d holds %d", backlog, held)
		}
		rest, err := c.receive(t, 200-len(first), 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if got := append(first, rest...); !sameSet(got, numbered(0, 200)) {
			t.Errorf("backlog %d: %d messages, not each of 200 once", backlog, len(got))
		}
		after := c.kinds()
		if after["rebalance"] != before["rebalance"] || after["lost-partitions"] > 0 || after["revoked"] > 0 {
			t.Errorf("backlog %d: events %v, after the stall %v", backlog, before, after)
		}
		if backlog > 0 && after["paused"] == 0 {
			t.Errorf("backlog %d: no event tells of a pause: %v", backlog, after)
		}
	}
}

// A member that the coordinator does not know any more joins again, and delivers
// nothing again that was not committed.
func TestALostMembershipRepeatsNothing(t *testing.T) {
	k := cluster(t)
	cfg := config(k)
	cfg.Settings.Consumer.CommitInterval = time.Hour
	q := created(t, cfg)
	c := consume(t, q, "g", queue.Start{})
	p := produce(t, q)
	p.send(t, 0, numbered(0, 50)...)
	got, err := c.receive(t, 50, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	k.ControlKey(int16(kmsg.Heartbeat), func(req kmsg.Request) (kmsg.Response, error, bool) {
		r := req.ResponseKind().(*kmsg.HeartbeatResponse)
		r.ErrorCode = kerr.UnknownMemberID.Code
		return r, nil, true
	})
	deadline := time.Now().Add(5 * time.Second)
	for c.kinds()["rebalance"] < 2 && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if n := c.kinds(); n["lost-partitions"] != 1 || n["rebalance"] != 2 {
		t.Errorf("events %v", n)
	}
	p.send(t, 0, numbered(50, 50)...)
	rest, err := c.receive(t, 50, 5*time.Second)
	more, _ := c.receive(t, 1, 200*time.Millisecond)
	if got = append(append(got, rest...), more...); !slices.Equal(got, numbered(0, 100)) {
		t.Errorf("%d deliveries, not each of 100 once: %v", len(got), err)
	}
}

// A rebalance while the partitions are paused loses nothing and repeats nothing.
func TestARebalanceWhilePausedIsExact(t *testing.T) {
	k := cluster(t)
	for _, strategy := range []string{"range", "cooperative-sticky"} {
		cfg := config(k)
		cfg.Partitions, cfg.MaxBacklog, cfg.Readers = 4, 5, 2
		cfg.Settings.Consumer.Assignment = []string{strategy}
		q := created(t, cfg)
		a := consume(t, q, "g", queue.Start{})
		p := produce(t, q)
		for part := range int32(4) {
			p.send(t, part, numbered(int(part)*100, 100)...)
		}
		got, err := a.receive(t, 1, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond) // its backlog fills
		b := consume(t, q, "g", queue.Start{})
		if err := q.joined(t.Context()); err != nil {
			t.Fatal(err)
		}
		type result struct{ texts []string }
		results := make(chan result, 2)
		for _, c := range []*heard{a, b} {
			go func() {
				texts, _ := c.receive(t, 1000, 1500*time.Millisecond)
				results <- result{texts}
			}()
		}
		for range 2 {
			r := <-results
			got = append(got, r.texts...)
			if len(r.texts) == 0 {
				t.Errorf("%s: a member got nothing", strategy)
			}
		}
		var want []string
		for part := range 4 {
			want = append(want, numbered(part*100, 100)...)
		}
		if !sameSet(got, want) {
			t.Errorf("%s: %d messages, not each of 400 once", strategy, len(got))
		}
	}
}
