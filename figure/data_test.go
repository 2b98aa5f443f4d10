package figure

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"queuebench/analysis"
)

// The layout says where the data lie: the grid begins and ends at its edges, and
// a window is shaded where its scale puts it.
func TestLayout(t *testing.T) {
	s := sampleSeries(100, nil)
	s.Window = &analysis.Window{FromNs: int64(8 * time.Second), ToNs: int64(15 * time.Second)}
	for _, log := range []bool{false, true} {
		svg, l, err := LatencyOverTime(s, Style{Width: 900, Height: 300, Theme: Page, LogScale: log}).Drawn()
		if err != nil {
			t.Fatal(err)
		}
		if l.Left < 20 || l.Right > 890 || l.Left >= l.Right || l.Top < 10 || l.Bottom > 290 || l.Top >= l.Bottom {
			t.Errorf("%+v", l)
		}
		if l.X != (Scale{0, s.Duration.Seconds(), false}) || l.Y.Log != log || l.Y.Min >= l.Y.Max {
			t.Errorf("scales %+v and %+v", l.X, l.Y)
		}
		tenth := func(v float64) string { return tenths(int64(math.Round(v * 10))) }
		for _, at := range []float64{8, 15} {
			x := l.Left + at/s.Duration.Seconds()*(l.Right-l.Left)
			// Paths count from the bottom.
			if want := fmt.Sprintf("M%s,%s", tenth(x), tenth(300-l.Bottom)); !strings.Contains(svg, want) {
				t.Errorf("log %t: no line at %g s, %s", log, at, want)
			}
		}
		if want := "M" + tenth(l.Left) + ","; strings.Count(svg, want) < 3 {
			t.Errorf("log %t: the grid does not begin at %s", log, want)
		}
	}
}

// The table behind a spectrum has the quantiles of the distribution, each by
// nearest rank, up to the last that so many messages have.
func TestSpectrumData(t *testing.T) {
	d := sampleDistribution(10_000, 1)
	d.Infinite = 20
	data := spectrumData([]analysis.Distribution{d})
	if n := len(data.Cells); n < 60 || n > 90 {
		t.Errorf("%d rows", n)
	}
	last := -1.0
	for _, row := range data.Cells {
		if row.X < last {
			t.Errorf("%q lies before the row above", row.Cells)
		}
		last = row.X
		if row.Cells[0] == "max" {
			if row.Cells[1] != milliseconds(d.Latency.Max) {
				t.Errorf("the maximum is %s", row.Cells[1])
			}
			continue
		}
		percent, err := strconv.ParseFloat(row.Cells[0], 64)
		if err != nil {
			t.Fatal(err)
		}
		rank := int64(math.Ceil(percent / 100 * float64(d.N())))
		if beyond := rank > d.Latency.N; beyond != (row.Cells[1] == ">") {
			t.Errorf("p%s is %q with %d of %d that came", row.Cells[0], row.Cells[1], d.Latency.N, d.N())
		}
		if want, beyond := d.Latency.Quantile(percent/100, d.Infinite); percent > 0 && !beyond && row.Cells[1] != milliseconds(want) {
			t.Errorf("p%s is %s, want %s", row.Cells[0], row.Cells[1], milliseconds(want))
		}
	}
}

func TestThreeDigits(t *testing.T) {
	for ns, want := range map[int64]string{0: "0", 1: "1e-06", 12_345: "0.0123", 1_234_567: "1.23", 99_960_000: "100", 123_456_789: "123", 12_345_678_901: "12346", -5_000_000: "-5", -1: ">"} {
		if got := milliseconds(ns); got != want {
			t.Errorf("%d ns: %s, want %s", ns, got, want)
		}
	}
}
