package analysis

import (
	"bytes"
	"testing"
	"time"
)

// A coarser digest has the same sums, the same summary, and still the edges at
// which it will be cut.
func TestCoarsen(t *testing.T) {
	s := synthStep(t, 0, 500, 30*sec, 100*ms, schedule(15_000, 500, steady(20*ms)))
	// An edge apart from the grid.
	iv := s.Intervals[50]
	rest := Interval{Start: iv.Start + 50*ms, End: iv.End}
	s.Intervals[50].End = rest.Start
	s.Intervals = append(s.Intervals[:51], append([]Interval{rest}, s.Intervals[51:]...)...)
	d := synthDigest(s)
	c := d.Coarsen(40)
	if got := c.Steps[0]; got.Interval != sec || len(got.Intervals) > 42 {
		t.Errorf("%d intervals of %s", len(got.Intervals), got.Interval)
	}
	edges := map[time.Duration]bool{}
	for i, iv := range c.Steps[0].Intervals {
		edges[iv.Start] = true
		if i > 0 && iv.Start != c.Steps[0].Intervals[i-1].End {
			t.Errorf("a gap before %s", iv.Start)
		}
	}
	if !edges[3*sec] || !edges[5050*ms] {
		t.Errorf("edges: %v", edges)
	}
	for _, v := range []View{{}, all(), view(5050 * ms)} {
		a, b := SummarizePage(d, v, nil), SummarizePage(c, v, nil) // intervals need blocks of a finer grid
		b.Steps[0].IntervalNs = a.Steps[0].IntervalNs
		if !bytes.Equal(indented(t, a), indented(t, b)) {
			t.Errorf("the summaries differ:\n%s\n%s", indented(t, a), indented(t, b))
		}
	}
	// The intervals of percentiles are much the same, for as long as there are 20
	// blocks, since it is kept for how long values hang together.
	for _, most := range []int{30, 12} { // of 12, those of the default cut are kept
		again, err := ReadDigest(bytes.NewReader(write(t, d.Coarsen(most))))
		if err != nil {
			t.Fatal(err)
		}
		for name, p := range latencyOf(Summarize(d, View{}).Steps[0], EndToEnd).Percentiles {
			q := latencyOf(Summarize(again, View{}).Steps[0], EndToEnd).Percentiles[name]
			was, is := float64(p.HighNs-p.LowNs), float64(q.HighNs-q.LowNs)
			if p.Supported && (was <= 0 || is < was/2 || is > was*2) {
				t.Errorf("p%s has the interval %s, and %s in a digest of %d intervals", name, p.IntervalText(), q.IntervalText(), most)
			}
		}
		if l := latencyOf(Summarize(again, view(9*sec)).Steps[0], EndToEnd); most == 12 && l.Percentiles["50"].HighNs != 0 {
			t.Errorf("another cut has the interval %s", l.Percentiles["50"].IntervalText())
		}
	}
	if len(d.Steps[0].Intervals) != 301 {
		t.Error("the digest itself was changed")
	}
	if same := d.Coarsen(400); len(same.Steps[0].Intervals) != 301 {
		t.Error("a digest that is coarse enough was changed")
	}
}
