package schedule

import (
	"math"
	"math/bits"
)

// unit is the number of parts into which a message is divided, so that what a
// profile has sent by any whole nanosecond of a step, and by the end of any
// ramp, is a whole number of parts: a rate is messages in 10¹² ns, and the mean
// of two rates a half of that.
const unit = 2 * period

// curve is the integral of a profile: how many messages have been due by a
// time, and, the other way round, by when so many have been. Both are exact.
type curve []segment

// segment is a stretch of a curve in which the rate is constant or a straight
// line. The last one has no end.
type segment struct {
	start  int64 // ns since the step's start
	length int64 // ns; 0 for the last segment
	a, b   Rate  // at its beginning and at its end
	whole  int64 // messages before it
	parts  uint64
}

func newCurve(p Profile) curve {
	var c curve
	var whole int64
	var parts uint64
	for i, q := range p {
		s := segment{start: int64(q.At), a: q.Rate, b: q.Rate, whole: whole, parts: parts}
		if i+1 < len(p) {
			s.length = int64(p[i+1].At - q.At)
			if p[i+1].Ramp {
				s.b = p[i+1].Rate
			}
			if s.length == 0 {
				continue // a step at the end of a ramp
			}
			whole, parts = s.count(s.length)
		}
		c = append(c, s)
	}
	return c
}

// count is what is due in the first t ns of the segment and before it: whole
// messages and parts of one, rounded down.
func (s *segment) count(t int64) (whole int64, parts uint64) {
	var hi, lo uint64
	if s.a == s.b {
		hi, lo = bits.Mul64(uint64(t), uint64(2*s.a))
	} else {
		hi, lo = s.ramped(t).div(uint64(s.length))
	}
	lo, carry := bits.Add64(lo, s.parts, 0)
	hi += carry
	n, rest := bits.Div64(hi, lo, unit) // hi < unit: at most 10⁹ a second for maxSpan
	return s.whole + int64(n), rest
}

// ramped is what a ramp has sent after t of its T ns, in parts times T: the
// rate's integral is (2·a·t + (b−a)·t²/T)/2 messages in 10¹² ns, so that parts
// times T are t·(a·(2T−t) + b·t).
func (s *segment) ramped(t int64) wide {
	hi, lo := bits.Mul64(uint64(s.a), uint64(2*s.length-t))
	h, l := bits.Mul64(uint64(s.b), uint64(t))
	lo, carry := bits.Add64(lo, l, 0)
	return mulWide(hi+h+carry, lo, uint64(t))
}

// beyond is by how much a position of n messages and f/2⁶⁴ of one lies beyond
// the segment's beginning: parts, and the fraction of a part in 2⁻⁶⁴. It is
// false for one before it.
func (s *segment) beyond(n int64, f uint64) (hi, lo, fraction uint64, ok bool) {
	if n < s.whole {
		return 0, 0, 0, false
	}
	hi, lo = bits.Mul64(uint64(n-s.whole), unit)
	parts, fraction := bits.Mul64(f, unit)
	lo, carry := bits.Add64(lo, parts, 0)
	hi += carry
	lo, borrow := bits.Sub64(lo, s.parts, 0)
	hi, borrow = bits.Sub64(hi, 0, borrow)
	return hi, lo, fraction, borrow == 0
}

// at is the first whole nanosecond at which n messages and f/2⁶⁴ of one have
// been due; after a pause that begins there, the end of the pause; MaxInt64 for
// never. near is the segment of the last call.
func (c curve) at(n int64, f uint64, near *int) int64 {
	k := *near
	hi, lo, fraction, ok := c[k].beyond(n, f)
	for !ok {
		k--
		hi, lo, fraction, ok = c[k].beyond(n, f)
	}
	for k+1 < len(c) {
		h, l, fr, further := c[k+1].beyond(n, f)
		if !further {
			break
		}
		k, hi, lo, fraction = k+1, h, l, fr
	}
	*near = k
	s := &c[k]
	if s.a != s.b {
		return s.start + s.climb(hi, lo, fraction)
	}
	divisor := uint64(2 * s.a)
	if hi >= divisor {
		return math.MaxInt64
	}
	t, rest := bits.Div64(hi, lo, divisor)
	if rest > 0 || fraction > 0 {
		t++
	}
	if t > uint64(math.MaxInt64-s.start) {
		return math.MaxInt64
	}
	return s.start + int64(t)
}

// climb is the first whole nanosecond of a ramp at which it has sent so many
// parts. A guess in floating point is put right by exact comparison.
func (s *segment) climb(hi, lo, fraction uint64) int64 {
	T := s.length
	want := mulWide(hi, lo, uint64(T))
	more, rest := bits.Mul64(fraction, uint64(T))
	if rest > 0 {
		more++
	}
	want = want.add(more)
	reached := func(t int64) bool { return !s.ramped(t).less(want) }

	messages := (float64(hi)*0x1p64 + float64(lo)) / unit
	a, b := float64(s.a)/period, float64(s.b)/period
	root := a + math.Sqrt(max(0, a*a+2*(b-a)/float64(T)*messages))
	guess := T
	if g := math.Ceil(2 * messages / root); g < float64(T) { // false for 0/0
		guess = int64(g)
	}
	// The bounds: not reached at low, reached at high.
	low, high := int64(-1), T
	for step := int64(1); ; step *= 2 {
		if reached(guess) {
			high = guess
			if guess -= step; guess <= low {
				break
			}
		} else {
			low = guess
			if guess += step; guess >= high {
				break
			}
		}
	}
	for high-low > 1 {
		if mid := low + (high-low)/2; reached(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// count is what is due in the first t ns.
func (c curve) count(t int64) (whole int64, parts uint64) {
	k := len(c) - 1
	for c[k].start > t {
		k--
	}
	return c[k].count(t - c[k].start)
}

// mean is the mean rate over the first t ns.
func (c curve) mean(t int64) Rate {
	whole, parts := c.count(t)
	hi, lo := bits.Mul64(uint64(whole), unit)
	lo, carry := bits.Add64(lo, parts, 0)
	lo, carry2 := bits.Add64(lo, uint64(t), 0) // a half of the divisor: to the nearest
	r, _ := bits.Div64(hi+carry+carry2, lo, uint64(2*t))
	return Rate(r)
}

// wide is an integer of 192 bits.
type wide struct{ hi, mid, lo uint64 }

func mulWide(hi, lo, by uint64) wide {
	h1, l1 := bits.Mul64(lo, by)
	h2, l2 := bits.Mul64(hi, by)
	mid, carry := bits.Add64(h1, l2, 0)
	return wide{h2 + carry, mid, l1}
}

func (w wide) add(x uint64) wide {
	lo, carry := bits.Add64(w.lo, x, 0)
	mid, carry := bits.Add64(w.mid, 0, carry)
	return wide{w.hi + carry, mid, lo}
}

func (w wide) less(v wide) bool {
	switch {
	case w.hi != v.hi:
		return w.hi < v.hi
	case w.mid != v.mid:
		return w.mid < v.mid
	}
	return w.lo < v.lo
}

// div is w/by, rounded down, which must fit 128 bits: w.hi < by.
func (w wide) div(by uint64) (hi, lo uint64) {
	hi, rest := bits.Div64(w.hi, w.mid, by)
	lo, _ = bits.Div64(rest, w.lo, by)
	return hi, lo
}
