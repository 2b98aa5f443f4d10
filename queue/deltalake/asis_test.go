package deltalake

import (
	"testing"
	"time"

	"queuebench/queue"
)

// The requests of a commit are those that docs/delta.md lists: three LISTs, two
// PUTs, a GET of the commit by its writer, and by the reader one of the commit
// and one of the data.
func TestAsPathwayMakesItsRoundTrips(t *testing.T) {
	store, f := withFaults(newMemStore())
	const T = 10 * time.Millisecond
	q := open(t, Config{Store: store, Name: "table", Design: AsPathway, CommitInterval: T, GapAfter: time.Hour})
	l := newLoad(t, q, 1)
	s := newSink(t, q, "g", queue.Start{})
	f.mu.Lock()
	f.log = nil
	f.mu.Unlock()
	if err := l.send(deadline(t), 0, 1500, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if err := s.receive(deadline(t), 1500, 10*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	s.checkOnce(t, 1, 1500)
	l.p.Close()
	commits := len(l.traces)
	if commits < 10 {
		t.Fatalf("%d commits", commits)
	}
	for what, c := range map[string]struct{ got, want int }{
		"LIST":            {f.count("LIST", ""), 3 * commits},
		"PUT of data":     {f.count("PUT ", "part-"), commits},
		"conditional PUT": {f.count("PUT-IF-ABSENT", ""), commits},
		"GET of data":     {f.count("GET", "part-"), commits},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d requests for %d commits, expected %d", what, c.got, commits, c.want)
		}
	}
	for i, tr := range l.traces[1:] {
		if tr.Offset != l.traces[i].Offset+1 {
			t.Errorf("version %d came after %d", tr.Offset, l.traces[i].Offset)
		}
	}
	if n := l.event("phase"); n != 2 {
		t.Errorf("%d of the writer's two phases were told", n)
	}
}

func TestPaceThatDoubles(t *testing.T) {
	p := newPace(testT, testPoll)
	p.doubling = true
	var waits []time.Duration
	for range 7 {
		waits = append(waits, p.miss(0)/time.Millisecond)
	}
	for i, want := range []time.Duration{5, 10, 20, 40, 80, 100, 100} {
		if waits[i] != want {
			t.Errorf("the reader waits %v ms, expected 5 to 100, doubling", waits)
			break
		}
	}
	if p.hit(0) != 0 || p.miss(0) != 5*time.Millisecond {
		t.Error("a version that was found does not end the doubling")
	}
}
