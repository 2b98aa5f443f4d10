package gate

import "testing"

func FuzzParseRegression(f *testing.F) {
	for _, s := range []string{"p99", "p99>10%", "p99<10%", "throughput", "", "p99.99999999999", "p50 +5ms", "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { _, _ = ParseRegression(text) })
}
