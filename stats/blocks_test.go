package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestAutocorrelationTimeOfAFirstOrderProcess(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, rho := range []float64{0, 0.5, 0.8} {
		x := make([]float64, 20_000)
		for i := 1; i < len(x); i++ {
			x[i] = rho*x[i-1] + r.NormFloat64()
		}
		want := (1 + rho) / (1 - rho)
		if got := AutocorrelationTime(x); math.Abs(got-want) > 0.12*want {
			t.Errorf("ρ = %g: %g, want %g", rho, got, want)
		}
	}
	for _, x := range [][]float64{nil, {1}, {3, 3, 3, 3}, {1, -1, 1, -1, 1, -1}, same(0.1, 54), same(-0.3, 70), same(1e9/3, 600)} {
		if got := AutocorrelationTime(x); got != 1 {
			t.Errorf("%v: %g, want 1", x, got)
		}
	}
}

func same(v float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = v
	}
	return x
}

// pieces are n of 100 values each, exponential with a mean of 1 ms, that all
// follow a level of their own.
func pieces(r *rand.Rand, n int, level func(i int) float64) []Sample {
	out := make([]Sample, n)
	for i := range out {
		var c Counter
		for range 100 {
			_ = c.Record(int64(1e6 * level(i) * r.ExpFloat64()))
		}
		out[i].Values = c.Take()
	}
	return out
}

func TestBlocksKeepEverything(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, c := range []struct{ pieces, least, blocks int }{
		{19, 1, 0}, {20, 1, 20}, {45, 2, 22}, {270, 1, 40}, {270, 9, 30}, {270, 14, 0}, {270, 0, 40}, {0, 1, 0},
	} {
		all := pieces(r, c.pieces, func(int) float64 { return 1 })
		if c.pieces > 3 {
			all[3].Infinite = 7
		}
		blocks := Blocks(all, c.least)
		if len(blocks) != c.blocks {
			t.Errorf("%d pieces of at least %d: %d blocks, want %d", c.pieces, c.least, len(blocks), c.blocks)
		}
		if c.blocks == 0 {
			continue
		}
		var n, never int64
		for _, b := range blocks {
			var in int64
			for _, p := range b {
				in += p.Values.N
				never += p.Infinite
			}
			if n += in; in < 100*int64(c.least) {
				t.Errorf("a block of %d values", in)
			}
		}
		if n != int64(100*c.pieces) || never != 7 {
			t.Errorf("%d values and %d that never came are left of %d", n, never, 100*c.pieces)
		}
	}
}

// Of independent values the spread of a quantile is known: √(q(1−q)/n) by the
// density there.
func TestResampledQuantilesSpreadAsTheorySays(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	qs := []float64{0.9, 0.5}
	var ratio [2]float64
	const runs = 12
	for range runs {
		blocks := Blocks(pieces(r, 100, func(int) float64 { return 1 }), 2)
		for i, values := range ResampleQuantiles(blocks, qs, 400, r) {
			_, sd, _ := Moments(values)
			density := 1 - qs[i] // of an exponential with mean 1 at its quantile
			ratio[i] += sd / (1e6 * math.Sqrt(qs[i]*(1-qs[i])/10_000) / density) / runs
		}
	}
	for i, x := range ratio {
		if math.Abs(x-1) > 0.12 {
			t.Errorf("q = %g: %g times the spread that theory has", qs[i], x)
		}
	}
}

// The variance that blocks of a first-order process see, against the whole.
func TestBlockBiasOfAFirstOrderProcess(t *testing.T) {
	const rho = 0.5
	tau := (1 + rho) / (1 - rho)
	for _, l := range []int{6, 12, 40} {
		// l times the variance of a block's mean, from the covariances ρ^k.
		sum := 1.0
		for k := 1; k < l; k++ {
			sum += 2 * (1 - float64(k)/float64(l)) * math.Pow(rho, float64(k))
		}
		if got, want := BlockBias(tau, float64(l)), sum/tau; math.Abs(got-want) > 0.005 {
			t.Errorf("blocks of %d: %g, want %g", l, got, want)
		}
	}
	if got := BlockBias(0.5, 3); got != 1 {
		t.Errorf("of independent pieces: %g", got)
	}
}

