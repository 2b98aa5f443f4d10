package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"queuebench/queue"
	"queuebench/queue/memory"
	"queuebench/rawlog"
	"queuebench/runner/payload"
	"queuebench/runner/schedule"
)

// arrive makes a run of two producers over a schedule.
func arrive(t *testing.T, s schedule.Spec) *rig {
	t.Helper()
	made, err := schedule.New(s)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, memory.Config{}, s.Profile.Mean(made.Duration()), made.Duration())
	p := r.plan()
	p.Schedule, p.Load.Producers = made, 2
	return r
}

// The log has each message of each kind of arrivals once, intended when the
// schedule says, to the nanosecond, and never sent before.
func TestEachKindOfArrivalsIsKept(t *testing.T) {
	ramp, err := schedule.ParseProfile("0s:2000,100ms~10000,200ms:0,300ms:5000")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []schedule.Spec{
		{Kind: schedule.ConstantArrivals, Profile: ramp, Duration: 400 * time.Millisecond},
		{Kind: schedule.PoissonArrivals, Profile: ramp, Duration: 400 * time.Millisecond, Seed: 1},
		{Kind: schedule.PoissonArrivals, Profile: schedule.Steady(5_000_000), Messages: 2000, Seed: 2},
		{Kind: schedule.JitterArrivals, Profile: schedule.Steady(5_000_000), Duration: 300 * time.Millisecond, Seed: 3},
		{Kind: schedule.BurstArrivals, Profile: schedule.Steady(5_000_000), Duration: 300 * time.Millisecond, Burst: 333},
		{Kind: schedule.BurstArrivals, Profile: schedule.Steady(14_485_000), Messages: 14_485},
		{Kind: schedule.PathwayBurstArrivals, Profile: schedule.Steady(20_000_000), Duration: 550 * time.Millisecond},
	} {
		name := fmt.Sprintf("%s/%s", s.Kind, s.Profile)
		t.Run(name, func(t *testing.T) {
			r := arrive(t, s)
			plan := r.plan()
			n := plan.Schedule.Len()
			res, err := Run(t.Context(), r.cfg)
			if err != nil {
				t.Fatal(err)
			}
			// A host that is too slow has overrun messages, which is no matter here.
			if a := res.Steps[0].Accounting; a.Scheduled != n || a.Acked+a.Overrun != n || a.Received != a.Acked || a.Acked == 0 {
				t.Fatalf("%d messages: %+v", n, a)
			}
			step := r.manifest(t).Steps[0]
			if step.Arrivals != string(s.Kind) || (step.RateProfile != "") != (len(s.Profile) > 1) || step.DurationNs != int64(plan.Schedule.Duration()) {
				t.Errorf("the log says %q, %q, %d ns", step.Arrivals, step.RateProfile, step.DurationNs)
			}
			shares := []schedule.Share{schedule.NewShare(plan.Schedule, 0, 2), schedule.NewShare(plan.Schedule, 1, 2)}
			seen := map[[2]int64]bool{}
			atOnce := map[[2]int64]int{} // messages with a stamp
			r.rows(t, "sent", []string{"producer", "seq", "intended_ns", "sent_ns"}, func(_ rawlog.Part, n int, v []rawlog.Values) {
				for i := range n {
					producer, seq, intended, sent := v[0].Ints[i], v[1].Ints[i], v[2].Ints[i], v[3].Ints[i]
					if want := step.StartedNs + shares[producer].At(seq); intended != want || sent < intended && sent != rawlog.Null {
						t.Fatalf("producer %d, message %d: intended %d, want %d, sent %d", producer, seq, intended, want, sent)
					}
					seen[[2]int64{producer, seq}] = true
					if sent != rawlog.Null {
						atOnce[[2]int64{producer, sent}]++
					}
				}
			})
			if int64(len(seen)) != n {
				t.Errorf("%d messages have a row, want %d", len(seen), n)
			}
			for _, k := range atOnce {
				if s.Kind == schedule.PathwayBurstArrivals && k > schedule.PathwayGroup {
					t.Errorf("%d messages share a stamp: groups have %d", k, schedule.PathwayGroup)
				}
			}
		})
	}
}

// A queue with a steady latency has open messages in proportion to the rate:
// that is no sign of falling behind. The same climb at a steady rate is one.
func TestOpenMessagesThatFollowTheRateAreNotBehind(t *testing.T) {
	spec := schedule.Spec{Duration: 40 * time.Second}
	var err error
	if spec.Profile, err = schedule.ParseProfile("0s:1000,39s~9000"); err != nil {
		t.Fatal(err)
	}
	climbs, err := schedule.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		schedule schedule.Schedule
		behind   bool
	}{{climbs, false}, {schedule.NewConstant(5_000_000, 40*time.Second), true}} {
		plan := Plan{Rate: 5_000_000, Schedule: c.schedule}
		var points []point
		for at := int64(0); at < int64(40*time.Second); at += int64(100 * time.Millisecond) {
			open := 2 * spec.Profile.RateAt(time.Duration(at)) // a latency of 2 s
			points = appendOpen(points, plan, at, open)
		}
		if got := rising(points, int64(40*time.Second), 5000); (got != "") != c.behind {
			t.Errorf("%T: %q", c.schedule, got)
		}
	}
}

