package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"queuebench/queue"
	"queuebench/queue/memory"
	"queuebench/rawlog"
	"queuebench/runner/schedule"
)

// The traps of the rules of measurement that are the runner's, as real runs
// where they can be. The test of the module's root lists where each of them is.

// Trap 1: a consumer whose clock is behind: signed values are kept.
func TestTrap01ConsumerClockBehind(t *testing.T) {
	r, take := newReceiving(256)
	const start, behind = int64(1e18), int64(5e9)
	r.start.Store(start)
	for i := range int64(10) {
		take(start + i*1e6 - behind)
	}
	c := r.live.latencies.Take()
	if c.N != 2560 || c.Max >= 0 || c.Min > -behind+int64(1e7) || c.Min < -behind-int64(1e7) {
		t.Errorf("%d latencies between %d and %d ns of a clock that is 5 s behind", c.N, c.Min, c.Max)
	}
}

// Trap 2: the queue freezes: measured from intended, with all that fell due
// meanwhile, and told as the queue's doing. A tenth of the run, as there.
//
// A host that is busy adds to latencies and takes nothing from them: what is at
// least so long is so in each run, and what is at most so long in one of some.
func TestTrap02FreezeIsTheQueues(t *testing.T) {
	const tries = 5
	for try := 1; ; try++ {
		long := frozen(t)
		if long == "" {
			return
		}
		if t.Log(long); try == tries {
			t.Fatalf("too long in each of %d runs", tries)
		}
	}
}

// frozen is a run of trap 2. It returns what took longer than it should.
func frozen(t *testing.T) (long string) {
	const freeze = 300 * time.Millisecond
	r := newRig(t, memory.Config{Faults: memory.Faults{Freezes: []memory.Freeze{{After: 400 * time.Millisecond, For: freeze}}}}, 2_000_000, 3*time.Second)
	res := accounting(t, r, rawlog.Accounting{Scheduled: 6000, Attempted: 6000, Acked: 6000, Received: 6000})
	e2e := res.Steps[0].EndToEnd
	for _, c := range []struct {
		q        float64
		from, to time.Duration
	}{{.5, 0, freeze / 10}, {.99, freeze * 9 / 10 * 99 / 100, freeze * 2}, {.999, freeze * 99 / 100 * 99 / 100, freeze * 2}} {
		ns, _ := e2e.Quantile(c.q, 0)
		if time.Duration(ns) < c.from {
			t.Errorf("p%v is %v, want %v at least", 100*c.q, time.Duration(ns), c.from)
		}
		if time.Duration(ns) > c.to {
			long += fmt.Sprintf("p%v is %v, want %v at most; ", 100*c.q, time.Duration(ns), c.to)
		}
	}
	var late, blocked int64
	r.rows(t, "sent", []string{"intended_ns", "sent_ns", "blocked_ns"}, func(_ rawlog.Part, n int, v []rawlog.Values) {
		for i := range n {
			lag := v[1].Ints[i] - v[0].Ints[i]
			if v[2].Ints[i] > lag {
				t.Errorf("blocked for %d ns of a lag of %d ns", v[2].Ints[i], lag)
			}
			late += lag
			blocked += v[2].Ints[i]
		}
	})
	// The messages that fall due in the freeze wait for half of it on average:
	// 600 messages, 90 s in all.
	if want := int64(600) * int64(freeze) / 2; blocked < want*8/10 {
		t.Errorf("%v of a lag of %v is the queue's, want at least %v", time.Duration(blocked), time.Duration(late), time.Duration(want*8/10))
	}
	return long
}

// Trap 10: a burst, and consumers that take one message after the other: the
// latency climbs in a straight line, at the rate of service, whether the queue
// serves slowly or the consumer works on each message; and the backlog is in
// the log.
func TestTrap10BurstIsADrain(t *testing.T) {
	const n, each = 1500, time.Millisecond
	for name, slow := range map[string]func(*Plan, *memory.Config){
		"consumer-delay": func(p *Plan, _ *memory.Config) { p.Load.ConsumerDelay = each },
		"service-time":   func(_ *Plan, m *memory.Config) { m.ReceiveMax, m.Faults.ServiceTime = 10, each },
	} {
		t.Run(name, func(t *testing.T) {
			burst, err := schedule.New(schedule.Spec{Kind: schedule.BurstArrivals, Profile: schedule.Steady(n * 10_000), Duration: 100 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			var mem memory.Config
			r := newRig(t, mem, n*10_000, 100*time.Millisecond)
			slow(r.plan(), &mem)
			r.opens(func() (queue.Queue, error) { return memory.New(mem) })
			r.plan().Schedule = burst
			accounting(t, r, rawlog.Accounting{Scheduled: n, Attempted: n, Acked: n, Received: n})
			received := make([]int64, n)
			r.rows(t, "received", []string{"seq", "received_ns"}, func(_ rawlog.Part, k int, v []rawlog.Values) {
				for i := range k {
					received[v[0].Ints[i]] = v[1].Ints[i]
				}
			})
			if !slices.IsSorted(received) {
				t.Error("messages were not received in their order")
			}
			start := r.manifest(t).Steps[0].StartedNs
			for _, i := range []int64{n / 4, n / 2, n - 1} {
				// Service that is done a batch of ten at a time is ten ahead.
				if took := time.Duration(received[i] - start); took < time.Duration(i-10)*each {
					t.Errorf("message %d came %v after the burst, before its turn", i, took)
				}
			}
			if name == "consumer-delay" {
				for i := 1; i < n; i++ {
					if apart := received[i] - received[i-1]; apart < int64(each) {
						t.Fatalf("messages %d and %d were received %v apart", i-1, i, time.Duration(apart))
					}
				}
			}
			var most int64
			r.rows(t, "seconds", []string{"backlog"}, func(_ rawlog.Part, k int, v []rawlog.Values) {
				for i := range k {
					most = max(most, v[0].Ints[i])
				}
			})
			if most < n/10 {
				t.Errorf("the largest backlog in the log is %d", most)
			}
		})
	}
}

// Trap 12, at a rate that nothing keeps up with: the interrupt is not held up by
// the messages that were due and not sent.
func TestTrap12AnInterruptAtAnyRateIsQuick(t *testing.T) {
	r := newRig(t, memory.Config{}, schedule.MaxRate, time.Hour)
	took, m := interrupted(t, r, 300*time.Millisecond)
	if took > 2*time.Second {
		t.Errorf("the run ended %v after the interrupt", took)
	}
	a := m.Steps[0].Accounting
	rows := int64(0)
	for _, n := range r.statuses(t) {
		rows += n
	}
	if a.Scheduled != a.Attempted+a.Overrun || rows != a.Scheduled {
		t.Errorf("%+v, %d rows", a, rows)
	}
	found := false
	r.rows(t, "events", []string{"text"}, func(_ rawlog.Part, n int, v []rawlog.Values) {
		for i := range n {
			found = found || strings.Contains(v[0].String(i), "messages were due and not sent when the load was cut off")
		}
	})
	if !found {
		t.Error("no event tells what was not sent")
	}
}

// interrupted runs a rig, interrupts it after a time of load, and returns how
// long it took from then on, and the manifest.
func interrupted(t *testing.T, r *rig, after time.Duration) (time.Duration, *rawlog.Manifest) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var at atomic.Int64
	r.cfg.Status = func(s Status) {
		if s.Elapsed > after && at.CompareAndSwap(0, time.Now().UnixNano()) {
			cancel()
		}
	}
	if _, err := Run(ctx, r.cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	return time.Duration(time.Now().UnixNano() - at.Load()), r.manifest(t)
}
