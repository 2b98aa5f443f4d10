// Package schedule says when each message of a step is due.
//
// A schedule is a function of the message's index (and of a seed) alone: it is
// known before the step begins, nothing that happens changes it, and any
// message's time can be had without those before it. The package refuses to
// know what time it is, and to keep a list of the arrivals.
package schedule

import (
	"math"
	"math/bits"
	"time"
)

// Schedule is the arrivals of one step, of all its producers together.
type Schedule interface {
	// Name is the name of the kind of arrivals: "constant", …
	Name() string
	// Len is the number of messages. All are due before the step's duration
	// ends.
	Len() int64
	// Duration is the length of the step.
	Duration() time.Duration
	// Offsets returns a reader of the schedule, one for each goroutine.
	Offsets() Offsets
}

// Offsets reads a schedule. It may hold a position, so one goroutine uses it;
// it is quick when i ascends.
type Offsets interface {
	// At is when message i, in [0, Len), is due: ns after the step's start,
	// never decreasing.
	At(i int64) int64
}

// Constant is arrivals at equal distances: message i is due at i/rate, rounded
// up to the nanosecond so that none is early, and exact for as long as the
// step lasts.
type Constant struct {
	rate     Rate
	duration time.Duration
}

// NewConstant makes a schedule of a constant rate. Both are positive.
func NewConstant(rate Rate, duration time.Duration) Constant { return Constant{rate, duration} }

// Name is "constant".
func (c Constant) Name() string { return "constant" }

// Duration is the length of the step.
func (c Constant) Duration() time.Duration { return c.duration }

// period is 1,000 s in ns: rate messages are due in it.
const period = 1_000_000_000_000

// Len counts the messages that are due before the duration ends.
func (c Constant) Len() int64 {
	hi, lo := bits.Mul64(uint64(c.duration-1), uint64(c.rate))
	if hi >= period {
		return math.MaxInt64
	}
	n, _ := bits.Div64(hi, lo, period)
	return int64(min(n, math.MaxInt64-1)) + 1
}

// At is ⌈i·period/rate⌉.
func (c Constant) At(i int64) int64 {
	hi, lo := bits.Mul64(uint64(i), period)
	lo, carry := bits.Add64(lo, uint64(c.rate)-1, 0)
	hi += carry
	if hi >= uint64(c.rate) {
		return math.MaxInt64
	}
	at, _ := bits.Div64(hi, lo, uint64(c.rate))
	return int64(min(at, math.MaxInt64))
}

// Offsets returns a reader that is quick when i ascends by a stride.
func (c Constant) Offsets() Offsets { return newSteady(c) }

// Share is the part of a schedule that producer p of n has: messages p, p+n,
// p+2n, … of the whole, which become its seq 0, 1, 2, …
type Share struct {
	offsets Offsets
	p, n    int64
	len     int64
}

// NewShare takes producer p's part of n, 0 ≤ p < n.
func NewShare(s Schedule, p, n int) Share {
	whole := s.Len()
	return Share{s.Offsets(), int64(p), int64(n), (whole - int64(p) + int64(n) - 1) / int64(n)}
}

// Len is the number of the producer's messages.
func (s Share) Len() int64 { return s.len }

// At is when the producer's message seq is due, ns after the step's start.
func (s Share) At(seq int64) int64 { return s.offsets.At(s.p + seq*s.n) }

// Due counts the producer's messages that are due at or before an offset,
// beginning at from, which a former call returned. It looks near from first.
func (s Share) Due(from, offset int64) int64 {
	lo, hi := from, s.len
	for step := int64(1); lo+step <= s.len; step *= 2 {
		if s.At(lo+step-1) > offset {
			hi = lo + step - 1
			break
		}
		lo += step
	}
	return search(lo, hi, func(seq int64) bool { return s.At(seq) > offset })
}
