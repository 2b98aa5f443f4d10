package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// MinSegment is the fewest values on either side of a change point: one run, or
// two, that stand out are no change.
const MinSegment = 3

// ChangePoint is where a series changes.
type ChangePoint struct {
	At int     // the index of the first value after the change
	P  float64 // of the permutation test
}

// MinChangeRuns is the fewest values in which a change can be shown at the level
// alpha: in half of them against the other half.
func MinChangeRuns(alpha float64) int {
	n := 2 * MinSegment
	for n < 1000 && SmallestP(n/2, n-n/2) > alpha {
		n++
	}
	return n
}

// ChangePoints finds where values that are in order of time change their level,
// ascending. It divides the series where the ranks before differ most from the
// ranks that follow, up to any later end, so that a change that was undone is
// found too, and goes on with the parts; each division must stand a permutation
// test at the level alpha. This is E-divisive (Matteson and James, "A
// Nonparametric Approach for Multiple Change Point Analysis of Multivariate
// Data", 2014), with the squared difference of mean ranks in the place of the
// energy distance, so that one outlier moves nothing and infinite values have
// their place. Such a difference is largest where the parts are alike in size, so
// the place is then taken where the values lie closest to the medians of their
// sides. It takes values that do not change to be exchangeable.
//
// Where there are fewer than MinChangeRuns none is found. NaN must not occur. r
// is seeded by the caller: the same seed finds the same.
func ChangePoints(values []float64, alpha float64, r *rand.Rand) []ChangePoint {
	if !(alpha > 0) {
		return nil
	}
	// As many permutations as tell half the level.
	permutations := max(999, int(math.Ceil(2/alpha))-1)
	fewest := MinChangeRuns(alpha)
	var found []ChangePoint
	var divide func(from, to int)
	divide = func(from, to int) {
		if to-from < fewest {
			return
		}
		doubled, _ := doubledRanks(values[from:to], nil)
		score := make([]float64, len(doubled))
		for i, d := range doubled {
			score[i] = float64(d) / 2
		}
		best, at, end := divergence(score)
		if at == 0 {
			return
		}
		atLeast := 1
		for range permutations {
			r.Shuffle(len(score), func(i, j int) { score[i], score[j] = score[j], score[i] })
			if d, _, _ := divergence(score); d >= best*(1-1e-12) {
				if atLeast++; float64(atLeast) > alpha*float64(permutations+1) {
					return
				}
			}
		}
		at = place(values[from : from+end])
		found = append(found, ChangePoint{At: from + at, P: float64(atLeast) / float64(permutations+1)})
		divide(from, from+at)
		divide(from+at, to)
	}
	divide(0, len(values))
	slices.SortFunc(found, func(a, b ChangePoint) int { return cmp.Compare(a.At, b.At) })
	return found
}

// divergence is the largest squared difference of means between the first at
// scores and those that follow it up to some end, weighed by their numbers. at is
// 0 where there are too few scores or all are the same.
func divergence(score []float64) (best float64, at, end int) {
	n := len(score)
	sums := make([]float64, n+1)
	for i, s := range score {
		sums[i+1] = sums[i] + s
	}
	for e := n; e >= 2*MinSegment; e-- {
		for i := MinSegment; i <= e-MinSegment; i++ {
			left, right := float64(i), float64(e-i)
			d := sums[i]/left - (sums[e]-sums[i])/right
			if v := d * d * left * right / float64(e); v > best {
				best, at, end = v, i, e
			}
		}
	}
	return best, at, end
}

// place divides values that change once where the sum of distances from the
// medians of the two sides is least.
func place(values []float64) (at int) {
	x := finite(values)
	least := math.Inf(1)
	for i := MinSegment; i <= len(x)-MinSegment; i++ {
		if d := distances(x[:i]) + distances(x[i:]); d < least {
			least, at = d, i
		}
	}
	return at
}

// finite has in the place of infinite values such as lie well beyond the others.
func finite(values []float64) []float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsInf(v, 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	out := slices.Clone(values)
	for i, v := range out {
		if math.IsInf(v, 0) {
			out[i] = math.Copysign(1, v)
			if low <= high {
				out[i] = high + 10*(high-low) + 1
				if v < 0 {
					out[i] = low - 10*(high-low) - 1
				}
			}
		}
	}
	return out
}

// distances is the sum of distances from the median.
func distances(values []float64) (sum float64) {
	m := Median(slices.Clone(values))
	for _, v := range values {
		sum += math.Abs(v - m)
	}
	return sum
}
