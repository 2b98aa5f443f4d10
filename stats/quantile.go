package stats

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
)

// quantileUnits is the resolution of a quantile: 15 decimal places, which is
// what a float64 below 1 tells exactly.
const quantileUnits = 1_000_000_000_000_000

// Rank returns the nearest rank ⌈q·n⌉ of a quantile q in [0,1] among n values,
// at least 1. q is taken as the decimal number that it prints as, to 15 places,
// and the product is exact: 0.999·1,000 is 999, although the float64 0.999 is
// a little more. A q outside [0,1] panics, as an index outside a slice does.
func Rank(q float64, n int64) int64 {
	if !(q >= 0 && q <= 1) || n < 0 {
		panic(fmt.Sprintf("stats: the quantile %g of %d values", q, n))
	}
	m := uint64(math.Round(q * quantileUnits))
	hi, lo := bits.Mul64(m, uint64(n))
	rank, rem := bits.Div64(hi, lo, quantileUnits)
	if rem > 0 {
		rank++
	}
	return max(1, int64(rank))
}

// FromPercent returns the quantile in [0,1] of a percentile in percent. It
// moves the decimal point, since 99.99/100 is not the float64 nearest to 0.9999.
func FromPercent(p float64) float64 {
	q, err := strconv.ParseFloat(strconv.FormatFloat(p, 'f', -1, 64)+"e-2", 64)
	if err != nil { // NaN and Inf have no such text
		return math.NaN()
	}
	return q
}

// Quantile returns the nearest-rank quantile q in [0,1] of the values and of so
// many infinite ones, which rank above all: messages that never came. beyond
// says that the rank falls on one of these; ns is then Max.
//
// ns is the highest value of the bucket that holds the rank, as HdrHistogram
// has it, clamped to [Min, Max]: never below the true value, and above it by
// less than 1/1,024 (0.1 %). Without any value ns is 0: ask N before.
func (c Compact) Quantile(q float64, infinite int64) (ns int64, beyond bool) {
	rank := Rank(q, c.N+infinite)
	if c.N+infinite == 0 {
		return 0, false
	}
	if rank > c.N {
		return c.Max, true
	}
	var seen int64
	for _, b := range c.Buckets {
		seen += b.Count
		if seen >= rank {
			_, high := Bounds(b.Index)
			return min(max(high, c.Min), c.Max), false
		}
	}
	return c.Max, false
}

// Quantiles returns Quantile for each of qs, which need not be in order. Where
// the rank falls on an infinite value, beyond has true.
func (c Compact) Quantiles(qs []float64, infinite int64) (ns []int64, beyond []bool) {
	ns, beyond = make([]int64, len(qs)), make([]bool, len(qs))
	for i, q := range qs {
		ns[i], beyond[i] = c.Quantile(q, infinite)
	}
	return ns, beyond
}

// Mean is the arithmetic mean in ns, from the exact sum; 0 without any value.
func (c Compact) Mean() float64 {
	if c.N == 0 {
		return 0
	}
	return c.Sum / float64(c.N)
}

// CountAbove is the number of values in buckets that lie wholly above v ns.
func (c Compact) CountAbove(v int64) int64 {
	var n int64
	own := Index(max(v, -math.MaxInt64)) // of the bucket that holds v: those after it lie above
	for i := len(c.Buckets) - 1; i >= 0 && c.Buckets[i].Index > own; i-- {
		n += c.Buckets[i].Count
	}
	return n
}

// Sum adds histograms. The result shares no memory that changes.
func Sum(cs ...Compact) Compact {
	var t totals
	used, last, before, entries := 0, 0, 0, 0
	lowest, highest := int32(math.MaxInt32), int32(math.MinInt32)
	for i, c := range cs {
		if c.N == 0 {
			continue
		}
		used, last, before, entries = used+1, i, last, entries+len(c.Buckets)
		t.add(c)
		lowest = min(lowest, c.Buckets[0].Index)
		highest = max(highest, c.Buckets[len(c.Buckets)-1].Index)
	}
	switch used {
	case 0:
		return Compact{}
	case 1:
		return cs[last]
	case 2:
		out := t.compact()
		out.Buckets = mergeBuckets(cs[before].Buckets, cs[last].Buckets)
		return out
	}
	if entries*bits.Len(uint(used)) < int(highest-lowest) { // few in a wide range, such as those of a second
		out := t.compact()
		out.Buckets = mergeAll(cs)
		return out
	}
	// Dense over the range in use: at most 88,064 counts, whatever the number
	// of histograms.
	counts := make([]int64, highest-lowest+1)
	distinct := 0
	for _, c := range cs {
		for _, b := range c.Buckets {
			if counts[b.Index-lowest] == 0 {
				distinct++
			}
			counts[b.Index-lowest] += b.Count
		}
	}
	out := t.compact()
	out.Buckets = make([]Bucket, 0, distinct)
	for i, n := range counts {
		if n > 0 {
			out.Buckets = append(out.Buckets, Bucket{Index: lowest + int32(i), Count: n})
		}
	}
	return out
}

// mergeAll adds the buckets of several, in halves.
func mergeAll(cs []Compact) []Bucket {
	if len(cs) == 1 {
		return cs[0].Buckets
	}
	return mergeBuckets(mergeAll(cs[:len(cs)/2]), mergeAll(cs[len(cs)/2:]))
}

// mergeBuckets adds two, which may be of very different size and range.
func mergeBuckets(a, b []Bucket) []Bucket {
	out := make([]Bucket, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Index < b[0].Index:
			out, a = append(out, a[0]), a[1:]
		case a[0].Index > b[0].Index:
			out, b = append(out, b[0]), b[1:]
		default:
			out = append(out, Bucket{a[0].Index, a[0].Count + b[0].Count})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// SupportRisk is the chance that a sample of the smallest supported size has no
// value beyond its quantile: half of 5 %.
const SupportRisk = 0.025

// MinBlocks is the number of commits or blocks that a percentile needs behind
// it, whatever the number of messages: those of one commit wait together.
const MinBlocks = 20

// MinSamples is the smallest n with max(q, 1−q)^n ≤ 0.025, so that the
// distribution-free 95 % interval of the quantile q (Hahn and Meeker,
// "Statistical Intervals", order statistics and the binomial distribution) has
// an end on either side: 368 for p99, 3,688 for p99.9, 36,887 for p99.99.
func MinSamples(q float64) int64 {
	p := max(q, 1-q)
	if !(p > 0 && p < 1) {
		return math.MaxInt64
	}
	n := math.Ceil(math.Log(SupportRisk) / math.Log(p))
	return int64(n)
}

// Supported tells whether n values in so many blocks can say anything about
// the quantile q in (0,1).
func Supported(q float64, n, blocks int64) bool {
	return n >= MinSamples(q) && blocks >= MinBlocks
}
