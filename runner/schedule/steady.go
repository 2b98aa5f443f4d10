package schedule

import (
	"math"
	"math/bits"
)

// steady reads a constant schedule with one addition for each message, where
// the indexes ascend by the same stride, in the place of a multiplication and a
// division of 128 bits.
type steady struct {
	c Constant
	// i was read last and is due at at: i·period + rate−1 = at·rate + rest.
	i, at int64
	rest  uint64
	// stride·period = whole·rate + part; all are 0 while there is no stride.
	stride, whole int64
	part          uint64
}

// far is an offset beyond every step, below which additions do not overflow.
const far = math.MaxInt64 / 4

// maxStride bounds stride·period to 63 bits.
const maxStride = 1 << 20

func newSteady(c Constant) *steady {
	return &steady{c: c, rest: uint64(c.rate) - 1}
}

// At is when message i is due.
func (s *steady) At(i int64) int64 {
	d := i - s.i
	if d != s.stride || s.at > far {
		return s.seek(i, d)
	}
	s.i = i
	s.at += s.whole
	if s.rest += s.part; s.rest >= uint64(s.c.rate) {
		s.rest -= uint64(s.c.rate)
		s.at++
	}
	return s.at
}

// seek goes to message i, which is d after the one that was read last, and
// expects that it goes on so.
func (s *steady) seek(i, d int64) int64 {
	s.stride, s.whole, s.part = 0, 0, 0
	hi, lo := bits.Mul64(uint64(i), period)
	lo, carry := bits.Add64(lo, uint64(s.c.rate)-1, 0)
	hi += carry
	if hi >= uint64(s.c.rate) {
		return math.MaxInt64
	}
	at, rest := bits.Div64(hi, lo, uint64(s.c.rate))
	if at > far {
		return int64(min(at, math.MaxInt64))
	}
	s.i, s.at, s.rest = i, int64(at), rest
	if d > 0 && d <= maxStride && d*period/int64(s.c.rate) <= far {
		s.stride = d
		s.whole, s.part = d*period/int64(s.c.rate), uint64(d*period%int64(s.c.rate))
	}
	return s.at
}
