package analysis

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"
)

// A digest that is fitted is as small as asked, has the same summary over the
// whole step, and keeps its bytes where it was small enough.
func TestFit(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	var steps []StepDigest
	for i := range 2 {
		s := synthStep(t, i, 500, 30*sec, 100*ms, schedule(15_000, 500, steady(20*ms)))
		for k := range 1300 {
			s.Seconds = append(s.Seconds, Second{At: time.Duration(k+1) * sec, CPUNs: r.Int64N(1e9)})
		}
		steps = append(steps, s)
	}
	d := synthDigest(steps...)
	size := func(d *Digest) int {
		var b bytes.Buffer
		if err := PackDigest(&b, d); err != nil {
			t.Fatal(err)
		}
		return b.Len()
	}
	whole := size(d)
	if same, err := d.Fit(whole); err != nil || same != d {
		t.Errorf("a digest that fits is changed: %v", err)
	}
	small, err := d.Fit(whole / 2)
	if err != nil {
		t.Fatal(err)
	}
	if n := size(small); n > whole/2 {
		t.Errorf("%d bytes of %d, %d were asked for", n, whole, whole/2)
	}
	if n := len(small.Steps[0].Seconds); n > maxSecondRows {
		t.Errorf("%d rows of seconds", n)
	}
	for i := range d.Steps {
		a, b := Summarize(d, View{}).Steps[i], Summarize(small, View{}).Steps[i]
		if x, y := indented(t, a.Latencies), indented(t, b.Latencies); !bytes.Equal(x, y) {
			t.Errorf("step %d: the latencies differ", i)
		}
		if b.IntervalNs <= a.IntervalNs {
			t.Errorf("step %d: intervals of %d ns are not said to be coarser", i, b.IntervalNs)
		}
	}
}

// Rows of seconds that are joined keep sums, largest values and last levels.
func TestFewerSeconds(t *testing.T) {
	var rows []Second
	var cpu int64
	for i := range int64(1300) {
		rows = append(rows, Second{At: time.Duration(i+1) * sec, CPUNs: i, Backlog: i, ScheduleLagNs: 5000 - i})
		cpu += i
	}
	got := fewerSeconds(rows)
	var sum int64
	for _, r := range got {
		sum += r.CPUNs
	}
	if len(got) > maxSecondRows || sum != cpu || got[0].Backlog != 2 || got[0].ScheduleLagNs != 5000 || got[len(got)-1].Backlog != 1299 {
		t.Errorf("%d rows, %d ns of CPU, %+v, %+v", len(got), sum, got[0], got[len(got)-1])
	}
}
