package nearest

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestNearestName(t *testing.T) {
	names := []string{"rate", "rates", "duration", "n", "message-size"}
	for word, want := range map[string]string{
		"rat": "rate", "ratesx": "rates", "duraton": "duration", "mesage-sise": "message-size",
		"entirely-else": "", "": "", "x": "", strings.Repeat("a", 1<<20): "",
	} {
		if got := Name(word, names); got != want {
			t.Errorf("%.20q: %q, want %q", word, got, want)
		}
	}
	if got := DidYouMean("rat", names); got != " (did you mean rate?)" {
		t.Errorf("got %q", got)
	}
}

// naive is Levenshtein's distance by its definition.
func naive(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	if a[0] == b[0] {
		return naive(a[1:], b[1:])
	}
	return 1 + min(naive(a[1:], b), naive(a, b[1:]), naive(a[1:], b[1:]))
}

func TestEditDistanceIsLevenshteins(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		b := make([]byte, r.IntN(7))
		for i := range b {
			b[i] = "abc"[r.IntN(3)]
		}
		return string(b)
	}
	for range 500 {
		a, b := word(), word()
		if got, want := editDistance(a, b), naive(a, b); got != want {
			t.Errorf("%q to %q: %d, want %d", a, b, got, want)
		}
	}
}