// watched is a queue that keeps what producers hand to it.
type watched struct {
	queue.Queue
	mu   sync.Mutex
	seen []queue.Message
}

func (q *watched) Producer(ctx context.Context, cfg queue.ProducerConfig) (queue.Producer, error) {
	p, err := q.Queue.Producer(ctx, cfg)
	return &watchedProducer{p, q}, err
}

type watchedProducer struct {
	queue.Producer
	q *watched
}

func (p *watchedProducer) Send(ctx context.Context, batch []queue.Message) (int, error) {
	p.q.mu.Lock()
	for _, m := range batch {
		p.q.seen = append(p.q.seen, queue.Message{Payload: []byte(string(m.Payload)), Key: []byte(string(m.Key)), Headers: m.Headers, Partition: m.Partition})
	}
	p.q.mu.Unlock()
	return p.Producer.Send(ctx, batch)
}

// What the queue is handed has the lines, keys and headers of the plan, each
// message once, whatever the batches.
func TestPayloadsReachTheQueue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	var text strings.Builder
	for i := range 700 {
		fmt.Fprintf(&text, "%s%d\n", strings.Repeat("x", i*7), i)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	lines, err := payload.OpenLines(path)
	if err != nil {
		t.Fatal(err)
	}
	r := arrive(t, schedule.Spec{Kind: schedule.BurstArrivals, Profile: schedule.Steady(7_000_000), Messages: 1400})
	p := r.plan()
	p.Load.Payload = payload.Spec{Lines: lines, Keys: payload.Keys{N: 7}, Headers: []queue.Header{{Name: "a", Value: []byte("b")}}}
	w := &watched{}
	r.opens(func() (queue.Queue, error) {
		q, err := memory.New(memory.Config{})
		w.Queue = q
		return w, err
	})
	accounting(t, r, rawlog.Accounting{Scheduled: 1400, Attempted: 1400, Acked: 1400, Received: 1400})
	got := map[string]int{}
	for _, m := range w.seen {
		if m.Partition != queue.AnyPartition {
			continue // an end mark
		}
		if len(m.Headers) != 1 || m.Headers[0].Name != "a" {
			t.Fatalf("headers %v", m.Headers)
		}
		got[strings.TrimLeft(string(m.Payload[16:]), "x")+" "+string(m.Key)]++
	}
	for i := range 700 {
		if n := got[fmt.Sprintf("%d key-%d", i, i%7)]; n != 2 { // 700 lines are 100 rounds of the keys
			t.Errorf("line %d came %d times with its key", i, n)
		}
	}
	if len(got) != 700 {
		t.Errorf("%d different messages", len(got))
	}
}

func TestAStepThatCannotReadItsLinesFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(path, []byte(strings.Repeat("some line of text\n", 200_000)), 0o644); err != nil {
		t.Fatal(err)
	}
	lines, err := payload.OpenLines(path)
	if err != nil {
		t.Fatal(err)
	}
	r := arrive(t, schedule.Spec{Profile: schedule.Steady(100_000_000), Duration: time.Second})
	r.plan().Load.Payload = payload.Spec{Lines: lines}
	var once sync.Once
	r.cfg.Status = func(Status) {
		once.Do(func() { err = os.Truncate(path, 1000) })
	}
	res, runErr := Run(t.Context(), r.cfg)
	if err != nil || !errors.Is(runErr, payload.ErrLines) {
		t.Fatalf("the run ended with %v, %v", runErr, err)
	}
	if a := res.Steps[0].Accounting; a.Scheduled != a.Attempted+a.Overrun || a.Acked == 0 || res.Steps[0].Complete {
		t.Errorf("accounting %+v", a)
	}
}

// bare is a queue that says that it has no headers.
type bare struct{ queue.Queue }

func (q bare) Info() queue.Info {
	i := q.Queue.Info()
	i.Headers = false
	return i
}

func TestHeadersThatAQueueDoesNotCarryAreRefused(t *testing.T) {
	r := newRig(t, memory.Config{}, 1_000_000, 50*time.Millisecond)
	r.plan().Load.Payload.Headers = []queue.Header{{Name: "a"}}
	r.opens(func() (queue.Queue, error) {
		q, err := memory.New(memory.Config{})
		return bare{q}, err
	})
	if _, err := Run(t.Context(), r.cfg); err == nil || !strings.Contains(err.Error(), "carries no headers") {
		t.Errorf("%v", err)
	}
}
