package stats

import (
	"fmt"
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Histogram records signed durations in ns, |v| ≤ MaxValue, in an HdrHistogram
// of 3 digits (352 kB), and negative ones in a mirrored one that is made when
// the first comes. Count, minimum, maximum and sum beside it are exact (the sum
// to 15 digits). The zero value is empty and ready. It is not safe for
// concurrent use.
type Histogram struct {
	pos, neg *hdrhistogram.Histogram
	t        totals
}

// totals are what a histogram knows exactly.
type totals struct {
	n, min, max int64
	part        int64   // the sum since it was last moved to sum
	sum         float64 // ns
}

func (t *totals) record(v int64) {
	if t.n == 0 {
		t.min, t.max = v, v
	}
	t.n++
	t.min, t.max = min(t.min, v), max(t.max, v)
	t.addSum(v)
}

// partLimit is where whole numbers are given up: two of them may be added.
const partLimit = math.MaxInt64 / 2

// addSum adds to the sum, in whole numbers as long as they fit: MaxValue is
// below 2^52, and a batch has at most 2^10 values.
func (t *totals) addSum(v int64) {
	t.part += v
	if t.part > partLimit || t.part < -partLimit {
		t.sum, t.part = t.sum+float64(t.part), 0
	}
}

func (t *totals) add(c Compact) {
	if c.N == 0 {
		return
	}
	if t.n == 0 {
		t.min, t.max = c.Min, c.Max
	}
	t.n += c.N
	t.min, t.max = min(t.min, c.Min), max(t.max, c.Max)
	t.sum += c.Sum
}

func (t *totals) compact() Compact {
	return Compact{N: t.n, Min: t.min, Max: t.max, Sum: t.sum + float64(t.part)}
}

func newHDR() *hdrhistogram.Histogram { return hdrhistogram.New(1, MaxValue, 3) }

// Record counts v ns. The error is ErrRange, and then nothing was counted.
func (h *Histogram) Record(v int64) error {
	if err := checkRange(v); err != nil {
		return err
	}
	if err := h.recordBucket(v, 1); err != nil {
		return err
	}
	h.t.record(v)
	return nil
}

func (h *Histogram) recordBucket(v, n int64) error {
	if v < 0 {
		if h.neg == nil {
			h.neg = newHDR()
		}
		return h.neg.RecordValues(-v, n)
	}
	if h.pos == nil {
		h.pos = newHDR()
	}
	return h.pos.RecordValues(v, n)
}

// N is the number of values.
func (h *Histogram) N() int64 { return h.t.n }

// Accumulate adds a histogram at rest. The error says why c is none; then h is
// unchanged.
func (h *Histogram) Accumulate(c Compact) error {
	if err := c.Check(); err != nil {
		return fmt.Errorf("adding a histogram: %w", err)
	}
	if h.t.n > math.MaxInt64-c.N {
		return fmt.Errorf("adding a histogram: more than %d values", int64(math.MaxInt64))
	}
	for _, b := range c.Buckets {
		low, high := Bounds(b.Index)
		// Of the bounds of an outermost bucket only one may be in range.
		v := low
		if low < -MaxValue {
			v = high
		}
		if err := h.recordBucket(v, b.Count); err != nil {
			return err
		}
	}
	h.t.add(c)
	return nil
}

// Reset empties h and keeps its memory.
func (h *Histogram) Reset() {
	if h.pos != nil {
		h.pos.Reset()
	}
	if h.neg != nil {
		h.neg.Reset()
	}
	h.t = totals{}
}

// Compact returns what h holds. h goes on unchanged.
func (h *Histogram) Compact() Compact {
	c := h.t.compact()
	// The packed form is the library's way to walk the buckets that have a
	// count without a copy of all 44,032.
	packed := hdrhistogram.NewPacked(1, MaxValue, 3)
	if h.neg != nil && h.neg.TotalCount() > 0 {
		packed.MergeFrom(h.neg)
		c.Buckets = appendBuckets(c.Buckets, packed, -1)
		for i, j := 0, len(c.Buckets)-1; i < j; i, j = i+1, j-1 {
			c.Buckets[i], c.Buckets[j] = c.Buckets[j], c.Buckets[i]
		}
		packed.Reset()
	}
	if h.pos != nil && h.pos.TotalCount() > 0 {
		packed.MergeFrom(h.pos)
		c.Buckets = appendBuckets(c.Buckets, packed, 1)
	}
	return c
}

func appendBuckets(dst []Bucket, p *hdrhistogram.PackedHistogram, sign int64) []Bucket {
	p.ForEachBucket(func(value, count int64) bool {
		dst = append(dst, Bucket{Index: Index(sign * value), Count: count})
		return true
	})
	return dst
}
