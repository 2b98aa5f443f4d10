package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// enumerated is the two-sided P by trying every way to choose which values are
// those of y, and the definition of U as a count of pairs.
func enumerated(x, y []float64) (u, p float64) {
	pairs := func(x, y []float64) (u float64) {
		for _, a := range x {
			for _, b := range y {
				switch {
				case b > a:
					u++
				case b == a:
					u += 0.5
				}
			}
		}
		return u
	}
	u = pairs(x, y)
	all := append(slices.Clone(x), y...)
	middle := float64(len(x)*len(y)) / 2
	var far, total float64
	for mask := range uint(1) << len(all) {
		if bits.OnesCount(mask) != len(y) {
			continue
		}
		var a, b []float64
		for i, v := range all {
			if mask&(1<<i) != 0 {
				b = append(b, v)
			} else {
				a = append(a, v)
			}
		}
		total++
		if math.Abs(pairs(a, b)-middle) >= math.Abs(u-middle)-1e-9 {
			far++
		}
	}
	return u, far / total
}

func TestMannWhitneyIsTheEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 150 {
		x, y := make([]float64, 1+r.IntN(5)), make([]float64, 1+r.IntN(5))
		values := 1 + r.IntN(12) // few: ties
		for i := range x {
			x[i] = float64(r.IntN(values))
		}
		for i := range y {
			y[i] = float64(r.IntN(values) + r.IntN(2))
		}
		if r.IntN(4) == 0 {
			x[0], y[0] = math.Inf(1), math.Inf(1)
		}
		u, p := enumerated(x, y)
		got := MannWhitney(x, y)
		if got.U != u || math.Abs(got.P-p) > 1e-12 || !got.Exact {
			t.Fatalf("%v %v: %+v, want U %g, P %g", x, y, got, u, p)
		}
		if back := MannWhitney(y, x); math.Abs(back.P-p) > 1e-12 || back.U != float64(len(x)*len(y))-u {
			t.Fatalf("%v %v: turned round %+v, want P %g", x, y, back, p)
		}
	}
}

func TestMannWhitneyOfKnownSamples(t *testing.T) {
	// Hollander and Wolfe, example 4.1: permeability of membranes, P = 0.2544.
	x := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	y := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	if got := MannWhitney(x, y); got.U != 15 || math.Abs(got.P-0.2544) > 5e-4 {
		t.Errorf("%+v", got)
	}
	// The same source gives the estimate −0.305 and the 96 % interval −0.76 … 0.15.
	s := HodgesLehmann(x, y, 0.04)
	if math.Abs(s.Estimate+0.305) > 1e-9 || math.Abs(s.Low+0.76) > 1e-9 || math.Abs(s.High-0.15) > 1e-9 {
		t.Errorf("%+v", s)
	}
	if got := MannWhitney(nil, y); got.P != 1 {
		t.Errorf("an empty sample: %+v", got)
	}
	if got := MannWhitney([]float64{2, 2, 2}, []float64{2, 2}); got.P != 1 {
		t.Errorf("all the same: %+v", got)
	}
}

func TestLargeSamplesAreApproximated(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x, y := make([]float64, 25), make([]float64, 25)
	for i := range x {
		x[i], y[i] = math.Round(r.NormFloat64()*8), math.Round(r.NormFloat64()*8+4)
	}
	exact := MannWhitney(x, y)
	more := MannWhitney(append(x, 2), append(y, 2))
	if !exact.Exact || more.Exact || math.Abs(exact.P-more.P) > 0.3*exact.P {
		t.Errorf("exact %+v, with one more on each side %+v", exact, more)
	}
	a, b := HodgesLehmann(x, y, 0.05), HodgesLehmann(append(x, 2), append(y, 2), 0.05)
	if math.Abs(a.Low-b.Low) > 1 || math.Abs(a.High-b.High) > 1 {
		t.Errorf("exact %+v, with one more on each side %+v", a, b)
	}
}

func TestSmallestPIsThatOfSamplesApart(t *testing.T) {
	for m := 1; m <= 6; m++ {
		for n := 1; n <= 6; n++ {
			x, y := make([]float64, m), make([]float64, n)
			for i := range x {
				x[i] = float64(i)
			}
			for i := range y {
				y[i] = float64(100 + i)
			}
			if got, want := SmallestP(m, n), MannWhitney(x, y).P; math.Abs(got-want) > 1e-12 {
				t.Errorf("%d and %d: %g, want %g", m, n, got, want)
			}
		}
	}
	for alpha, want := range map[float64]int{0.05: 4, 0.025: 5, 0.01: 5, 0.005: 6, 1: 2} {
		if got := RunsFor(alpha); got != want {
			t.Errorf("runs for %g: %d, want %d", alpha, got, want)
		}
	}
}

