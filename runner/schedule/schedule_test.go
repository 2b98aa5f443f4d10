package schedule

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"
)

// exact is ⌈i·1e12/rate⌉ in arbitrary precision.
func exact(i int64, r Rate) int64 {
	x := new(big.Int).Mul(big.NewInt(i), big.NewInt(1e12))
	x.Add(x, big.NewInt(int64(r)-1))
	return x.Div(x, big.NewInt(int64(r))).Int64()
}

func TestConstantIsExactOverDays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		rate := Rate(1 + r.Int64N(1e9))
		c := NewConstant(rate, 30*24*time.Hour)
		i := r.Int64N(c.Len())
		if got, want := c.At(i), exact(i, rate); got != want {
			t.Fatalf("rate %s, message %d is due at %d, want %d", rate, i, got, want)
		}
	}
}

func TestConstantLenIsWhatIsDueBeforeTheEnd(t *testing.T) {
	for _, c := range []struct {
		rate string
		d    time.Duration
		want int64
	}{
		{"10000", 10 * time.Second, 100_000},
		{"3", time.Second, 3},
		{"30000", 300 * time.Second, 9_000_000},
		{"0.001", time.Hour, 4}, // at 0, 1000, 2000 and 3000 s
		{"7", time.Nanosecond, 1},
		{"1000000000", time.Second, 1_000_000_000},
	} {
		rate, err := ParseRate(c.rate)
		if err != nil {
			t.Fatal(err)
		}
		s := NewConstant(rate, c.d)
		if s.Len() != c.want {
			t.Errorf("rate %s for %v: %d messages, want %d", c.rate, c.d, s.Len(), c.want)
		}
		if last := s.At(s.Len() - 1); last >= int64(c.d) {
			t.Errorf("rate %s for %v: the last message is due at %d, after the end", c.rate, c.d, last)
		}
		if next := s.At(s.Len()); next < int64(c.d) {
			t.Errorf("rate %s for %v: message %d is due at %d, before the end", c.rate, c.d, s.Len(), next)
		}
	}
}

func TestSharesAreTheWhole(t *testing.T) {
	for _, producers := range []int{1, 2, 3, 7} {
		s := NewConstant(1234567, 3*time.Second) // 1234.567/s
		seen := map[int64]int{}
		var n int64
		for p := range producers {
			share := NewShare(s, p, producers)
			n += share.Len()
			last := int64(-1)
			for seq := range share.Len() {
				at := share.At(seq)
				if at < last || at >= int64(s.Duration()) {
					t.Fatalf("producer %d of %d: message %d is due at %d after %d", p, producers, seq, at, last)
				}
				last = at
				seen[at]++
			}
		}
		if n != s.Len() {
			t.Errorf("%d producers have %d messages, want %d", producers, n, s.Len())
		}
		for i := range s.Len() {
			seen[s.At(i)]--
		}
		for at, k := range seen {
			if k != 0 {
				t.Errorf("%d producers: the count at %d is off by %d", producers, at, k)
			}
		}
	}
}

func TestDueCounts(t *testing.T) {
	s := NewShare(NewConstant(10_000_000, time.Second), 0, 1) // one each 100 µs
	for _, c := range []struct{ from, offset, want int64 }{
		{0, -1, 0}, {0, 0, 1}, {1, 99_999, 1}, {1, 100_000, 2}, {2, 1_000_000_000, 10_000}, {10_000, 2_000_000_000, 10_000},
	} {
		if got := s.Due(c.from, c.offset); got != c.want {
			t.Errorf("Due(%d, %d) = %d, want %d", c.from, c.offset, got, c.want)
		}
	}
}

func TestParseRate(t *testing.T) {
	for text, want := range map[string]Rate{"1": 1000, "10_000": 10_000_000, "0.5": 500, ".25": 250, "2.125": 2125, " 7 ": 7000} {
		if got, err := ParseRate(text); err != nil || got != want {
			t.Errorf("ParseRate(%q) = %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "0.000", "-1", "ten", "1.2345", "1e3", "1000000000000", "99999999999999999999", ".", "1.-5"} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("ParseRate(%q) = %d", text, got)
		}
	}
}

func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"1", "0.5", "10_000", ".", "-", "1.000", "+1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRate(s)
		if err != nil {
			return
		}
		if again, err := ParseRate(r.String()); err != nil || again != r {
			t.Errorf("%q is %d, written %q, read back as %d, %v", s, r, r.String(), again, err)
		}
	})
}
