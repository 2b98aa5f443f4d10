package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// samples draws values of all magnitudes, of both signs if signed.
func samples(r *rand.Rand, n int, signed bool) []int64 {
	x := make([]int64, n)
	for i := range x {
		x[i] = r.Int64N(1 << (1 + r.IntN(51)))
		if signed && r.IntN(3) == 0 {
			x[i] = -x[i]
		}
	}
	return x
}

func exact(values []int64) Compact {
	c := Compact{N: int64(len(values)), Min: slices.Min(values), Max: slices.Max(values)}
	counts := map[int32]int64{}
	for _, v := range values {
		c.Sum += float64(v)
		counts[Index(v)]++
	}
	for i, n := range counts {
		c.Buckets = append(c.Buckets, Bucket{i, n})
	}
	slices.SortFunc(c.Buckets, func(a, b Bucket) int { return int(a.Index) - int(b.Index) })
	return c
}

func checkSame(t *testing.T, what string, got, want Compact) {
	t.Helper()
	if got.N != want.N || got.Min != want.Min || got.Max != want.Max || math.Abs(got.Sum-want.Sum) > 1e-9*math.Abs(want.Sum)+1 || !slices.Equal(got.Buckets, want.Buckets) {
		t.Fatalf("%s: got n %d min %d max %d sum %g and %d buckets, want n %d min %d max %d sum %g and %d buckets",
			what, got.N, got.Min, got.Max, got.Sum, len(got.Buckets), want.N, want.Min, want.Max, want.Sum, len(want.Buckets))
	}
	if err := got.Check(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// The buckets are those of HdrHistogram: same edges, same number.
func TestBucketsAreHdrHistograms(t *testing.T) {
	h := hdrhistogram.New(1, MaxValue, 3)
	if n := len(h.Export().Counts); n != NumIndexes {
		t.Fatalf("the library has %d counts, NumIndexes is %d", n, NumIndexes)
	}
	for i, bar := range h.Distribution() {
		if i >= NumIndexes {
			break
		}
		low, high := Bounds(int32(i))
		if bar.From != low || bar.To != high {
			t.Fatalf("bucket %d: from %d to %d, the library has %d to %d", i, low, high, bar.From, bar.To)
		}
		if Index(low) != int32(i) || Index(high) != int32(i) {
			t.Fatalf("bucket %d: Index(%d) = %d, Index(%d) = %d", i, low, Index(low), high, Index(high))
		}
		if i > 0 {
			nl, nh := Bounds(int32(-1 - i))
			if nl != -high || nh != -low || Index(nl) != int32(-1-i) || Index(nh) != int32(-1-i) {
				t.Fatalf("bucket %d mirrored: from %d to %d", i, nl, nh)
			}
		}
	}
}

func TestHistogramAgainstExactCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 2, 7, 1000, 20_000} {
		for _, signed := range []bool{false, true} {
			x := samples(r, n, signed)
			x[0] = 0
			var h Histogram
			var c Counter
			for _, v := range x {
				if err := errors.Join(h.Record(v), c.Record(v)); err != nil {
					t.Fatal(err)
				}
			}
			want := exact(x)
			checkSame(t, "Histogram", h.Compact(), want)
			checkSame(t, "Counter", c.Take(), want)
			if c.N() != 0 || len(c.Take().Buckets) != 0 {
				t.Fatal("a counter that was taken from is not empty")
			}
			// A counter that was emptied counts as a new one does.
			for _, v := range x[:1+n/2] {
				if err := c.Record(v); err != nil {
					t.Fatal(err)
				}
			}
			checkSame(t, "Counter again", c.Take(), exact(x[:1+n/2]))

			m := r.IntN(n)
			parts := []Compact{{}, exact(x[m:])}
			var g Histogram
			if m > 0 {
				parts = append(parts, exact(x[:m]))
			}
			for _, p := range parts {
				if err := g.Accumulate(p); err != nil {
					t.Fatal(err)
				}
			}
			checkSame(t, "Accumulate", g.Compact(), want)
			checkSame(t, "Sum", Sum(parts...), want)
			third := n / 3
			if third > 0 && third < n-1 {
				checkSame(t, "Sum of three", Sum(exact(x[:third]), exact(x[third:third+1]), exact(x[third+1:])), want)
			}
			g.Reset()
			if got := g.Compact(); got.N != 0 || len(got.Buckets) != 0 {
				t.Fatalf("after Reset: %+v", got)
			}
		}
	}
}