// The interval holds the shifts that the test would not refuse, and no others.
func TestIntervalAndTestAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, alpha := range []float64{0.05, 0.01, 0.3} {
		for range 60 {
			x, y := make([]float64, 3+r.IntN(6)), make([]float64, 3+r.IntN(6))
			for i := range x {
				x[i] = r.NormFloat64()
			}
			for i := range y {
				y[i] = r.NormFloat64() + 1
			}
			s := HodgesLehmann(x, y, alpha)
			if s.Bounded() != (SmallestP(len(x), len(y)) <= alpha*(1+1e-12)) {
				t.Fatalf("%d and %d at %g: %+v, smallest P %g", len(x), len(y), alpha, s, SmallestP(len(x), len(y)))
			}
			if !s.Bounded() {
				continue
			}
			for shift, inside := range map[float64]bool{s.Low - 1e-9: false, s.Low + 1e-9: true, s.Estimate: true, s.High - 1e-9: true, s.High + 1e-9: false} {
				moved := slices.Clone(y)
				for i := range moved {
					moved[i] -= shift
				}
				if p := MannWhitney(x, moved).P; (p > alpha*(1+1e-12)) != inside {
					t.Fatalf("%v %v at %g: a shift of %g has P %g, in the interval %v: %+v", x, y, alpha, shift, p, inside, s)
				}
			}
		}
	}
}

func TestHodgesLehmannOfInfiniteValues(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		x, y []float64
		want float64
	}{
		{[]float64{1, inf}, []float64{inf, inf}, inf},
		{[]float64{inf, inf}, []float64{inf, inf}, 0},
		{[]float64{inf, inf, inf}, []float64{1, 2, 3}, -inf},
		{[]float64{1, 2, 3}, []float64{2, 3, inf}, 1},
	} {
		if got := HodgesLehmann(c.x, c.y, 0.05); got.Estimate != c.want {
			t.Errorf("%v %v: %+v, want %g", c.x, c.y, got, c.want)
		}
	}
	if got := HodgesLehmann(nil, []float64{1}, 0.05); !math.IsNaN(got.Estimate) || got.Bounded() {
		t.Errorf("an empty sample: %+v", got)
	}
}

func TestHolm(t *testing.T) {
	nan := math.NaN()
	got := Holm([]float64{0.04, nan, 0.01, 0.03, 0.9})
	want := []float64{0.09, nan, 0.04, 0.09, 0.9}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 || math.IsNaN(got[i]) != math.IsNaN(want[i]) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
	// By the definition: step down through the ordered P, and stop at the first
	// that is above α/(those left).
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		p := make([]float64, 1+r.IntN(8))
		for i := range p {
			p[i] = math.Pow(r.Float64(), 4)
		}
		order := make([]int, len(p))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return int(math.Copysign(1, p[a]-p[b])) })
		refused := make([]bool, len(p))
		for i, at := range order {
			if p[at] > 0.05/float64(len(p)-i) {
				break
			}
			refused[at] = true
		}
		for i, adjusted := range Holm(p) {
			if (adjusted <= 0.05) != refused[i] {
				t.Fatalf("%v: number %d has %g", p, i, adjusted)
			}
		}
	}
}

func TestStudent(t *testing.T) {
	// Abramowitz and Stegun, table 26.10, and the normal distribution.
	for _, c := range []struct {
		p    float64
		df   int
		want float64
	}{
		{0.975, 1, 12.706}, {0.975, 2, 4.303}, {0.975, 5, 2.571}, {0.995, 10, 3.169}, {0.9, 19, 1.328},
		{0.975, 30, 2.042}, {0.025, 10, -2.228}, {0.5, 7, 0}, {0.975, 100000, NormalQuantile(0.975)},
	} {
		got := StudentQuantile(c.p, c.df)
		if math.Abs(got-c.want) > 6e-4 || math.Abs(StudentCDF(got, c.df)-c.p) > 1e-9 {
			t.Errorf("t of %g with %d: %g, want %g", c.p, c.df, got, c.want)
		}
	}
	if got := NormalQuantile(0.975); math.Abs(got-1.959964) > 1e-6 {
		t.Errorf("normal: %g", got)
	}
}

// The shift that it names is found as often as it says.
func TestDetectableShiftIsFoundAsOftenAsAsked(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, c := range []struct {
		m, n  int
		alpha float64
	}{{6, 6, 0.025}, {6, 6, 0.005}, {4, 8, 0.05}} {
		shift := DetectableShift(c.m, c.n, c.alpha, 0.8)
		const draws = 600
		found := 0
		for range draws {
			x, y := make([]float64, c.m), make([]float64, c.n)
			for i := range x {
				x[i] = r.NormFloat64()
			}
			for i := range y {
				y[i] = r.NormFloat64() + shift
			}
			if MannWhitney(x, y).P <= c.alpha*(1+1e-12) {
				found++
			}
		}
		if share := float64(found) / draws; math.Abs(share-0.8) > 0.06 {
			t.Errorf("%+v: a shift of %.2f is found in %.2f", c, shift, share)
		}
	}
	if got := DetectableShift(3, 3, 0.05, 0.8); !math.IsInf(got, 1) {
		t.Errorf("3 and 3 values show %g", got)
	}
}
