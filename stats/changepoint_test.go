package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// levels are runs of these medians, n of each, that vary by 3 %.
func levels(r *rand.Rand, n int, of ...float64) (out []float64) {
	for _, level := range of {
		for range n {
			out = append(out, level*math.Exp(0.03*r.NormFloat64()))
		}
	}
	return out
}

func at(points []ChangePoint) (out []int) {
	for _, p := range points {
		out = append(out, p.At)
	}
	return out
}

func TestChangePointsAreFound(t *testing.T) {
	seed := func() *rand.Rand { return rand.New(rand.NewPCG(9, 9)) }
	for name, c := range map[string]struct {
		values []float64
		want   []int
	}{
		"a step":             {levels(seed(), 12, 100, 115), []int{12}},
		"a step undone":      {levels(seed(), 12, 100, 115, 100), []int{12, 24}},
		"two steps up":       {levels(seed(), 12, 100, 115, 135), []int{12, 24}},
		"none":               {levels(seed(), 36, 100), nil},
		"all the same":       {slices.Repeat([]float64{5}, 40), nil},
		"too few":            {levels(seed(), 3, 100, 200), nil},
		"one outlier":        {append(levels(seed(), 12, 100), append([]float64{1e6}, levels(seed(), 12, 100)...)...), nil},
		"losses from a time": {append(levels(seed(), 12, 100), slices.Repeat([]float64{math.Inf(1)}, 8)...), []int{12}},
		"nothing":            {nil, nil},
	} {
		found := ChangePoints(c.values, 0.01, seed())
		if !slices.Equal(at(found), c.want) {
			t.Errorf("%s: %+v, want %v", name, found, c.want)
		}
		if again := ChangePoints(c.values, 0.01, seed()); !slices.Equal(again, found) {
			t.Errorf("%s: the same seed gives %+v and %+v", name, found, again)
		}
	}
}

func TestChangePointsAreRarelyFalse(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	const series = 200
	wrong, found, near := 0, 0, 0
	for range series {
		if len(ChangePoints(levels(r, 16, 100), 0.05, r)) > 0 {
			wrong++
		}
	}
	for range series / 4 {
		got := at(ChangePoints(levels(r, 10, 100, 110), 0.01, r))
		if len(got) > 0 {
			found++
		}
		if slices.ContainsFunc(got, func(i int) bool { return i >= 9 && i <= 11 }) {
			near++
		}
	}
	t.Logf("of %d series without a change %d were called changed; of %d with 10 %%, %d, and %d within a run of it", series, wrong, series/4, found, near)
	// 5 % of 200 give more than 17 in 1 of 100 cases.
	if wrong > 17 {
		t.Errorf("%d of %d series without a change were called changed", wrong, series)
	}
	if found < series/4*8/10 || near < found*8/10 {
		t.Errorf("of %d changes %d were found, %d within a run", series/4, found, near)
	}
}

func TestMinChangeRuns(t *testing.T) {
	for alpha, want := range map[float64]int{0.05: 8, 0.01: 10, 0.001: 14, 1: 6} {
		if got := MinChangeRuns(alpha); got != want {
			t.Errorf("at %g: %d, want %d", alpha, got, want)
		}
	}
}
