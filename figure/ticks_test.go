package figure

import (
	"math"
	"strings"
	"testing"
)

func labels(ts []tick) string {
	var out []string
	for _, t := range ts {
		if t.label != "" {
			out = append(out, t.label)
		}
	}
	return strings.Join(out, " | ")
}

func TestLatencyTicks(t *testing.T) {
	check := func(got latencyAxis, want string) {
		t.Helper()
		if l := labels(got.ticks); l != want {
			t.Errorf("%s, want %s", l, want)
		}
	}
	check(linearLatency(0, 240e6), "0 | 50 ms | 100 ms | 150 ms | 200 ms | 250 ms")
	check(linearLatency(0, 2.3e9), "0 | 0.5 s | 1.0 s | 1.5 s | 2.0 s | 2.5 s")
	check(linearLatency(-30e6, 60e6), "−40 ms | −20 ms | 0 | 20 ms | 40 ms | 60 ms")
	check(linearLatency(0, 0), "0 | 0.2 ms | 0.4 ms | 0.6 ms | 0.8 ms | 1.0 ms")
	check(logLatency(14e6, 240e6), "10 ms | 20 ms | 50 ms | 100 ms | 200 ms | 500 ms")
	check(logLatency(60e6, 60e6), "50 ms | 100 ms | 200 ms")
	check(logLatency(900, 40e9), "1 µs | 10 µs | 100 µs | 1 ms | 10 ms | 100 ms | 1 s | 10 s")
	check(logLatency(0, 0), "1 ns | 2 ns | 5 ns")
}

// TestTicksHoldTheirData tries ranges of all magnitudes.
func TestTicksHoldTheirData(t *testing.T) {
	for e := 0.0; e < 15.5; e += 0.037 {
		hi := math.Pow(10, e)
		for _, lo := range []float64{hi, hi * 0.93, hi / 30, hi / 1e5, -hi / 3} {
			a := linearLatency(lo, hi)
			if a.min > min(lo, 0) || a.max < hi*(1-1e-8) || len(a.ticks) < 4 || len(a.ticks) > 9 {
				t.Fatalf("linear %g to %g: axis %g to %g, %d marks", lo, hi, a.min, a.max, len(a.ticks))
			}
			if lo <= 0 {
				continue
			}
			a = logLatency(lo, hi)
			if a.min > math.Log10(lo)+1e-8 || a.max < math.Log10(hi)-1e-8 || len(a.ticks) < 3 {
				t.Fatalf("log %g to %g: axis %g to %g, %d marks", lo, hi, a.min, a.max, len(a.ticks))
			}
		}
	}
}

func TestElapsedTicks(t *testing.T) {
	check := func(seconds float64, want string) {
		t.Helper()
		if l := labels(elapsedTicks(seconds, 8)); l != want {
			t.Errorf("%v s: %s, want %s", seconds, l, want)
		}
	}
	check(20, "0 | 5 s | 10 s | 15 s | 20 s")
	check(0.4, "0 | 50 ms | 100 ms | 150 ms | 200 ms | 250 ms | 300 ms | 350 ms | 400 ms")
	check(10, "0 | 2 s | 4 s | 6 s | 8 s | 10 s")
	check(300, "0 | 1 min | 2 min | 3 min | 4 min | 5 min")
	check(7200, "0 | 20 min | 40 min | 60 min | 80 min | 100 min | 120 min")
	check(86400, "0 | 4 h | 8 h | 12 h | 16 h | 20 h | 24 h")
}

func TestRateText(t *testing.T) {
	for r, want := range map[float64]string{0.5: "0.5", 1000: "1,000", 250000: "250,000", 1e6: "1,000,000", 999: "999", 12345.5: "12,345.5"} {
		if got := rateText(r); got != want {
			t.Errorf("%v: %s", r, got)
		}
	}
}
