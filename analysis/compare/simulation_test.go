package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

// mostFalse is how many of 200 pairs without a change may be called changed: 5 %
// of them, which is what is promised.
const pairs, mostFalse = 200, 10

// pool is so many runs of a spec, to be dealt into sides.
func (s spec) pool(r *rand.Rand, runs int) *gathered {
	return gather(s.side(r, "pool", runs), uncut(50, 99))
}

// deal makes a side of some of the runs of a pool.
func (g *gathered) deal(which []int) *gathered {
	out := &gathered{info: g.info, kind: g.kind, order: g.order, loads: map[string]*load{}}
	for key, l := range g.loads {
		side := &load{name: l.name, rate: l.rate}
		for _, i := range which {
			side.steps = append(side.steps, l.steps[i])
		}
		out.loads[key] = side
	}
	return out
}

func TestRunsThatAreAlikeAreRarelyCalledChanged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	s := spec{level: 50e6, between: 0.03, intervals: 24, perPiece: 20, rates: []float64{1000, 2000}}
	const runs = 240
	pool := s.pool(r, runs)
	wrong := 0
	for range pairs * 12 / runs {
		order := r.Perm(runs)
		for i := 0; i < runs; i += 12 {
			var result Result
			result.compare([]*gathered{pool.deal(order[i : i+6]), pool.deal(order[i+6 : i+12])}, DefaultPercentiles, Options{IntervalLevel: Level})
			if any, _ := called(&result); any {
				wrong++
			}
			if result.Family != 4 {
				t.Fatalf("%d tests, want 4", result.Family)
			}
		}
	}
	t.Logf("%d of %d", wrong, pairs)
	if wrong > mostFalse {
		t.Errorf("%d of %d pairs that are alike were called changed", wrong, pairs)
	}
}

// Two single runs that differ in nothing but their own variation over time, which
// hangs together: their intervals hold what is true as often as they say.
func TestSingleRunsThatAreAlikeAreRarelyCalledDifferent(t *testing.T) {
	pairs, mostFalse, least := pairs, mostFalse, 0.91 // of 95 %: less often in 1 of 100 cases
	if raced {
		pairs, mostFalse, least = pairs/5, mostFalse/5, 0.87
	}
	s := spec{level: 50e6, intervals: 120, perPiece: 5, wander: 0.08, memory: 0.3}
	r := rand.New(rand.NewPCG(2, 2))
	wrong, judged, inside := 0, 0, [2]int{}
	for range pairs {
		result := compared(t, uncut(), s.side(r, "base", 1), s.side(r, "new", 1))
		if any, _ := called(result); any {
			wrong++
		}
		if result.Family == 0 {
			continue
		}
		judged++
		for k, row := range result.rows() {
			if row.Low <= 1 && 1 <= row.High {
				inside[k]++
			}
		}
	}
	t.Logf("%d of %d were called different; of %d intervals %d of p50 and %d of p99 held the truth", wrong, pairs, judged, inside[0], inside[1])
	if wrong > mostFalse || judged < pairs*8/10 {
		t.Errorf("%d of %d pairs that are alike were called different, %d could be judged", wrong, pairs, judged)
	}
	for k, n := range inside {
		if float64(n) < least*float64(judged) {
			t.Errorf("percentile %d: %d of %d intervals of 95 %% held the truth", k, n, judged)
		}
	}
}

func TestATenthOfP99IsFoundWithSixRunsEach(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	s := spec{level: 50e6, between: 0.016, intervals: 24, perPiece: 80}
	slow := s
	slow.tail = 1.1
	const pairs, runs = 100, 120
	a, b := s.pool(r, runs), slow.pool(r, runs)
	found, inside := 0, 0
	var detectable, vary float64
	var orderA, orderB []int
	for i := range pairs {
		at := i * 6 % runs
		if at == 0 {
			orderA, orderB = r.Perm(runs), r.Perm(runs)
		}
		var result Result
		result.compare([]*gathered{a.deal(orderA[at : at+6]), b.deal(orderB[at : at+6])}, DefaultPercentiles, Options{IntervalLevel: Level})
		if _, p99 := called(&result); p99 {
			found++
		}
		row := result.rows()[1]
		if row.Low <= 1.1 && 1.1 <= row.High {
			inside++
		}
		detectable += float64(row.Detectable) / pairs
		vary += float64(row.SpreadBase*row.SpreadBase+row.SpreadNew*row.SpreadNew) / 2 / pairs
	}
	t.Logf("runs vary by %.1f %%; found in %d of %d; the interval held it in %d; the smallest that could be found was %.3f on average",
		100*math.Sqrt(vary), found, pairs, inside, detectable)
	if math.Abs(math.Sqrt(vary)-0.03) > 0.003 {
		t.Fatalf("the runs of this test vary by %.4f, and should by 3 %%", math.Sqrt(vary))
	}
	if found < pairs*8/10 {
		t.Errorf("a p99 that is 10 %% higher was found in %d of %d", found, pairs)
	}
	if inside < 88 { // of 95 %: less often in 1 of 200 cases
		t.Errorf("the interval of 95 %% held the true change in %d of %d", inside, pairs)
	}
	// Normal samples of 6 and 6 show some 1.9 standard deviations at 2.5 %.
	if math.Abs(detectable-1.06) > 0.015 {
		t.Errorf("the smallest change that could be found is named as %.3f", detectable)
	}
}
