package stats

import "math/bits"

// Counter is a histogram that is emptied often: it has the buckets of Histogram,
// and taking its contents costs what the buckets that were hit cost, not what
// all of them do. It takes 352 kB, and as much again once a negative value
// comes. The zero value is empty and ready. It is not safe for concurrent use.
//
// One HdrHistogram per interval of 100 ms would cost more to clear and to walk
// (some 100 µs) than the thousand messages in it cost to record; BenchmarkTake
// has both.
type Counter struct {
	pos, neg *cells
	t        totals
}

type cells struct {
	count [NumIndexes]int64
	hit   [NumIndexes / 64]uint64
}

func (c *cells) add(i int32) {
	c.count[i]++
	c.hit[i>>6] |= 1 << (i & 63)
}

// Record counts v ns. The error is ErrRange, and then nothing was counted.
func (c *Counter) Record(v int64) error {
	if uint64(v) <= uint64(MaxValue) {
		if c.pos == nil {
			c.pos = new(cells)
		}
		c.pos.add(magnitudeIndex(v))
		c.t.record(v)
		return nil
	}
	if err := checkRange(v); err != nil {
		return err
	}
	if c.neg == nil {
		c.neg = new(cells)
	}
	c.neg.add(magnitudeIndex(-v))
	c.t.record(v)
	return nil
}

// N is the number of values.
func (c *Counter) N() int64 { return c.t.n }

// Take returns what c holds and empties it.
func (c *Counter) Take() Compact {
	out := c.t.compact()
	if out.N == 0 {
		return out
	}
	n := 0
	if c.neg != nil {
		n += c.neg.distinct()
	}
	if c.pos != nil {
		n += c.pos.distinct()
	}
	out.Buckets = make([]Bucket, 0, n)
	if c.neg != nil {
		for w := len(c.neg.hit) - 1; w >= 0; w-- {
			for word := c.neg.hit[w]; word != 0; {
				b := 63 - bits.LeadingZeros64(word)
				word &^= 1 << b
				i := int32(w<<6 + b)
				out.Buckets = append(out.Buckets, Bucket{Index: -1 - i, Count: c.neg.count[i]})
				c.neg.count[i] = 0
			}
			c.neg.hit[w] = 0
		}
	}
	if c.pos != nil {
		for w := range c.pos.hit {
			for word := c.pos.hit[w]; word != 0; word &= word - 1 {
				i := int32(w<<6 + bits.TrailingZeros64(word))
				out.Buckets = append(out.Buckets, Bucket{Index: i, Count: c.pos.count[i]})
				c.pos.count[i] = 0
			}
			c.pos.hit[w] = 0
		}
	}
	c.t = totals{}
	return out
}

func (c *cells) distinct() int {
	n := 0
	for _, w := range c.hit {
		n += bits.OnesCount64(w)
	}
	return n
}
