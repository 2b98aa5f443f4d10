package stats

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// naiveRank is ⌈q·n⌉ in rational numbers, q as the decimal text says.
func naiveRank(q string, n int64) int64 {
	r, ok := new(big.Rat).SetString(q)
	if !ok {
		panic(q)
	}
	r.Mul(r, new(big.Rat).SetInt64(n))
	num, den := r.Num(), r.Denom()
	k := new(big.Int).Add(num, new(big.Int).Sub(den, big.NewInt(1)))
	return max(1, k.Div(k, den).Int64())
}

func TestRankIsExact(t *testing.T) {
	if r := Rank(0.99, 368); r != 365 {
		t.Errorf("p99 of 368 has rank %d, want 365", r)
	}
	rnd := rand.New(rand.NewPCG(2, 2))
	for _, c := range []struct {
		q       float64
		percent float64
		text    string
	}{
		{0, 0, "0"}, {0.5, 50, "0.5"}, {0.75, 75, "0.75"}, {0.9, 90, "0.9"}, {0.99, 99, "0.99"}, {0.999, 99.9, "0.999"},
		{0.9999, 99.99, "0.9999"}, {0.99999, 99.999, "0.99999"}, {0.07, 7, "0.07"}, {0.1, 10, "0.1"}, {0.57, 57, "0.57"},
		{0.999999, 99.9999, "0.999999"}, {1, 100, "1"},
	} {
		for i := range 4000 {
			n := int64(i)
			if i > 2000 {
				n = rnd.Int64N(1 << (1 + rnd.IntN(62)))
			}
			want := naiveRank(c.text, n)
			if got := Rank(c.q, n); got != want {
				t.Fatalf("Rank(%g, %d) = %d, want %d", c.q, n, got, want)
			}
			if got := Rank(FromPercent(c.percent), n); got != want {
				t.Fatalf("Rank of percentile %g of %d = %d, want %d", c.percent, n, got, want)
			}
		}
	}
	if q := FromPercent(math.NaN()); !math.IsNaN(q) {
		t.Errorf("FromPercent(NaN) = %g", q)
	}
	for _, q := range []float64{-0.1, 1.1, math.NaN()} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Rank(%g) did not panic", q)
				}
			}()
			Rank(q, 10)
		}()
	}
}

func TestQuantilesAgainstASort(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	qs := []float64{0, 0.001, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1}
	for range 60 {
		n := 1 + r.IntN(3000)
		x := samples(r, n, r.IntN(2) == 0)
		infinite := int64(r.IntN(3)) * int64(r.IntN(50))
		c := exact(x)
		slices.Sort(x)
		ns, beyond := c.Quantiles(qs, infinite)
		for i, q := range qs {
			rank := Rank(q, int64(n)+infinite)
			if rank > int64(n) {
				if !beyond[i] || ns[i] != c.Max {
					t.Fatalf("q %g of %d and %d infinite: %d, beyond %v", q, n, infinite, ns[i], beyond[i])
				}
				continue
			}
			want := x[rank-1]
			// Never below, above by less than 1/1,024 of the magnitude.
			if beyond[i] || ns[i] < want || float64(ns[i]-want) > math.Abs(float64(want))/1024+0.5 {
				t.Fatalf("q %g of %d: %d, want %d", q, n, ns[i], want)
			}
		}
	}
}

func TestQuantileCorners(t *testing.T) {
	var none Compact
	if ns, beyond := none.Quantile(0.5, 0); ns != 0 || beyond {
		t.Errorf("of nothing: %d %v", ns, beyond)
	}
	if _, beyond := none.Quantile(0.5, 3); !beyond {
		t.Error("of three that never came: not beyond")
	}
	one := exact([]int64{123_456_789})
	for _, q := range []float64{0, 0.5, 0.99, 1} {
		if ns, _ := one.Quantile(q, 0); ns != 123_456_789 {
			t.Errorf("q %g of one value: %d", q, ns)
		}
	}
	// Half of the messages lost: the median still came, all above did not.
	half := exact([]int64{10, 20, 30})
	if ns, beyond := half.Quantile(0.5, 3); ns != 30 || beyond {
		t.Errorf("p50 of three and three lost: %d %v", ns, beyond)
	}
	if _, beyond := half.Quantile(0.51, 3); !beyond {
		t.Error("p51 of three and three lost came")
	}
}

