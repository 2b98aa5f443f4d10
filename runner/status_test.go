package runner

import (
	"slices"
	"testing"
	"time"

	"queuebench/queue/memory"
	"queuebench/rawlog"
)

// A load without a schedule has rates too, from its start on.
func TestStatusOfALoadWithoutASchedule(t *testing.T) {
	slow := memory.Config{ReceiveMax: 10, Faults: memory.Faults{ServiceTime: 100 * time.Microsecond}}
	closed := closedRig(t, slow, Closed{Mode: rawlog.ModeEndToEnd, Workers: 2, Concurrency: 1, Operations: 2000})
	backlog := newRig(t, slow, 1, time.Second)
	p := backlog.plan()
	p.Rate, p.Schedule, p.Backlog = 0, FillAtOnce(3000), &Backlog{}
	for name, r := range map[string]*rig{"closed loop": closed, "backlog": backlog} {
		seen := 0
		r.cfg.Status = func(s Status) {
			if s.Elapsed <= 0 {
				return
			}
			seen++
			w := s.Whole
			for _, v := range []float64{w.Attempted, w.Acked, w.Received} {
				if !(v >= 0 && v <= float64(s.SoFar.Attempted)/s.Elapsed.Seconds()*2) {
					t.Errorf("%s, after %v: %+v of %d messages", name, s.Elapsed, w, s.SoFar.Attempted)
				}
			}
		}
		if _, err := Run(t.Context(), r.cfg); err != nil {
			t.Fatal(err)
		}
		if seen < 3 {
			t.Errorf("%s: %d statuses", name, seen)
		}
	}
}

func TestStatusTellsTheStepToItsEnd(t *testing.T) {
	const rate = 2000
	r := newRig(t, memory.Config{Faults: memory.Faults{DuplicateEvery: 10, DropEvery: 100}}, rate*1000, 2200*time.Millisecond)
	r.plan().Load.Groups = 2
	var all []Status
	r.cfg.Status = func(s Status) { all = append(all, s) }
	res, err := Run(t.Context(), r.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("%d statuses in two seconds", len(all))
	}
	var phases []string
	var before rawlog.Accounting
	for _, s := range all {
		if n := len(phases); n == 0 || phases[n-1] != s.Phase {
			phases = append(phases, s.Phase)
		}
		a := s.SoFar
		if a.Scheduled < before.Scheduled || a.Attempted < before.Attempted || a.Acked < before.Acked || a.Received < before.Received || a.Duplicates < 0 {
			t.Errorf("counts go back from %+v to %+v", before, a)
		}
		before = a
		if s.Whole.N != s.EndToEnd.N || s.Last.N > s.Whole.N || s.Whole.P99 > time.Duration(s.EndToEnd.Max) {
			t.Errorf("last %+v, whole %+v", s.Last, s.Whole)
		}
		if s.Connections != rawlog.Null {
			t.Errorf("%d connections to no store", s.Connections)
		}
	}
	if phases[0] != "load" || phases[len(phases)-1] != "ended" || slices.Index(phases, "ended") != len(phases)-1 {
		t.Errorf("phases %q", phases)
	}
	last, s := all[len(all)-1], res.Steps[0]
	if last.SoFar != s.Accounting || last.SoFar.Lost == 0 || last.EndToEnd.N != s.EndToEnd.N {
		t.Errorf("the last status has %+v and %d latencies, the result %+v and %d", last.SoFar, last.EndToEnd.N, s.Accounting, s.EndToEnd.N)
	}
	// Rates over whole windows, so that a slow machine does not matter.
	if got := last.Whole.Attempted; got < 0.95*rate || got > 1.05*rate {
		t.Errorf("sent %.0f/s of %d", got, rate)
	}
}
