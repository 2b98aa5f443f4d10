package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// bruteS counts pairs as the definition says.
func bruteS(x []float64) (s int64) {
	for i := range x {
		for j := i + 1; j < len(x); j++ {
			if x[j] > x[i] {
				s++
			} else if x[j] < x[i] {
				s--
			}
		}
	}
	return s
}

func TestMannKendallAgainstAllPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		x := make([]float64, 3+r.IntN(60))
		for i := range x {
			x[i] = float64(r.IntN(1 + r.IntN(40)))
		}
		s, z := MannKendall(slices.Clone(x))
		if want := bruteS(x); s != want {
			t.Fatalf("s = %d, want %d of %v", s, want, x)
		}
		if s > 0 && z < 0 || s < 0 && z > 0 {
			t.Fatalf("s %d, z %g", s, z)
		}
	}
	// The variance with ties, from the definition: over all orders of the
	// values the mean of s² is the variance.
	x := []float64{1, 2, 2, 3, 3}
	var sum, n float64
	permute(x, 0, func(p []float64) {
		s := float64(bruteS(p))
		sum, n = sum+s*s, n+1
	})
	s, z := MannKendall(x)
	if want := float64(s-1) / math.Sqrt(sum/n); math.Abs(z-want) > 1e-12 {
		t.Errorf("z = %g, want %g", z, want)
	}
	// A worked value: 1..10 rises in all 45 pairs, var = 10·9·25/18 = 125.
	s, z = MannKendall([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	if s != 45 || math.Abs(z-44/math.Sqrt(125)) > 1e-12 {
		t.Errorf("1..10: s %d, z %g", s, z)
	}
	if s, z = MannKendall([]float64{5, 5, 5, 5}); s != 0 || z != 0 {
		t.Errorf("constant: s %d, z %g", s, z)
	}
}

func permute(x []float64, k int, f func([]float64)) {
	if k == len(x) {
		f(x)
		return
	}
	for i := k; i < len(x); i++ {
		x[k], x[i] = x[i], x[k]
		permute(x, k+1, f)
		x[k], x[i] = x[i], x[k]
	}
}

func TestTheilSen(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{[]float64{1, 3, 5, 7}, 2},
		{[]float64{1, 3, 500, 7, 9}, 2}, // an outlier does not bend it
		{[]float64{0, nan, 4, nan, 8}, 2},
		{[]float64{3, 3, 3}, 0},
		{[]float64{0, 0, 3}, 1.5}, // slopes 0, 3, 1.5
	} {
		if got := TheilSen(c.x); got != c.want {
			t.Errorf("TheilSen(%v) = %g, want %g", c.x, got, c.want)
		}
	}
	if !math.IsNaN(TheilSen([]float64{1})) {
		t.Error("one value has a slope")
	}
}

func TestMADAndMoments(t *testing.T) {
	if m, mad := MAD([]float64{1, 1, 2, 2, 4, 6, 9, math.NaN()}); m != 2 || mad != 1 {
		t.Errorf("median %g, MAD %g; want 2, 1", m, mad)
	}
	if m := Median([]float64{4, 1, 3, 2}); m != 2.5 {
		t.Errorf("median %g", m)
	}
	mean, sd, cov := Moments([]float64{2, 4, 4, 4, 5, 5, 7, 9})
	if mean != 5 || math.Abs(sd-math.Sqrt(32.0/7)) > 1e-12 || math.Abs(cov-sd/5) > 1e-12 {
		t.Errorf("mean %g sd %g cov %g", mean, sd, cov)
	}
	if _, sd, cov := Moments([]float64{3}); sd != 0 || cov != 0 {
		t.Errorf("one value: sd %g cov %g", sd, cov)
	}
}

func TestGrowth(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	line := func(n int, level, rise, noise float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = level + rise*float64(i)/float64(n) + noise*r.NormFloat64()
		}
		return x
	}
	with := func(x []float64, f func([]float64)) []float64 { f(x); return x }
	inf := math.Inf(1)
	for _, c := range []struct {
		name              string
		x                 []float64
		growing, tooShort bool
	}{
		{"flat", line(60, 100, 0, 5), false, false},
		{"a fifth more", line(60, 100, 20, 2), true, false},
		{"certain but small", line(300, 100, 8, 1), false, false},
		{"falls", line(60, 100, -50, 2), false, false},
		{"large but not certain", line(20, 100, 30, 60), false, false},
		{"19 points", line(19, 100, 900, 1), false, true},
		{"20 points", line(20, 100, 900, 1), true, false},
		{"one spike", with(line(60, 100, 0, 2), func(x []float64) { x[30] = 5000 }), false, false},
		{"gaps", with(line(60, 100, 50, 2), func(x []float64) { x[3], x[40] = math.NaN(), math.NaN() }), true, false},
		{"from a negative level", line(60, -100, 50, 1), true, false},
		{"ends in messages that never came", with(line(60, 100, 50, 2), func(x []float64) { x[57], x[58], x[59] = inf, inf, inf }), true, false},
		{"an hour", line(3600, 100, 30, 3), true, false},
		{"an hour, flat", line(3600, 100, 2, 3), false, false},
	} {
		v := Growth(c.x)
		if v.Growing != c.growing || v.TooShort != c.tooShort {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
	// The slope is per value whatever the number of values.
	if v := Growth(line(5000, 100, 100, 0)); math.Abs(v.Slope-0.02) > 1e-6 {
		t.Errorf("slope %g, want 0.02", v.Slope)
	}
	// Chance: of 2,000 flat runs next to none is called growing.
	called := 0
	for range 2000 {
		if Growth(line(40, 100, 0, 30)).Growing {
			called++
		}
	}
	if called > 4 {
		t.Errorf("%d of 2,000 flat runs were called growing", called)
	}
}
