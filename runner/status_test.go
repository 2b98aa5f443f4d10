package runner

import (
	"slices"
	"testing"
	"time"

	"queuebench/queue/memory"
	"queuebench/rawlog"
)

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