func TestRangeIsAnErrorNotAClamp(t *testing.T) {
	var h Histogram
	var c Counter
	for _, v := range []int64{MaxValue, -MaxValue, 0, 1, -1} {
		if err := errors.Join(h.Record(v), c.Record(v)); err != nil {
			t.Errorf("%d: %v", v, err)
		}
	}
	for _, v := range []int64{MaxValue + 1, -MaxValue - 1, math.MaxInt64, math.MinInt64} {
		if err := h.Record(v); !errors.Is(err, ErrRange) {
			t.Errorf("Histogram %d: error %v", v, err)
		}
		if err := c.Record(v); !errors.Is(err, ErrRange) {
			t.Errorf("Counter %d: error %v", v, err)
		}
	}
	want := exact([]int64{MaxValue, -MaxValue, 0, 1, -1})
	checkSame(t, "Histogram", h.Compact(), want)
	checkSame(t, "Counter", c.Take(), want)
	var sum Histogram
	if err := sum.Accumulate(want); err != nil {
		t.Fatal(err)
	}
	checkSame(t, "Accumulate", sum.Compact(), want)
}

func TestAccumulateRefusesWhatIsNoHistogram(t *testing.T) {
	good := exact([]int64{5, 7, 7, 90_000})
	spoil := func(f func(*Compact)) Compact {
		c := good
		c.Buckets = slices.Clone(good.Buckets)
		f(&c)
		return c
	}
	for name, c := range map[string]Compact{
		"count":    spoil(func(c *Compact) { c.N++ }),
		"order":    spoil(func(c *Compact) { c.Buckets[0], c.Buckets[1] = c.Buckets[1], c.Buckets[0] }),
		"index":    spoil(func(c *Compact) { c.Buckets[2].Index = NumIndexes }),
		"zero":     spoil(func(c *Compact) { c.Buckets[0].Count = 0; c.N-- }),
		"minimum":  spoil(func(c *Compact) { c.Min = 4 }),
		"maximum":  spoil(func(c *Compact) { c.Max = 91_000 }),
		"sum":      spoil(func(c *Compact) { c.Sum = 1e9 }),
		"nan":      spoil(func(c *Compact) { c.Sum = math.NaN() }),
		"empty":    {N: 3},
		"overflow": spoil(func(c *Compact) { c.Buckets[0].Count, c.Buckets[1].Count = math.MaxInt64, math.MaxInt64 }),
	} {
		var h Histogram
		if err := h.Accumulate(c); err == nil || h.N() != 0 {
			t.Errorf("%s: error %v, then %d values", name, err, h.N())
		}
	}
}

// The sum stays exact beyond what a float64 counts in ones.
func TestSumIsExact(t *testing.T) {
	var h Histogram
	var want int64
	for i := range int64(3000) {
		v := int64(24*time.Hour) + i
		if err := h.Record(v); err != nil {
			t.Fatal(err)
		}
		want += v
	}
	if got := h.Compact().Sum; math.Abs(got-float64(want)) > 64 {
		t.Errorf("sum %f, want %d", got, want)
	}
}

func BenchmarkRecord(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	x := make([]int64, 4096)
	for i := range x {
		x[i] = 50e6 + r.Int64N(100e6)
	}
	b.Run("Histogram", func(b *testing.B) {
		var h Histogram
		for i := range b.N {
			_ = h.Record(x[i&4095])
		}
	})
	b.Run("Counter", func(b *testing.B) {
		var h Counter
		for i := range b.N {
			_ = h.Record(x[i&4095])
		}
	})
}

// BenchmarkTake is the cost of an interval of 1,000 messages: recorded, taken,
// emptied.
func BenchmarkTake(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	x := make([]int64, 1000)
	for i := range x {
		x[i] = 20e6 + r.Int64N(100e6)
	}
	b.Run("Histogram", func(b *testing.B) {
		var h Histogram
		for range b.N {
			for _, v := range x {
				_ = h.Record(v)
			}
			_ = h.Compact()
			h.Reset()
		}
	})
	b.Run("Counter", func(b *testing.B) {
		var h Counter
		for range b.N {
			for _, v := range x {
				_ = h.Record(v)
			}
			_ = h.Take()
		}
	})
}
