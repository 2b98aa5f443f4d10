package stats

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"time"
)

// MaxValue is the largest magnitude that a histogram takes, in ns: 30 days.
const MaxValue = int64(30 * 24 * time.Hour)

// NumIndexes is the number of buckets of each sign. It is the length of the
// counts of an HdrHistogram with a lowest value of 1, a highest of MaxValue and
// 3 significant digits.
const NumIndexes = 44032

// ErrRange: a value lies beyond ±MaxValue. Nothing is clamped: the caller
// counts such a value as rejected and says so.
var ErrRange = errors.New("beyond the range of 30 days")

// The buckets of an HdrHistogram of 3 digits: 2,048 of width 1, then 1,024 for
// each further power of two, so that a bucket is at most 1/1,024 of its value
// wide.
const (
	halfMagnitude = 10
	half          = 1 << halfMagnitude
	unitMask      = 2*half - 1
)

// Index returns the index of the bucket that holds v, |v| ≤ MaxValue. Indexes
// are ordered as the values are.
func Index(v int64) int32 {
	if v < 0 {
		return -1 - magnitudeIndex(-v)
	}
	return magnitudeIndex(v)
}

func magnitudeIndex(v int64) int32 {
	k := bits.Len64(uint64(v)|unitMask) - halfMagnitude - 1
	return int32(k<<halfMagnitude) + int32(v>>k)
}

// Bounds returns the lowest and the highest value of the bucket with an index.
func Bounds(index int32) (low, high int64) {
	if index < 0 {
		low, high = magnitudeBounds(-1 - index)
		return -high, -low
	}
	return magnitudeBounds(index)
}

func magnitudeBounds(i int32) (low, high int64) {
	if i <= unitMask {
		return int64(i), int64(i)
	}
	k := i>>halfMagnitude - 1
	low = int64(i&(half-1)+half) << k
	return low, low + 1<<k - 1
}

func checkRange(v int64) error {
	if v > MaxValue || v < -MaxValue {
		return fmt.Errorf("%d ns: %w", v, ErrRange)
	}
	return nil
}

// Check tells whether c is what a Histogram could have made, merged or not: buckets ascending
// and within the range, counts that are positive and add up to N, minimum and
// maximum in the outermost buckets.
func (c Compact) Check() error {
	if c.N == 0 && len(c.Buckets) == 0 {
		if c.Min != 0 || c.Max != 0 || c.Sum != 0 {
			return errors.New("an empty histogram with values")
		}
		return nil
	}
	if len(c.Buckets) == 0 {
		return fmt.Errorf("%d values and no bucket", c.N)
	}
	var n int64
	for i, b := range c.Buckets {
		switch {
		case b.Index >= NumIndexes || b.Index <= -1-NumIndexes || b.Index == -1:
			return fmt.Errorf("no bucket has the index %d", b.Index)
		case i > 0 && b.Index <= c.Buckets[i-1].Index:
			return fmt.Errorf("bucket %d is out of order", b.Index)
		case b.Count <= 0 || n+b.Count < n:
			return fmt.Errorf("bucket %d counts %d", b.Index, b.Count)
		}
		n += b.Count
	}
	switch {
	case n != c.N:
		return fmt.Errorf("the buckets hold %d values, not %d", n, c.N)
	case checkRange(c.Min) != nil || coarse(Index(c.Min)) != coarse(c.Buckets[0].Index):
		return fmt.Errorf("the minimum %d is not in the first bucket", c.Min)
	case checkRange(c.Max) != nil || coarse(Index(c.Max)) != coarse(c.Buckets[len(c.Buckets)-1].Index):
		return fmt.Errorf("the maximum %d is not in the last bucket", c.Max)
	}
	// A sum of floats may differ from the sum in its last digits.
	lo, hi := float64(c.Min)*float64(c.N), float64(c.Max)*float64(c.N)
	if slack := 1e-9*(math.Abs(lo)+math.Abs(hi)) + 1; !(c.Sum >= lo-slack && c.Sum <= hi+slack) {
		return fmt.Errorf("the sum %g does not fit %d values from %d to %d", c.Sum, c.N, c.Min, c.Max)
	}
	return nil
}
