//go:build !js

package analysis

import (
	"slices"
	"testing"
	"time"
)

// The raw log is cut exactly at a window, wherever its edges lie: the numbers are
// those of the rows, counted one by one. A digest made with the window keeps its
// edges when it is made coarser.
func TestWindowOfARawLogIsExact(t *testing.T) {
	const n, latency = 4000, 3 * ms
	r := oneStep(n)
	for i := range r.received {
		r.received[i].ReceivedNs = r.sent[i].IntendedNs + int64(latency) + int64(i)*1000
	}
	src, _ := logOf(t, 5000, 1000, 4*sec, r)
	for _, c := range []struct{ warmup, from, to time.Duration }{
		{0, 1234567 * time.Microsecond, 2345678 * time.Microsecond},
		{500 * ms, 0, 1777 * ms},
		{1001 * ms, 333 * ms, 3999999 * time.Microsecond},
		{0, 3001 * ms, 0},
	} {
		v := View{Warmup: &c.warmup, From: c.from, To: c.to, Percentiles: []float64{50, 99}}
		d, err := Read(t.Context(), src, Options{View: v})
		if err != nil {
			t.Fatal(err)
		}
		begin, end := max(c.warmup, c.from), c.to
		if end == 0 {
			end = 4 * sec
		}
		var want []int64
		for i := range r.sent {
			if at := time.Duration(r.sent[i].IntendedNs - testStart); at >= begin && at < end {
				want = append(want, r.received[i].ReceivedNs-r.sent[i].IntendedNs)
			}
		}
		slices.Sort(want)
		for name, d := range map[string]*Digest{"fine": d, "coarse": d.Coarsen(12)} {
			x := Summarize(d, v).Steps[0]
			l := latencyOf(x, EndToEnd)
			if l.N != int64(len(want)) || l.MinNs != want[0] || l.MaxNs != want[len(want)-1] || x.Accounting.RecordsUsed != l.N {
				t.Errorf("%s, %s to %s: %d messages of %d to %d ns, want %d of %d to %d", name, c.from, c.to, l.N, l.MinNs, l.MaxNs, len(want), want[0], want[len(want)-1])
			}
			if f := findingOf(x.Findings, "window-moved"); f != nil {
				t.Errorf("%s: %s", name, f.Text)
			}
		}
	}
}
