package analysis

import "testing"

func TestFormatLatency(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0 ns", 1: "1 ns", 999: "999 ns", 1000: "1.00 µs", 850_000: "850 µs", 64_200_000: "64.2 ms",
		1_200_000_000: "1.20 s", 999_400: "999 µs", 999_600: "1.00 ms", 999_950_000: "1.00 s", -5_000_000_000: "−5.00 s",
		-1: "−1 ns", 61_000_000_000: "61.0 s", 999_900_000_000: "16.7 min", 13 * 3600e9: "13.0 h", 29 * 24 * 3600e9: "29.0 d",
		9_999: "10.0 µs", 99_949: "99.9 µs", 99_951: "100 µs",
	} {
		if got := FormatLatency(ns); got != want {
			t.Errorf("FormatLatency(%d) = %q, want %q", ns, got, want)
		}
	}
}

func TestFormatNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", 100: "100", -100: "-100"} {
		if got := FormatCount(n); got != want {
			t.Errorf("FormatCount(%d) = %q, want %q", n, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0", 0.5: "0.500", 3: "3", 12.345: "12.3", 99.96: "100", 9999.6: "10,000"} {
		if got := FormatRate(v); got != want {
			t.Errorf("FormatRate(%g) = %q, want %q", v, got, want)
		}
	}
}

func TestPercentileText(t *testing.T) {
	for want, p := range map[string]Percentile{
		"–":        {Ns: 5e6},
		"5.00 ms":  {Ns: 5e6, Supported: true},
		"> 30.0 s": {Ns: 30e9, Supported: true, Beyond: true},
		"> 2.00 s": {Ns: 2e9, Beyond: true},
	} {
		if got := p.Text(); got != want {
			t.Errorf("%+v: %q, want %q", p, got, want)
		}
	}
}
