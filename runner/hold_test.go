package runner

import (
	"context"
	"strings"
	"testing"
	"time"

	"queuebench/queue/memory"
	"queuebench/rawlog"
	"queuebench/runner/schedule"
)

// firstReceipt is when the first message was received.
func (r *rig) firstReceipt(t *testing.T) (first int64) {
	r.rows(t, "received", []string{"received_ns"}, func(_ rawlog.Part, n int, v []rawlog.Values) {
		for _, at := range v[0].Ints[:n] {
			if first == 0 || at < first {
				first = at
			}
		}
	})
	return first
}

func TestABacklogIsFilledReleasedAndDrained(t *testing.T) {
	for _, c := range []struct {
		name     string
		schedule schedule.Schedule
		rate     schedule.Rate
		b        Backlog
		backlog  int64 // at least
		sent     [2]int64
	}{
		{"at once", FillAtOnce(5000), 0, Backlog{}, 5000, [2]int64{5000, 5000}},
		{"at a rate", schedule.NewConstant(5_000_000, 200*time.Millisecond), 5_000_000, Backlog{Fill: 200 * time.Millisecond}, 1000, [2]int64{1000, 1000}},
		{"the load goes on", schedule.NewConstant(5_000_000, 20*time.Second), 5_000_000, Backlog{Fill: 200 * time.Millisecond, Continue: true}, 900, [2]int64{1000, 20_000}},
	} {
		t.Run(c.name, func(t *testing.T) {
			// 10,000 messages a second are served.
			r := newRig(t, memory.Config{Partitions: 2, ReceiveMax: 50, Faults: memory.Faults{ServiceTime: 100 * time.Microsecond}}, 1, time.Second)
			p := r.plan()
			p.Rate, p.Schedule, p.Backlog, p.Load.Producers, p.Load.DrainTimeout = c.rate, c.schedule, &c.b, 2, 20*time.Second
			res, err := Run(t.Context(), r.cfg)
			if err != nil {
				t.Fatal(err)
			}
			s := res.Steps[0]
			a, d := s.Accounting, s.Drain
			if d == nil || d.DrainedNs == 0 || d.Backlog < c.backlog || d.PerSecond <= 0 || d.PerSecond > 10_500 || d.Continued != c.b.Continue {
				t.Fatalf("drain %+v", d)
			}
			if !d.Continued && d.Received != d.Backlog {
				t.Errorf("received %d of a backlog of %d that is gone", d.Received, d.Backlog)
			}
			if a.Scheduled < c.sent[0] || a.Scheduled > c.sent[1] || a.Received != a.Scheduled || a.Lost != 0 || a.Overrun != 0 {
				t.Errorf("accounting %+v", a)
			}
			if s.Behind != "" {
				t.Errorf("behind: %s", s.Behind)
			}
			if first := r.firstReceipt(t); first < d.ReleasedNs {
				t.Errorf("a message was received %v before the release", time.Duration(d.ReleasedNs-first))
			}
			m := r.manifest(t).Steps[0]
			if m.StartedNs+m.DurationNs < d.DrainedNs {
				t.Errorf("the step ended %v before the backlog was gone", time.Duration(d.DrainedNs-m.StartedNs-m.DurationNs))
			}
			kinds := map[string]int{}
			r.rows(t, "events", []string{"kind"}, func(_ rawlog.Part, n int, v []rawlog.Values) {
				for i := range n {
					kinds[v[0].String(i)]++
				}
			})
			if kinds["release"] != 1 || kinds["drained"] != 1 {
				t.Errorf("events %v", kinds)
			}
		})
	}
}

func TestABacklogThatIsNotGoneInTimeSaysSo(t *testing.T) {
	// 1,000 a second arrive and 1,000 are served: 200 stay.
	r := newRig(t, memory.Config{ReceiveMax: 10, Faults: memory.Faults{ServiceTime: time.Millisecond}}, 1_000_000, 2*time.Second)
	p := r.plan()
	p.Backlog, p.Load.DrainTimeout = &Backlog{Fill: 300 * time.Millisecond, Continue: true}, 500*time.Millisecond
	res, err := Run(t.Context(), r.cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := res.Steps[0]
	if d := s.Drain; d.DrainedNs != 0 || d.Left < 100 || !strings.Contains(strings.Join(r.manifest(t).Warnings, "\n"), "was not gone") {
		t.Errorf("%+v, %q", d, r.manifest(t).Warnings)
	}
	if a := s.Accounting; a.Scheduled < 700 || a.Scheduled > 1500 || a.Scheduled != a.Attempted+a.Overrun {
		t.Errorf("%+v", a)
	}
}

// A queue that holds less than the backlog takes no more while its consumers are
// held: neither messages nor end marks.
func TestAQueueThatIsTooSmallForItsBacklogSaysSo(t *testing.T) {
	for name, set := range map[string]func(*Plan){
		"at once":   func(p *Plan) { p.Schedule, p.Rate, p.Backlog = FillAtOnce(100), 0, &Backlog{} },
		"at a rate": func(p *Plan) { p.Backlog = &Backlog{Fill: p.Schedule.Duration()} },
		"polls": func(p *Plan) {
			p.Schedule, p.Rate = FillAtOnce(100), 0
			p.Closed = &Closed{Mode: rawlog.ModeConsume, Workers: 1, Concurrency: 1, Operations: 5, Fill: 100}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, memory.Config{Capacity: 10}, 1_000_000, 100*time.Millisecond)
			p := r.plan()
			p.Load.DrainTimeout = 200 * time.Millisecond
			set(p)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			_, err := Run(ctx, r.cfg)
			if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "let the queue hold more") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestALoadThatGoesOnMustBeLongerThanTheFill(t *testing.T) {
	r := newRig(t, memory.Config{}, 1_000_000, time.Second)
	r.plan().Backlog = &Backlog{Fill: time.Second, Continue: true}
	if err := r.plan().Check(); err == nil || !strings.Contains(err.Error(), "no longer than the fill") {
		t.Error(err)
	}
}
