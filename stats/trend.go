package stats

import (
	"math"
	"slices"
)

// MannKendall is the test for a monotonic trend in values that are equally far
// apart (Mann 1945, Kendall 1975): s counts the pairs that rise minus those that
// fall, z is its normal score with the correction for ties and for continuity.
// NaN marks a missing value and is left out. z is 0 for fewer than 3 values.
func MannKendall(values []float64) (s int64, z float64) {
	x := make([]float64, 0, len(values))
	for _, v := range values {
		if !math.IsNaN(v) {
			x = append(x, v)
		}
	}
	n := int64(len(x))
	if n < 3 {
		return 0, 0
	}
	sorted := slices.Clone(x)
	falling := inversions(sorted, make([]float64, n))
	pairs := n * (n - 1) / 2
	nf := float64(n)
	variance := nf * (nf - 1) * (2*nf + 5)
	for i := 0; i < len(sorted); {
		j := i
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		t := int64(j - i)
		pairs -= t * (t - 1) / 2
		tf := float64(t)
		variance -= tf * (tf - 1) * (2*tf + 5)
		i = j
	}
	variance /= 18
	s = pairs - 2*falling
	switch {
	case variance <= 0 || s == 0:
		return s, 0
	case s > 0:
		return s, float64(s-1) / math.Sqrt(variance)
	default:
		return s, float64(s+1) / math.Sqrt(variance)
	}
}

// inversions sorts x and counts the pairs i < j with x[i] > x[j].
func inversions(x, tmp []float64) int64 {
	if len(x) < 2 {
		return 0
	}
	m := len(x) / 2
	n := inversions(x[:m], tmp[:m]) + inversions(x[m:], tmp[m:])
	i, j, k := 0, m, 0
	for i < m && j < len(x) {
		if x[i] <= x[j] {
			tmp[k] = x[i]
			i++
		} else {
			tmp[k] = x[j]
			j++
			n += int64(m - i)
		}
		k++
	}
	k += copy(tmp[k:], x[i:m])
	copy(tmp[k:], x[j:])
	copy(x, tmp)
	return n
}

// TheilSen is the median of the slopes of all pairs, per step from one value to
// the next (Theil 1950, Sen 1968). NaN marks a missing value. It is NaN for
// fewer than 2 values. Memory is that of all pairs: see MaxTrendPoints.
func TheilSen(values []float64) float64 {
	var slopes []float64
	for i, a := range values {
		for j := i + 1; j < len(values); j++ {
			if s := (values[j] - a) / float64(j-i); !math.IsNaN(s) {
				slopes = append(slopes, s)
			} else if a == values[j] { // two infinite ones
				slopes = append(slopes, 0)
			}
		}
	}
	return Median(slopes)
}

// Median is the middle value, or the mean of the two middle ones; NaN for
// none. values is sorted in place.
func Median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	if n%2 == 1 || values[n/2-1] == values[n/2] {
		return values[n/2]
	}
	return values[n/2-1]/2 + values[n/2]/2
}

// MAD is the median m and the median distance from it. For a normal
// distribution 1.4826 times the distance estimates the standard deviation.
// NaN marks a missing value.
func MAD(values []float64) (m, mad float64) {
	x := make([]float64, 0, len(values))
	for _, v := range values {
		if !math.IsNaN(v) {
			x = append(x, v)
		}
	}
	m = Median(x)
	for i, v := range x {
		x[i] = math.Abs(v - m)
		if v == m { // also where both are infinite
			x[i] = 0
		}
	}
	return m, Median(x)
}

// Moments are the mean, the standard deviation (of a sample, n−1) and the
// coefficient of variation sd/mean, 0 where they are not defined.
func Moments(values []float64) (mean, sd, cov float64) {
	if len(values) == 0 {
		return 0, 0, 0
	}
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	if len(values) > 1 {
		for _, v := range values {
			sd += (v - mean) * (v - mean)
		}
		sd = math.Sqrt(sd / float64(len(values)-1))
	}
	if mean != 0 {
		cov = sd / mean
	}
	return mean, sd, cov
}

// The rule for growth.
const (
	MinTrendPoints = 20    // fewer are too short to tell
	GrowthZ        = 3.3   // Mann–Kendall, about 1 in 1,000 by chance
	GrowthShare    = 0.1   // Theil–Sen over the run, of the level
	MaxTrendPoints = 1_000 // more are taken together, see Growth
)

// Slope is TheilSen of any number of values, per step from one to the next:
// beyond MaxTrendPoints, of medians of equally long groups of neighbours.
func Slope(values []float64) float64 {
	x, group := thinned(values)
	return TheilSen(x) / float64(group)
}

// thinned are at most MaxTrendPoints values: medians of groups of so many.
func thinned(values []float64) (x []float64, group int) {
	group = (len(values) + MaxTrendPoints - 1) / MaxTrendPoints
	if group <= 1 {
		return values, 1
	}
	for g := range slices.Chunk(values, group) {
		m, _ := MAD(g)
		x = append(x, m)
	}
	return x, group
}

// Verdict is what Growth found.
type Verdict struct {
	TooShort bool    // fewer than MinTrendPoints: nothing is said
	Growing  bool    //
	N        int     // values, missing ones not counted
	Z        float64 // Mann–Kendall
	Slope    float64 // Theil–Sen, per step from one value to the next
	Level    float64 // the median value
}

// Growth tells whether equally spaced values (medians of 1 s) grow over a run:
// Mann–Kendall z > 3.3 and a Theil–Sen slope that amounts to 10 % of the median
// or more over all of them. NaN marks a missing value, +Inf a median that falls
// on a message that never came. Beyond MaxTrendPoints values, medians of equally
// long groups of neighbours stand for them, since all pairs are compared; the
// slope is still given per value.
func Growth(values []float64) Verdict {
	var v Verdict
	for _, x := range values {
		if !math.IsNaN(x) {
			v.N++
		}
	}
	if v.N < MinTrendPoints {
		v.TooShort = true
		return v
	}
	x, group := thinned(values)
	_, v.Z = MannKendall(x)
	v.Slope = TheilSen(x) / float64(group)
	v.Level, _ = MAD(x)
	rise := v.Slope * float64(len(values))
	v.Growing = v.Z > GrowthZ && rise > 0 && (rise >= GrowthShare*math.Abs(v.Level) || math.IsInf(rise, 1))
	return v
}
