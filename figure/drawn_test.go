package figure

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"queuebench/analysis"
)

// Every step has its panel, on as many sheets as that takes, and panels share their
// axis.
func TestPanels(t *testing.T) {
	var all []analysis.Series
	for i := range 2*maxPanels + 1 {
		s := sampleSeries(20, nil)
		s.Rate = float64(i + 1)
		all = append(all, s)
	}
	figures := LatencyOverTimePanels(all, make([]string, len(all)), Style{})
	if len(figures) != 3 || figures[0].Name != "latency-over-time-1" || !strings.HasSuffix(figures[2].Caption, "Sheet 3 of 3.") {
		t.Fatalf("%d sheets: %+v", len(figures), figures)
	}
	seen := map[string]bool{}
	for _, f := range figures {
		svg, err := f.SVG()
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			if strings.Contains(svg, ">"+rateText(float64(i+1))+" msg/s<") {
				seen[fmt.Sprint(i)] = true
			}
		}
	}
	if len(seen) != len(all) {
		t.Errorf("%d of %d steps have a panel", len(seen), len(all))
	}
	if LatencyOverTimePanels(nil, nil, Style{}) != nil || ThroughputPanels(nil, nil, Style{}) != nil {
		t.Error("a sheet of nothing")
	}
	if f := RatioPanels("a", "b", analysis.EndToEnd, sampleRatios(), Style{}); len(f) != 1 {
		t.Errorf("three loads are %d figures", len(f))
	}
	if f := Spectra([]analysis.Distribution{sampleDistribution(1, 1)}, Style{}); len(f) != 1 {
		t.Errorf("one step is %d figures", len(f))
	}
}

func TestOtherFormats(t *testing.T) {
	f := LatencyOverTime(sampleSeries(50, nil), Style{})
	magic := map[string]string{"svg": "<?xml", "png": "\x89PNG", "pdf": "%PDF-"}
	for _, format := range Formats() {
		var b bytes.Buffer
		if err := f.WriteTo(&b, format); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(b.String(), magic[format]) {
			t.Errorf("%s begins with %q", format, b.String()[:8])
		}
	}
	err := f.WriteTo(io.Discard, "eps")
	if err == nil || !strings.Contains(err.Error(), "eps") {
		t.Errorf("an unknown format gives %v", err)
	}
}

// TestVertices draws a step of 50,000 intervals: bounded, with every peak.
func TestVertices(t *testing.T) {
	s := sampleSeries(50_000, nil)
	peak, low := int64(0), int64(math.MaxInt64)
	for _, p := range s.Points {
		peak, low = max(peak, p.Ns[4]), min(low, p.Ns[4])
	}
	tr := traceOf(s.Points, percentileOf(4))
	n, hi, lo := 0, 0.0, math.Inf(1)
	for _, run := range tr.runs {
		n += len(run)
		for i, v := range run {
			hi, lo = max(hi, v.ns), min(lo, v.ns)
			if i > 0 && v.x < run[i-1].x {
				t.Fatalf("the line goes back in time at %v", v)
			}
		}
	}
	if n > MaxVertices || n < MaxVertices/2 {
		t.Errorf("%d vertices", n)
	}
	if int64(hi) != peak || int64(lo) != low {
		t.Errorf("extremes %v and %v became %v and %v", low, peak, lo, hi)
	}
	f := LatencyOverTime(s, Style{})
	if !strings.Contains(f.Caption, "50000 intervals are drawn in") {
		t.Errorf("the caption keeps silent about it: %s", f.Caption)
	}
	svg, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if len(svg) > 300_000 {
		t.Errorf("%d bytes", len(svg))
	}
}

func TestGapsSplitLines(t *testing.T) {
	s := sampleSeries(10, func(i int, p *analysis.Point) {
		if i == 3 || i == 5 {
			blankPoint(p)
		}
		if i == 7 {
			p.Ns[5] = -1
		}
	})
	tr := traceOf(s.Points, percentileOf(5))
	var lengths []int
	for _, r := range tr.runs {
		lengths = append(lengths, len(r))
	}
	if want := []int{3, 2, 2, 2}; !slices.Equal(lengths, want) {
		t.Errorf("runs of %v vertices, want %v (the lone one as wide as its interval)", lengths, want)
	}
	if len(tr.infinite) != 1 {
		t.Errorf("%d marks for what never came", len(tr.infinite))
	}
}

// A percentile that falls on a message that never came lies at the upper edge and
// leaves the axis to the others; a whisker is within it.
func TestRateAxisIsThatOfWhatCame(t *testing.T) {
	mark := func(p analysis.Percentile) rateMark { return rateMark{1000, p} }
	came := analysis.Percentile{Ns: 100e6, Supported: true, LowNs: 80e6, HighNs: 240e6}
	never := analysis.Percentile{Ns: 30e9, Beyond: true}
	for _, log := range []bool{false, true} {
		y, _ := rateRange([]rateLine{{marks: []rateMark{mark(came)}}, {marks: []rateMark{mark(never)}}}, log)
		high, _ := y.pos(240e6)
		far, _ := y.pos(1e9)
		if y.max < high || y.max >= far {
			t.Errorf("log %v: the axis ends at %g", log, y.max)
		}
		if only, _ := rateRange([]rateLine{{marks: []rateMark{mark(never)}}}, log); only.max < y.max {
			t.Errorf("log %v: the axis of what never came ends at %g", log, only.max)
		}
	}
}

func TestThemeColoursAreApart(t *testing.T) {
	for _, th := range []Theme{Light, Dark} {
		seen := map[string]string{}
		for _, r := range th.palette().roles() {
			h := hexText(r.color)
			if was, ok := seen[h]; ok {
				t.Errorf("%s and %s share %s", was, r.name, h)
			}
			seen[h] = r.name
		}
	}
	if _, err := themed(`style="fill:#123456"`); err == nil {
		t.Error("a colour without a role went through")
	}
}

func TestClassesAreStable(t *testing.T) {
	usual := classOf(analysis.DefaultPercentiles)
	for _, some := range [][]float64{{50, 99}, {95}, {10, 50, 90, 99, 99.99}, {1, 2, 3, 4, 5, 50}} {
		c := classOf(some)
		seen := map[int]bool{}
		for p, class := range c {
			if seen[class] {
				t.Errorf("%v: class %d twice", some, class)
			}
			seen[class] = true
			if u, ok := usual[p]; ok && u != class {
				t.Errorf("%v: p%v is %d, elsewhere %d", some, p, class, u)
			}
		}
	}
}
