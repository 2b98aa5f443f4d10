package schedule

import (
	"math"
	"testing"
	"time"
)

// The gaps of a process whose rate is constant are exponential and independent.
func TestPoissonGapsAreExponential(t *testing.T) {
	for seed := range uint64(3) {
		const rate = 10_000.0
		all := times(made(t, Spec{Kind: PoissonArrivals, Profile: Steady(rate * 1000), Messages: 100_000, Seed: seed}))
		u := make([]float64, len(all))
		last := int64(0)
		for i, at := range all {
			u[i] = -math.Expm1(-rate * float64(at-last) / 1e9) // the distribution function
			last = at
		}
		uniformity(t, "gaps", u)
		for _, lag := range []int{1, 2, 31, 32, 33} {
			uncorrelated(t, "gaps", u, lag)
		}
	}
}

// The counts of intervals that do not lie on the cells are Poisson and
// independent, with the mean that the profile has there.
func TestPoissonCountsPerIntervalArePoisson(t *testing.T) {
	for _, c := range []struct {
		profile  string
		interval time.Duration
	}{
		{"0s:10000", 500 * time.Microsecond}, // 5 a time
		{"0s:10000", 10 * time.Millisecond},  // 100, over three cells
		{"0s:2000,2s:6000,4s~20000,6s~1000", 3 * time.Millisecond},
	} {
		p := profile(t, c.profile)
		s := made(t, Spec{Kind: PoissonArrivals, Profile: p, Duration: 8 * time.Second, Seed: 11})
		counts := make([]float64, s.Duration()/c.interval+1)
		for _, at := range times(s) {
			counts[at/int64(c.interval)]++
		}
		var chi2, got, want float64
		standard := make([]float64, 0, len(counts))
		for i := range counts[:len(counts)-1] {
			by, _ := integral(p, int64(i+1)*int64(c.interval)).Float64()
			mean := by - want
			chi2 += (counts[i] - mean) * (counts[i] - mean) / mean
			standard = append(standard, (counts[i]-mean)/math.Sqrt(mean))
			got, want = got+counts[i], by
		}
		// The dispersion index: n with a standard deviation of about √(2n).
		n := float64(len(standard))
		if z := (chi2 - n) / math.Sqrt(2*n); math.Abs(z) > 4 {
			t.Errorf("%s in intervals of %v: variance over mean is %.3f", c.profile, c.interval, chi2/n)
		}
		if math.Abs(got-want) > 4*math.Sqrt(want) {
			t.Errorf("%s: %.0f messages, want about %.0f", c.profile, got, want)
		}
		for lag := 1; lag < 5; lag++ {
			uncorrelated(t, c.profile, standard, lag)
		}
	}
}

// The whole distribution of a cell's count, not only its mean and variance.
func TestCellCountsFollowThePoissonDistribution(t *testing.T) {
	c := newCells(99)
	const n = 200_000
	seen := make([]float64, len(c.cdf))
	for cell := range int64(n) {
		seen[c.count(cell)]++
	}
	var chi2, rest, restWant float64
	classes := 0
	for k := range seen {
		lg, _ := math.Lgamma(float64(k) + 1)
		want := n * math.Exp(float64(k)*math.Log(cellMean)-cellMean-lg)
		if want < 10 {
			rest, restWant = rest+seen[k], restWant+want
			continue
		}
		chi2 += (seen[k] - want) * (seen[k] - want) / want
		classes++
	}
	chi2 += (rest - restWant) * (rest - restWant) / restWant
	if z := (chi2 - float64(classes)) / math.Sqrt(2*float64(classes)); math.Abs(z) > 4 {
		t.Errorf("chi-square %.1f over %d classes", chi2, classes+1)
	}
}

func TestAnotherSeedIsAnotherProcess(t *testing.T) {
	spec := Spec{Kind: PoissonArrivals, Profile: Steady(1_000_000), Messages: 10_000, Seed: 1}
	a := times(made(t, spec))
	spec.Seed = 2
	same := 0
	for i, at := range times(made(t, spec)) {
		if at == a[i] {
			same++
		}
	}
	if same > 10 {
		t.Errorf("%d of %d messages are due at the same time", same, len(a))
	}
}

// A step of weeks takes no more memory than one of seconds.
func TestPoissonMemoryIsBounded(t *testing.T) {
	s := made(t, Spec{Kind: PoissonArrivals, Profile: Steady(100_000_000), Duration: 500 * time.Second, Seed: 1}).(*arrivals)
	if n := cap(s.cells.marks); n > 2*maxMarks {
		t.Errorf("%d marks for %d messages", n, s.Len())
	}
	o := s.Offsets()
	for _, i := range []int64{s.Len() - 1, 0, s.Len() / 2, s.Len()/2 - 1000, s.Len()/2 + 1000} {
		want := float64(i) / 100_000 * 1e9
		if got := float64(o.At(i)); math.Abs(got-want) > 5*math.Sqrt(float64(i)+1)/100_000*1e9 {
			t.Errorf("message %d is due at %.0f, want about %.0f", i, got, want)
		}
	}
}
