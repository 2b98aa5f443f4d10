package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCoarseStaysWithinItsErrorAndItsCounts(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for round := range 200 {
		var c Counter
		var values []int64
		for range 1 + random.IntN(3000) {
			v := int64(math.Exp(random.Float64() * math.Log(float64(MaxValue))))
			if round%3 == 0 && random.IntN(4) == 0 {
				v = -v
			}
			if round%5 == 0 {
				v %= 5000
			}
			values = append(values, v)
			if err := c.Record(v); err != nil {
				t.Fatal(err)
			}
		}
		slices.Sort(values)
		fine := c.Take()
		h := fine.Coarse()
		if err := h.Check(); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if h.N != fine.N || h.Min != values[0] || h.Max != values[len(values)-1] || h.Sum != fine.Sum || len(h.Buckets) > len(fine.Buckets) {
			t.Fatalf("round %d: %+v of %+v", round, h, fine)
		}
		for _, q := range []float64{0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1} {
			got, _ := h.Quantile(q, 0)
			want := values[max(0, int(math.Ceil(q*float64(len(values))))-1)]
			if off := math.Abs(float64(got - want)); off > math.Abs(float64(want))/512 {
				t.Errorf("round %d: quantile %v is %d, want %d", round, q, got, want)
			}
		}
		if again := h.Coarse(); !slices.Equal(again.Buckets, h.Buckets) {
			t.Errorf("round %d: merging twice merges more", round)
		}
	}
}

func TestSumOfCoarseIsCoarseOfSum(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	var a, b Counter
	for range 5000 {
		for _, c := range []*Counter{&a, &b} {
			if err := c.Record(random.Int64N(1e9)); err != nil {
				t.Fatal(err)
			}
		}
	}
	x, y := a.Take(), b.Take()
	if got, want := Sum(x.Coarse(), y.Coarse()), Sum(x, y).Coarse(); !slices.Equal(got.Buckets, want.Buckets) {
		t.Error("the sum of merged histograms is not the merged sum")
	}
}
