package stats

import (
	"math"
	"slices"
)

// exactRanks is the largest number of values of both samples together for which
// the distribution of ranks is counted out: the number of ways to choose half of
// them is exact in a float64 then.
const exactRanks = 50

// RankTest is what MannWhitney found.
type RankTest struct {
	// U counts the pairs of an x and a y in which y is the larger, ties as half.
	U float64
	// P is two-sided: how often a U at least as far from half of all pairs comes
	// about where which value belongs to which sample is chance.
	P float64
	// Exact: P was counted out. Else it is the normal approximation, with the
	// corrections for ties and continuity.
	Exact bool
}

// MannWhitney is the rank test of two independent samples (Mann and Whitney
// 1947; Wilcoxon 1945). Ties have their middle rank, and the exact distribution
// is that of the ranks as they are, so that ties need no correction (Lehmann,
// "Nonparametrics", 1.4). Infinite values rank as such; NaN must not occur. P is
// 1 where a sample is empty.
func MannWhitney(x, y []float64) RankTest {
	m, n := len(x), len(y)
	if m == 0 || n == 0 {
		return RankTest{P: 1, Exact: true}
	}
	doubled, ties := doubledRanks(x, y)
	var sum int64 // of the doubled ranks of y
	for _, r := range doubled[m:] {
		sum += r
	}
	t := RankTest{U: float64(sum)/2 - float64(n)*float64(n+1)/2}
	total := int64(m + n)
	if total <= exactRanks {
		// The smaller sample's ranks are chosen: their sum tells that of the other.
		k, own := n, sum
		if m < n {
			k, own = m, total*(total+1)-sum
		}
		middle := int64(k) * (total + 1)
		away := abs(own - middle)
		counts := subsetSums(doubled, k)
		var all, far float64
		for s, c := range counts {
			all += c
			if abs(int64(s)-middle) >= away {
				far += c
			}
		}
		t.P, t.Exact = far/all, true
		return t
	}
	mf, nf, tf := float64(m), float64(n), float64(total)
	variance := mf * nf / 12 * (tf + 1 - ties/(tf*(tf-1)))
	t.P = 1
	if variance > 0 {
		z := max(0, math.Abs(t.U-mf*nf/2)-0.5) / math.Sqrt(variance)
		t.P = math.Erfc(z / math.Sqrt2)
	}
	return t
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

// doubledRanks are twice the middle ranks of all values, x before y, and the sum
// of t³−t over groups of t equal values.
func doubledRanks(x, y []float64) (doubled []int64, ties float64) {
	all := append(slices.Clone(x), y...)
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case all[a] < all[b]:
			return -1
		case all[a] > all[b]:
			return 1
		}
		return 0
	})
	doubled = make([]int64, len(all))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && all[order[j]] == all[order[i]] {
			j++
		}
		for _, at := range order[i:j] {
			doubled[at] = int64(i + j + 1) // ranks i+1 to j
		}
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	return doubled, ties
}

// subsetSums counts by their sum the ways to choose k of the values, which are
// whole and positive.
func subsetSums(values []int64, k int) []float64 {
	var most int64
	for _, v := range values {
		most += v
	}
	ways := make([][]float64, k+1)
	for i := range ways {
		ways[i] = make([]float64, most+1)
	}
	ways[0][0] = 1
	var reached int64
	for i, v := range values {
		reached += v
		for c := min(i+1, k); c >= 1; c-- {
			from, to := ways[c-1], ways[c]
			for s := reached; s >= v; s-- {
				to[s] += from[s-v]
			}
		}
	}
	return ways[k]
}

// SmallestP is the smallest two-sided P that MannWhitney can give for samples of
// m and n values without ties: that of samples which do not overlap. It is 1
// where one is empty.
func SmallestP(m, n int) float64 {
	if m == 0 || n == 0 {
		return 1
	}
	p := 2.0
	for i := range min(m, n) {
		p *= float64(i+1) / float64(max(m, n)+i+1)
	}
	return min(1, p)
}

// RunsFor is the smallest n for which two samples of n values can show a
// difference at the level alpha in (0,1].
func RunsFor(alpha float64) int {
	n := 2
	for n < 1000 && SmallestP(n, n) > alpha {
		n++
	}
	return n
}

// rankCut is the largest number k of the smallest, and of the largest, pairwise
// differences that an interval of the level 1−alpha leaves out: P(U < k) ≤ α/2
// where there are no ties. It is −1 where not even all of them are enough.
func rankCut(m, n int, alpha float64) int {
	total := m + n
	if total > exactRanks {
		z := NormalQuantile(1 - alpha/2)
		mf, nf := float64(m), float64(n)
		return int(math.Floor(mf*nf/2-z*math.Sqrt(mf*nf*(mf+nf+1)/12))) - 1
	}
	ranks := make([]int64, total)
	for i := range ranks {
		ranks[i] = int64(i + 1)
	}
	small := min(m, n)
	counts := subsetSums(ranks, small)
	var all, below float64
	for _, c := range counts {
		all += c
	}
	k := -1
	for s := small * (small + 1) / 2; s < len(counts); s++ {
		// A tie of floats at the level itself is inside of it.
		if below += counts[s]; below/all > alpha/2*(1+1e-12) {
			break
		}
		k++
	}
	return k
}

// Shift is by how much the values of one sample lie above those of another.
type Shift struct {
	// Estimate is the median of all pairwise differences.
	Estimate float64
	// Low and High are the ends of its interval, −Inf and +Inf where the samples
	// are too small for one of that level.
	Low, High float64
}

// Bounded tells whether there is an interval.
func (s Shift) Bounded() bool { return !math.IsInf(s.Low, -1) || !math.IsInf(s.High, 1) }

// HodgesLehmann is the shift from x to y (Hodges and Lehmann 1963) with the
// interval that belongs to the rank test, of the level 1−alpha at least: it holds
// the shifts that the test would not refuse (Hollander and Wolfe,
// "Nonparametric Statistical Methods", 4.3). Two values that are infinite alike
// differ by 0. NaN where a sample is empty.
func HodgesLehmann(x, y []float64, alpha float64) Shift {
	if len(x) == 0 || len(y) == 0 {
		return Shift{math.NaN(), math.Inf(-1), math.Inf(1)}
	}
	differences := make([]float64, 0, len(x)*len(y))
	for _, a := range x {
		for _, b := range y {
			d := b - a
			if a == b {
				d = 0
			}
			differences = append(differences, d)
		}
	}
	s := Shift{Median(differences), math.Inf(-1), math.Inf(1)} // Median sorts
	if math.IsNaN(s.Estimate) {                                // between −Inf and +Inf
		s.Estimate = 0
	}
	if k := rankCut(len(x), len(y), alpha); k >= 0 {
		s.Low, s.High = differences[k], differences[len(differences)-1-k]
	}
	return s
}

// Holm adjusts the P of a family of tests, so that the chance of one false
// alarm or more among all of them is at most the level (Holm 1979). NaN is no
// test and stays. The order is kept.
func Holm(p []float64) []float64 {
	var order []int
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	out := slices.Clone(p)
	var before float64
	for i, at := range order {
		before = max(before, min(1, p[at]*float64(len(order)-i)))
		out[at] = before
	}
	return out
}