// Trap 7 at the level of the histogram: long values are exact as the maximum
// and within the stated error as a quantile.
func TestTrap07LongValuesWithinTheError(t *testing.T) {
	for _, d := range []time.Duration{61 * time.Second, 13 * time.Hour, 29 * 24 * time.Hour} {
		var h Histogram
		for _, v := range []int64{int64(d) + 12345, int64(d), 1} {
			if err := h.Record(v); err != nil {
				t.Fatal(err)
			}
		}
		c := h.Compact()
		if c.Max != int64(d)+12345 {
			t.Errorf("%s: max %d", d, c.Max)
		}
		ns, _ := c.Quantile(0.5, 0)
		if e := math.Abs(float64(ns)-float64(d)) / float64(d); e > 0.001 {
			t.Errorf("%s: p50 %d, off by %g", d, ns, e)
		}
	}
}

func TestSupportedSamples(t *testing.T) {
	for q, want := range map[float64]int64{0.99: 368, 0.999: 3688, 0.9999: 36887, 0.01: 368, 0.5: 6} {
		if n := MinSamples(q); n != want {
			t.Errorf("MinSamples(%g) = %d, want %d", q, n, want)
		}
		if Supported(q, want-1, 20) || !Supported(q, want, 20) || Supported(q, want, 19) {
			t.Errorf("Supported(%g) has another edge", q)
		}
		// The definition, in other words: the chance that no value lies beyond.
		p := max(q, 1-q)
		if math.Pow(p, float64(want)) > 0.025 || math.Pow(p, float64(want-1)) <= 0.025 {
			t.Errorf("q %g: %d is not the smallest", q, want)
		}
	}
	for _, q := range []float64{0, 1, math.NaN()} {
		if Supported(q, math.MaxInt64-1, 100) {
			t.Errorf("q %g is supported", q)
		}
	}
}

func TestCountAbove(t *testing.T) {
	c := exact([]int64{-5, 0, 10, 10, 2000, 5_000_000})
	for v, want := range map[int64]int64{-6: 6, -5: 5, 0: 4, 10: 2, 1999: 2, 2000: 1, 4_000_000: 1, 6_000_000: 0} {
		if got := c.CountAbove(v); got != want {
			t.Errorf("CountAbove(%d) = %d, want %d", v, got, want)
		}
	}
	r := rand.New(rand.NewPCG(3, 1))
	for range 200 {
		var values []int64
		for range 50 {
			values = append(values, int64(r.NormFloat64()*math.Pow(10, float64(r.IntN(12)))))
		}
		c := exact(values)
		for _, v := range append(values, math.MinInt64, -math.MaxInt64, 0, math.MaxInt64) {
			want := int64(0)
			for _, b := range c.Buckets {
				if low, _ := Bounds(b.Index); low > v {
					want += b.Count
				}
			}
			if got := c.CountAbove(v); got != want {
				t.Fatalf("CountAbove(%d) = %d of %v, want %d", v, got, values, want)
			}
		}
	}
}

// Sum adds bucket by bucket, few or many histograms, in a narrow range or a wide
// one.
func TestSumAddsEveryBucket(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	for range 200 {
		var parts []Compact
		want := map[int32]int64{}
		var all []int64
		spread := math.Pow(10, float64(1+r.IntN(12)))
		for range r.IntN(9) {
			var values []int64
			for range r.IntN(40) {
				values = append(values, int64(r.NormFloat64()*spread))
			}
			if len(values) > 0 {
				parts, all = append(parts, exact(values)), append(all, values...)
			} else {
				parts = append(parts, Compact{})
			}
		}
		for _, v := range all {
			want[Index(v)]++
		}
		got := Sum(parts...)
		for i, b := range got.Buckets {
			if i > 0 && got.Buckets[i-1].Index >= b.Index || want[b.Index] != b.Count {
				t.Fatalf("bucket %d counts %d, want %d", b.Index, b.Count, want[b.Index])
			}
		}
		if len(got.Buckets) != len(want) || got.N != int64(len(all)) || len(all) > 0 && got.Check() != nil {
			t.Fatalf("%d buckets of %d values, want %d of %d; %v", len(got.Buckets), got.N, len(want), len(all), got.Check())
		}
	}
}
