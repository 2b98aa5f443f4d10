package runner

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"queuebench/queue"
	"queuebench/queue/memory"
	"queuebench/rawlog"
	"queuebench/runner/envelope"
)

// What was on its way when a step was cut off is unknown: nobody waited for it
// until the deadline, so it is neither lost nor a broken promise.
func TestWhatIsInFlightWhenAStepIsCutOffIsNotLost(t *testing.T) {
	for _, c := range []struct {
		name      string
		interrupt bool
		faults    memory.Faults
		spoil     func(q *faulty)
		unknown   int64 // at least
	}{
		{"interrupt", true, memory.Faults{Delay: 300 * time.Millisecond}, func(*faulty) {}, 200},
		{"interrupt before any acknowledgement", true, memory.Faults{WithholdAcks: true}, func(*faulty) {}, 0},
		{"a consumer dies", false, memory.Faults{}, func(q *faulty) { q.breakAfter, q.breakDelay = 50, 300*time.Millisecond }, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, memory.Config{}, 1_000_000, time.Hour)
			q := newFaulty(c.faults)
			c.spoil(q)
			r.opens(func() (queue.Queue, error) { return q, nil })
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r.cfg.Status = func(s Status) {
				if c.interrupt && s.Elapsed > 600*time.Millisecond {
					cancel()
				}
			}
			res, err := Run(ctx, r.cfg)
			if err == nil {
				t.Fatal("the step was not cut off")
			}
			a := res.Steps[0].Accounting
			if a.Lost != 0 || len(res.Broken) != 0 || res.Steps[0].Missing != 0 || a.Unknown < c.unknown || a.Received+a.Unknown < a.Acked {
				t.Errorf("%+v, broken %q, missing %d", a, res.Broken, res.Steps[0].Missing)
			}
			// The watermark is below everything whose fate nobody waited for.
			m := r.manifest(t)
			if m.Steps[0].CutOffNs <= m.Steps[0].StartedNs {
				t.Errorf("cut off at %d", m.Steps[0].CutOffNs)
			}
			whole := map[string]int64{}
			for _, p := range m.Steps[0].Parts {
				if p.Last {
					whole[p.Table] = p.WatermarkNs
				}
			}
			open := 0
			r.rows(t, "sent", []string{"intended_ns", "status"}, func(_ rawlog.Part, n int, v []rawlog.Values) {
				for i := range n {
					if s := v[1].String(i); s != rawlog.StatusAcked {
						open++
						if v[0].Ints[i] < whole[rawlog.Sent.Name] {
							t.Fatalf("a message is %s %v below the watermark, %v after the start", s, time.Duration(whole["sent"]-v[0].Ints[i]), time.Duration(v[0].Ints[i]-m.Steps[0].StartedNs))
						}
					}
				}
			})
			if c.faults.WithholdAcks && open < 500 {
				t.Errorf("%d messages were open", open)
			}
			if now := m.Steps[0].CutOffNs; whole[rawlog.Received.Name] < now-int64(500*time.Millisecond) {
				t.Errorf("the watermark of received is %v before the cut", time.Duration(now-whole[rawlog.Received.Name]))
			}
		})
	}
}

// Messages that failed and came all the same are no stand-ins for those that
// were acknowledged and are still on their way: the drain goes on.
func TestTheDrainDoesNotEndByACount(t *testing.T) {
	r := newRig(t, memory.Config{}, 1_000_000, 600*time.Millisecond)
	q := newFaulty(memory.Faults{})
	q.failFirst, q.stallAfter, q.stallFor = 400, 250, 2*grace
	r.opens(func() (queue.Queue, error) { return q, nil })
	res, err := Run(t.Context(), r.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if a := res.Steps[0].Accounting; a.Lost != 0 || a.Received != 600 || a.Failed < 400 || len(res.Broken) != 0 {
		t.Errorf("%+v, broken %q", a, res.Broken)
	}
}

// What another consumer of the group gets again, after a rebalance for
// instance, is a duplicate and not measured.
func TestADuplicateAtAnotherConsumerOfTheGroup(t *testing.T) {
	r := newRig(t, memory.Config{}, 1_000_000, 300*time.Millisecond)
	r.plan().Load.Consumers = 2
	q, err := memory.New(memory.Config{Partitions: 2})
	if err != nil {
		t.Fatal(err)
	}
	f := &faulty{Queue: q, removed: new(atomic.Int64)}
	for seq := range int64(10) {
		b := make([]byte, 100)
		envelope.Encode(b, envelope.ID{Tag: tagOf("test", 0), Seq: 100 + seq})
		f.inject = append(f.inject, b)
	}
	r.opens(func() (queue.Queue, error) { return f, nil })
	res, err := Run(t.Context(), r.cfg)
	if err != nil {
		t.Fatal(err)
	}
	a := res.Steps[0].Accounting
	if n := res.Steps[0].EndToEnd.N; n != 300 || a.Received != 300 || a.Duplicates != 20 || a.Lost != 0 {
		t.Errorf("%d latencies of 300 messages, %+v", n, a)
	}
}

func TestOneDeadConsumerOfSeveralEndsTheStepAndSaysSo(t *testing.T) {
	r := newRig(t, memory.Config{}, 1_000_000, time.Hour)
	r.plan().Load.Consumers = 2
	q := newFaulty(memory.Faults{})
	q.breakAfter = 5
	r.opens(func() (queue.Queue, error) { return q, nil })
	_, err := Run(t.Context(), r.cfg)
	if err == nil || !strings.Contains(err.Error(), errBroken.Error()) || !strings.Contains(err.Error(), "first of its 2 consumers") {
		t.Errorf("error %v", err)
	}
}
