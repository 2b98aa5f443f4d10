package analysis

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
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
	if e := Summarize(small, View{}).Steps[0].LevelsEveryNs; e != int64(3*sec) || Summarize(d, View{}).Steps[0].LevelsEveryNs != 0 {
		t.Errorf("levels are said to be of %d ns", e)
	}
	for i := range d.Steps {
		a, b := SummarizePage(d, View{}, nil).Steps[i], SummarizePage(small, View{}, nil).Steps[i]
		if x, y := indented(t, a.Latencies), indented(t, b.Latencies); !bytes.Equal(x, y) {
			t.Errorf("step %d: the latencies differ", i)
		}
		if b.IntervalNs <= a.IntervalNs {
			t.Errorf("step %d: intervals of %d ns are not said to be coarser", i, b.IntervalNs)
		}
	}
}

// found has the findings of a summary by their step and ID, with severity and
// numbers.
func found(s Summary) map[string]Finding {
	out := map[string]Finding{}
	for _, f := range s.Findings {
		out["run "+f.ID] = f
	}
	for i := range s.Steps {
		for _, f := range s.Steps[i].Findings {
			out[s.StepName(i)+" "+f.ID] = f
		}
	}
	return out
}

// sameFindings holds the findings of two digests of one run against each other:
// the same ones, with the same numbers to within the error of a digest.
func sameFindings(t *testing.T, name string, fine, coarse *Digest, v View) {
	t.Helper()
	a, b := found(Summarize(fine, v)), found(Summarize(coarse, v))
	for id, f := range a {
		g, there := b[id]
		if !there || g.Severity != f.Severity {
			t.Errorf("%s: %s is lost: %s", name, id, f.Text)
			continue
		}
		for what, x := range f.Numbers {
			if y := g.Numbers[what]; math.Abs(x-y) > 0.005*math.Abs(x) {
				t.Errorf("%s: %s has %s %g and then %g\n%s\n%s", name, id, what, x, y, f.Text, g.Text)
			}
		}
	}
	for id, g := range b {
		if _, there := a[id]; !there {
			t.Errorf("%s: %s is found that was not there: %s", name, id, g.Text)
		}
	}
}

// What is found in a log is found in a digest of it that was made coarser, also
// twice and after it was written and read, and nothing else is: every log that
// shows a finding, and random ones.
func TestFindingsSurviveFewerIntervals(t *testing.T) {
	try := func(name string, d *Digest, most int) {
		if len(d.Steps) == 0 || len(d.Steps[0].Intervals) <= most {
			return
		}
		sameFindings(t, fmt.Sprintf("%s in %d intervals", name, most), d, d.Coarsen(most), View{})
	}
	for _, cases := range [][]findingCase{stepCases(t), runCases(t), loadCases(t), shapeCases(t), boundCases(t), ownCases(t)} {
		for _, c := range cases {
			try(c.id, c.shows, 12)
		}
	}
	r := rand.New(rand.NewPCG(6, 11))
	for i := range 5 {
		// The last one is so long that its seconds are joined too.
		long := i == 4
		d, most := restless(t, r, long), []int{12, 20, 50}[i%3]
		name := fmt.Sprintf("random %d", i)
		coarse := d.Coarsen(most)
		sameFindings(t, name, d, coarse, View{})
		sameFindings(t, name+" uncut", d, coarse, all())
		sameFindings(t, name+" twice", d, d.Coarsen(100).Coarsen(most), View{})
		var b bytes.Buffer
		if err := WriteDigest(&b, coarse); err != nil {
			t.Fatal(err)
		}
		again, err := ReadDigest(&b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sameFindings(t, name+", read again", coarse, again, View{})
		if !reflect.DeepEqual(coarse.Steps[0].Fine, again.Steps[0].Fine) {
			t.Errorf("%s: what was kept is %+v and then %+v", name, coarse.Steps[0].Fine, again.Steps[0].Fine)
		}
	}
}

// restless is a run with anything in it: stalls of any length, faults, a slow
// start, growth, tails.
func restless(t *testing.T, r *rand.Rand, long bool) *Digest {
	d, rate := time.Duration(20+r.IntN(41))*sec, 200.0
	if long {
		d, rate = time.Duration(1300+r.IntN(700))*sec, 20
	}
	level := time.Duration(5+r.IntN(50)) * ms
	start, grow := time.Duration(r.IntN(8))*sec, float64(r.IntN(3))*r.Float64()
	type hold struct{ from, to time.Duration }
	var holds []hold
	for range r.IntN(5) {
		from := time.Duration(r.Int64N(int64(d)))
		holds = append(holds, hold{from, from + time.Duration(50+r.IntN(1500))*ms})
	}
	m := schedule(int(rate*d.Seconds()), rate, func(_ int, at time.Duration) time.Duration {
		l := time.Duration(float64(level) * (1 + 0.2*r.NormFloat64()*r.Float64() + grow*at.Seconds()/d.Seconds()))
		if at < start {
			l += level
		}
		for _, h := range holds {
			if at >= h.from && at < h.to {
				l += h.to - at
			}
		}
		return max(l, ms)
	})
	s := synthStep(t, 0, rate, d, 200*ms, m)
	for i := range d / sec {
		s.Seconds = append(s.Seconds, Second{At: (i + 1) * sec, Backlog: r.Int64N(20), GCPauseNs: r.Int64N(3e7), CPUNs: 3e8})
	}
	s.Told = []string{"backlog", "gc_pause_ns", "cpu_ns"}
	for _, h := range holds {
		if r.IntN(2) == 0 {
			s.Events = append(s.Events, Event{At: h.from, Kind: "fault", Text: "it stops", Duration: h.to - h.from})
		}
	}
	return synthDigest(s)
}

// Rows of seconds that are joined keep sums, largest values and last levels; some
// stay by themselves, and what is joined again is the same.
func TestBinnedSeconds(t *testing.T) {
	var rows []Second
	var cpu int64
	for i := range int64(1300) {
		// Taken a moment late, as rows are.
		rows = append(rows, Second{At: time.Duration(i+1)*sec + time.Duration(i%7)*ms, CPUNs: i, Backlog: i, ScheduleLagNs: 5000 - i})
		cpu += i
	}
	s := &StepDigest{Duration: 1300 * sec, Seconds: rows}
	bin := s.secondsBin()
	if bin != 3*sec {
		t.Fatalf("rows of %s", bin)
	}
	got := binnedSeconds(rows, bin, nil)
	var sum int64
	for _, r := range got {
		sum += r.CPUNs
	}
	if len(got) != 434 || sum != cpu || got[0].Backlog != 2 || got[0].ScheduleLagNs != 5000 || got[len(got)-1].Backlog != 1299 {
		t.Errorf("%d rows, %d ns of CPU, %+v, %+v", len(got), sum, got[0], got[len(got)-1])
	}
	keep := moments{stretches: [][2]time.Duration{{100 * sec, 110 * sec}}}
	some := binnedSeconds(rows, bin, keep.near)
	if len(some) < len(got)+8 || len(some) > len(got)+13 {
		t.Errorf("%d rows, and %d where some stay by themselves", len(got), len(some))
	}
	if again := binnedSeconds(some, bin, nil); !reflect.DeepEqual(again, got) {
		t.Errorf("joined once more they are others: %+v, %+v", again[30:40], got[30:40])
	}
}
