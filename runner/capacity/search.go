package capacity

import (
	"fmt"
	"math"
)

type phase int

const (
	climbing   phase = iota // each rate twice the one before
	halving                 // bisection, by the geometric mean
	confirming              // lo, which must hold
	refuting                // hi, which must not
	ended
)

// doubt is a rate that did not hold when it was first tried.
type doubt struct {
	rate float64
	why  string
}

// limit is a rate that did not hold, for the generator's own sake or not.
type limit struct {
	rate float64
	why  string
	own  bool
	sure bool // in a long run
}

func (l *limit) blame() string {
	if l.own {
		return "runner-limited: " + l.why
	}
	return l.why
}

// hi is the lowest rate that did not hold.
func (s *Search) hi() *limit { return &s.limits[len(s.limits)-1] }

// held goes up from a rate that held.
func (s *Search) held(sure bool) {
	s.lo, s.sure, s.again = s.rate, sure, false
	switch {
	case s.rate >= s.cfg.Max:
		s.end("every rate held, up to %s messages per second, the highest that may be tried", text(s.rate))
	case len(s.limits) == 0:
		s.phase, s.rate = climbing, min(2*s.rate, s.cfg.Max)
	default:
		s.narrow()
	}
}

// notHeld believes that a rate does not hold when it did not twice: a host that
// stood still for a moment must not lower the answer.
func (s *Search) notHeld(v Verdict) {
	if !s.again {
		s.again = true
		s.doubts = append(s.doubts, doubt{s.rate, v.Why})
		return
	}
	s.again = false
	s.limits = append(s.limits, limit{rate: s.rate, why: v.Why, own: v.Own})
	if s.lo == 0 {
		s.end("the lowest rate that may be tried, %s messages per second, did not hold: %s", text(s.rate), s.hi().blame())
		return
	}
	s.narrow()
}

// narrow takes the next rate between the one that held and the one that did not,
// or confirms the two.
func (s *Search) narrow() {
	hi := s.hi().rate
	s.phase, s.rate = halving, round(math.Sqrt(s.lo*hi))
	if hi > s.lo*(1+s.cfg.Tolerance/2) && s.rate > s.lo && s.rate < hi { // rates are only so fine
		return
	}
	switch {
	case !s.sure:
		s.phase, s.rate = confirming, s.lo
	case !s.hi().sure:
		s.phase, s.rate = refuting, hi
	default:
		s.decide()
	}
}

// confirmed takes what the long run at the rate that held came to. When it did
// not hold, the next lower rate is to be confirmed.
func (s *Search) confirmed(v Verdict) {
	if v.Held {
		s.lo, s.sure = s.rate, true
		s.narrow()
		return
	}
	s.refuted++
	s.limits = append(s.limits, limit{s.rate, v.Why, v.Own, true})
	s.lo = 0
	lower := round(s.rate / (1 + s.cfg.Tolerance/2))
	switch {
	case s.refuted >= s.cfg.Confirmations:
		s.end("rates that held in the search did not in %d long runs, the last at %s messages per second: %s", s.refuted, text(s.rate), s.hi().blame())
	case lower < s.cfg.Min || lower >= s.rate:
		s.end("there is no rate to try below %s messages per second, which did not hold in a long run: %s", text(s.rate), s.hi().blame())
	default:
		s.rate = lower
	}
}

// refutedBy takes what the long run at the rate that did not hold came to. When
// it held, the search goes on above it.
func (s *Search) refutedBy(v Verdict) {
	if !v.Held {
		*s.hi() = limit{s.rate, v.Why, v.Own, true}
		s.decide()
		return
	}
	if s.refuted++; s.refuted >= s.cfg.Confirmations {
		s.end("%d long runs said other than the short ones, the last at %s messages per second, which held: the queue or the host is too unsteady for steps of that length", s.refuted, text(s.rate))
		return
	}
	s.limits = s.limits[:len(s.limits)-1]
	s.held(true)
}

// decide gives the answer, unless the tries contradict it.
func (s *Search) decide() {
	var below []doubt
	for _, d := range s.doubts {
		if d.rate < s.lo/(1+s.cfg.Tolerance) {
			below = append(below, d)
		}
	}
	switch {
	case s.hi().own:
		s.end("runner-limited: at %s messages per second it was the runner itself that could not keep up, so the queue's limit lies at %s or above", text(s.hi().rate), text(s.lo))
		return
	case len(below) > 1:
		s.end("%s messages per second held, and %d lower rates did not when they were first tried, the first of them %s: the queue or the host is too unsteady for an answer", text(s.lo), len(below), text(below[0].rate))
		return
	case len(below) == 1:
		s.result.Warnings = append(s.result.Warnings, fmt.Sprintf("%s messages per second did not hold when it was first tried, and did when it was tried again: %s", text(below[0].rate), below[0].why))
	}
	s.phase = ended
	s.result.Converged, s.result.Rate = true, s.lo
}

func (s *Search) end(format string, a ...any) {
	s.phase = ended
	s.result.Reason = fmt.Sprintf(format, a...)
}

// round keeps four digits, so that rates can be read and typed, and none beyond
// a thousandth, the resolution of a rate.
func round(rate float64) float64 {
	digits := 3 - int(math.Floor(math.Log10(rate)))
	if digits <= 0 {
		unit := math.Pow10(-digits)
		return math.Round(rate/unit) * unit
	}
	unit := math.Pow10(min(digits, 3))
	return math.Round(rate*unit) / unit
}

func text(rate float64) string { return fmt.Sprintf("%.10g", rate) }