// A level that wanders slowly is seen, and makes blocks longer.
func TestQuantileTimeSeesASlowLevel(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	slow := pieces(r, 240, func(i int) float64 { return 1.5 + math.Sin(float64(i)/12) })
	quick := pieces(r, 240, func(int) float64 { return 1.5 })
	var parts []Compact
	for _, p := range slow {
		parts = append(parts, p.Values)
	}
	v, _ := Sum(parts...).Quantile(0.9, 0)
	if got := QuantileTime(slow, 0.9, v); got < 5 {
		t.Errorf("a slow level: %g", got)
	}
	if got := QuantileTime(quick, 0.9, v); got > 2 {
		t.Errorf("no level: %g", got)
	}
}

// Each resample's quantile is that of its blocks added up, each as often as it
// was drawn.
func TestResampledQuantilesAreThoseOfTheDrawnBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for round := range 20 {
		blocks := Blocks(pieces(r, 25+r.IntN(60), func(int) float64 { return math.Exp(2 * r.NormFloat64()) }), 1)
		for i := range blocks {
			if blocks[i][0].Infinite = r.Int64N(3); r.IntN(5) == 0 {
				blocks[i][0].Values = Compact{}
			}
		}
		qs := []float64{0.999, 0.5, 0.01, 0.9}
		got := ResampleQuantiles(blocks, qs, 10, rand.New(rand.NewPCG(7, uint64(round))))
		drawn := rand.New(rand.NewPCG(7, uint64(round)))
		for k := range 10 {
			var parts []Compact
			var never int64
			for range blocks {
				for _, p := range blocks[drawn.IntN(len(blocks))] {
					parts, never = append(parts, p.Values), never+p.Infinite
				}
			}
			all := Sum(parts...)
			for i, q := range qs {
				rank, seen, want := Rank(q, all.N+never), int64(0), math.Inf(1)
				for _, b := range all.Buckets {
					if seen+b.Count >= rank {
						low, high := Bounds(b.Index)
						want = float64(low) + (float64(rank-seen)-0.5)/float64(b.Count)*float64(high-low)
						break
					}
					seen += b.Count
				}
				if all.N+never == 0 {
					want = math.NaN()
				}
				if got[i][k] != want && !(math.IsNaN(want) && math.IsNaN(got[i][k])) {
					t.Fatalf("round %d, q %g: %g, want %g", round, q, got[i][k], want)
				}
			}
		}
	}
}

// BenchmarkResampleQuantiles draws 40 blocks of 15 intervals 400 times, for the six
// usual percentiles.
func BenchmarkResampleQuantiles(b *testing.B) {
	r := rand.New(rand.NewPCG(8, 8))
	blocks := Blocks(pieces(r, 600, func(int) float64 { return 1.5 }), 2)
	for b.Loop() {
		ResampleQuantiles(blocks, []float64{0.5, 0.75, 0.85, 0.95, 0.99, 0.999}, 400, r)
	}
}

func TestResampledQuantilesOfMessagesThatNeverCame(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	all := pieces(r, 40, func(int) float64 { return 1 })
	for i := range all {
		all[i].Infinite = 10
	}
	got := ResampleQuantiles(Blocks(all, 2), []float64{0.5, 0.99}, 50, r)
	for k := range got[0] {
		if math.IsInf(got[0][k], 1) || !math.IsInf(got[1][k], 1) {
			t.Fatalf("p50 %g, p99 %g", got[0][k], got[1][k])
		}
	}
	empty := ResampleQuantiles(make([]Block, 20), []float64{0.5}, 2, r)
	if !math.IsNaN(empty[0][0]) {
		t.Errorf("of nothing: %g", empty[0][0])
	}
}
