package schedule

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A reader that adds gives to the nanosecond what the division gives, whatever
// the rate, the stride and the jumps between.
func TestSteadyIsTheDivision(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, rate := range []Rate{1, 7, 999, 1000, 1_000_000_000, 999_999_999_999, MaxRate} {
		for range 20 {
			if rate > 1000 && r.IntN(2) == 0 {
				rate = 1 + Rate(r.Int64N(int64(MaxRate)))
			}
			c := NewConstant(rate, 30*24*time.Hour)
			o := c.Offsets()
			i, stride := int64(0), int64(1)
			for range 2000 {
				if got, want := o.At(i), c.At(i); got != want {
					t.Fatalf("rate %s, message %d: %d, want %d", rate, i, got, want)
				}
				switch r.IntN(50) {
				case 0:
					i = r.Int64N(c.Len())
				case 1:
					stride = 1 + r.Int64N(2*maxStride)
				case 2:
					stride = 1 + r.Int64N(8)
				case 3:
					i = max(0, i-r.Int64N(5))
				case 4:
					continue
				}
				i += stride
			}
		}
	}
}

func BenchmarkOffsets(b *testing.B) {
	s := NewShare(NewConstant(10_000_000, time.Hour), 0, 1)
	var sum int64
	for i := range b.N {
		sum += s.At(int64(i))
	}
	_ = sum
}
