package figure

import (
	"math"
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/stats"
)

// TestDensityHoldsEachMessage counts the raster: no message is dropped, on
// either axis, whatever lies outside of it being what the caption tells.
func TestDensityHoldsEachMessage(t *testing.T) {
	s := sampleSeries(1000, func(i int, p *analysis.Point) {
		if i%7 == 0 {
			blankPoint(p)
		}
	})
	var n int64
	for _, p := range s.Points {
		n += p.Latency.N
	}
	for _, log := range []bool{false, true} {
		y, _ := latencyRange(s.Points, nil, log)
		d := densityOf(s.Points, y)
		if len(d.counts) > densityColumns || len(d.counts) < densityColumns/2 {
			t.Errorf("%d columns", len(d.counts))
		}
		sum := 0.0
		for _, rows := range d.counts {
			for _, c := range rows {
				sum += c
			}
		}
		if math.Abs(sum-float64(n)) > 1e-6*float64(n) {
			t.Errorf("log %v: the raster holds %v of %d messages", log, sum, n)
		}
	}
}

// TestSpectrumIsTheQuantileFunction compares the line with quantiles that are
// asked one by one.
func TestSpectrumIsTheQuantileFunction(t *testing.T) {
	d := sampleDistribution(1000, 1)
	d.Infinite = 12
	s := spectrumOf(d, 0, "")
	for _, v := range s.line[1 : len(s.line)-1] {
		q := 1 - math.Pow(10, -v.x)
		// A little below the vertex, the rank falls into its bucket.
		ns, beyond := d.Latency.Quantile(math.Max(0, q-0.2/float64(d.N())), d.Infinite)
		if beyond || math.Abs(float64(ns)-v.ns) > 1 {
			t.Fatalf("at %v the line has %v, the quantile is %d (beyond: %v)", q, v.ns, ns, beyond)
		}
	}
	last := s.line[len(s.line)-1]
	if int64(last.ns) != d.Latency.Max || len(s.line) > spectrumVertices {
		t.Errorf("%d vertices, the last at %v, maximum %d", len(s.line), last.ns, d.Latency.Max)
	}
	if want := 1 - float64(d.Infinite)/float64(d.N()); math.Abs(spectrumX(want)-last.x) > 1e-9 {
		t.Errorf("the line ends at %v, not where messages never came (%v)", last.x, spectrumX(want))
	}
}

// TestSupportedToAgreesWithSupported: one rule, turned around.
func TestSupportedToAgreesWithSupported(t *testing.T) {
	for _, n := range []int64{1, 10, 368, 1000, 3688, 36887, 1e7} {
		d := analysis.Distribution{Latency: stats.Compact{N: n}, Blocks: 50}
		q := d.SupportedTo()
		if q > 0.5 && (!stats.Supported(q-1e-12, n, 50) || stats.Supported(q+(1-q)*0.02, n, 50)) {
			t.Errorf("%d messages support %v", n, q)
		}
	}
}

func TestDistributionAddsUp(t *testing.T) {
	for _, log := range []bool{false, true} {
		d := sampleDistribution(1000, 1)
		d.Infinite = 500
		b := binsOf(d, log)
		sum := b.above + b.below + b.never
		for _, s := range b.shares {
			sum += s
		}
		if math.Abs(sum-100) > 1e-9 {
			t.Errorf("log %v: the shares add up to %v %%", log, sum)
		}
	}
}

// TestBySecondKeepsTheCount adds up intervals of any width.
func TestBySecondKeepsTheCount(t *testing.T) {
	for _, width := range []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, time.Second, 2500 * time.Millisecond} {
		var points []analysis.FlowPoint
		want := 0.0
		for at := time.Duration(0); at < 12*time.Second; at += width {
			per := float64(at%(7*time.Millisecond)) + float64(at.Seconds())
			points = append(points, analysis.FlowPoint{Start: at, End: at + width, PerS: per})
			want += per * width.Seconds()
		}
		got := 0.0
		for i, p := range bySecond(points) {
			got += p.PerS * (p.End - p.Start).Seconds()
			if i == 0 && width < time.Second && p.End-p.Start < 900*time.Millisecond-width {
				t.Errorf("%v: the first second ends at %v", width, p.End)
			}
		}
		if math.Abs(got-want) > 1e-6*want {
			t.Errorf("%v: %v messages became %v", width, want, got)
		}
	}
}

// TestShortPathsStayNear rounds the coordinates of each sample and nothing else.
func TestShortPathsStayNear(t *testing.T) {
	in := `<path d="M46.951,-0.04L656.18,97.009A1e-05,3Z" style="stroke-width:0.85" /><text x="1.234">M1.234</text>`
	want := `<path d="M47,0L656.2,97A0,3Z" style="stroke-width:0.85" /><text x="1.234">M1.234</text>`
	if got := shortPaths(in); got != want {
		t.Errorf("%s", got)
	}
	if got := shortPaths(`<path d="M46.951,-0.04L656.18,97.009L656.68,96.51L40,96.51ZM1,2L1,3" />`); got != `<path d="M47,0l609.2,97 .5-.5-616.7,0ZM1,2l0,1" />` {
		t.Errorf("%s", got)
	}
	if got := shortPaths(`<path d="M1`); got != `<path d="M1` {
		t.Errorf("%s", got)
	}
}

// A single message has its bar where its percentiles have their line, whatever
// the middle of its bucket.
func TestSingleValueHasItsOwnBar(t *testing.T) {
	for ns := int64(1); ns < 1e12; ns = ns*13/9 + 1 {
		h := stats.Compact{N: 1, Min: ns, Max: ns, Sum: float64(ns), Buckets: []stats.Bucket{{Index: stats.Index(ns), Count: 1}}}
		for _, log := range []bool{false, true} {
			b := binsOf(analysis.Distribution{Latency: h, Blocks: 1}, log)
			v, _ := b.x.pos(float64(ns))
			at := int((v - b.x.min) / (b.x.max - b.x.min) * distributionBins)
			at = min(max(at, 0), distributionBins-1)
			if b.shares[at] != 100 {
				t.Errorf("%d ns, log %t: bar %d has %v %%, above %v, below %v", ns, log, at, b.shares[at], b.above, b.below)
			}
		}
	}
}
