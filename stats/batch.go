package stats

import "math/bits"

// Batch is values in ns that are counted together, none of them negative and
// none beyond MaxValue. Their extremes and their sum are computed once, for all
// counters that they go to.
type Batch struct {
	values        []int64
	min, max, sum int64
}

// MaxBatch is the most values of a batch: their sum fits an int64.
const MaxBatch = 1024

// NewBatch makes a batch of at most MaxBatch values, which it keeps. It returns
// false where one of them is negative or beyond MaxValue, or there are none or
// too many: then they are to be recorded one by one.
func NewBatch(values []int64) (Batch, bool) {
	if len(values) == 0 || len(values) > MaxBatch {
		return Batch{}, false
	}
	low, high, sum := values[0], values[0], int64(0)
	for _, v := range values {
		low, high = min(low, v), max(high, v)
		sum += v
	}
	return Batch{values, low, high, sum}, low >= 0 && high <= MaxValue
}

// Max is the largest value.
func (b Batch) Max() int64 { return b.max }

// Min is the smallest value.
func (b Batch) Min() int64 { return b.min }

// Values are what was given to NewBatch.
func (b Batch) Values() []int64 { return b.values }

// RecordBatch counts what Record of each of its values counts. Messages of one
// commit have latencies that fall into few buckets, one after the other: the
// counts of these are added up before they are stored.
func (c *Counter) RecordBatch(b Batch) {
	if len(b.values) == 0 {
		return
	}
	if c.pos == nil {
		c.pos = new(cells)
	}
	c.pos.addAll(b.values)
	c.t.addBatch(b)
}

func (c *cells) addAll(values []int64) {
	for i := 0; i < len(values); {
		v := uint64(values[i])
		k := uint(bits.Len64(v|unitMask)-halfMagnitude-1) & 63
		at := uint(k<<halfMagnitude) + uint(v>>k)
		low, width := v>>k<<k, uint64(1)<<k
		first := i
		for i++; i < len(values) && uint64(values[i])-low < width; i++ {
		}
		c.count[at] += int64(i - first)
		c.hit[at>>6] |= 1 << (at & 63)
	}
}

func (t *totals) addBatch(b Batch) {
	if t.n == 0 {
		t.min, t.max = b.min, b.max
	}
	t.n += int64(len(b.values))
	t.min, t.max = min(t.min, b.min), max(t.max, b.max)
	t.addSum(b.sum)
}

// Add counts what o holds in c too; o goes on unchanged.
func (c *Counter) Add(o *Counter) {
	if o.t.n == 0 {
		return
	}
	for _, x := range []struct {
		to   **cells
		from *cells
	}{{&c.pos, o.pos}, {&c.neg, o.neg}} {
		if x.from == nil {
			continue
		}
		if *x.to == nil {
			*x.to = new(cells)
		}
		for w, word := range x.from.hit {
			for rest := word; rest != 0; rest &= rest - 1 {
				i := w<<6 + bits.TrailingZeros64(rest)
				(*x.to).count[i] += x.from.count[i]
			}
			(*x.to).hit[w] |= word
		}
	}
	t := &c.t
	if t.n == 0 {
		t.min, t.max = o.t.min, o.t.max
	}
	t.n += o.t.n
	t.min, t.max = min(t.min, o.t.min), max(t.max, o.t.max)
	t.sum += o.t.sum
	t.addSum(o.t.part)
}

// RecordBatch counts what Record of each of its values counts, and returns how
// many pages it had to make.
func (s *Sparse) RecordBatch(b Batch) (pages int) {
	if len(b.values) == 0 {
		return 0
	}
	for _, v := range b.values {
		i := magnitudeIndex(v)
		page := s.pos[i>>pageBits]
		if page == nil {
			page = new([1 << pageBits]int64)
			s.pos[i>>pageBits] = page
			pages++
		}
		page[i&(1<<pageBits-1)]++
	}
	s.t.addBatch(b)
	return pages
}

// MaxBatchPages is the most pages that a batch can make.
const MaxBatchPages = NumIndexes >> pageBits
