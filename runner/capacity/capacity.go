// Package capacity searches the highest rate that holds.
//
// It is the search alone: it says which rate to try next, is told whether that
// rate held, and comes to a rate or to a reason why there is none. It refuses to
// know what a queue is, and to give a number that its tries do not bear out: a
// search that ends without a confirmed rate says why.
package capacity

import (
	"fmt"
	"math"
)

// Config is what a search looks for.
type Config struct {
	// Min and Max are the lowest and the highest rate that are tried, in
	// messages per second, 0 < Min < Max.
	Min, Max float64
	// Tolerance is how far the answer may lie below the limit, relative, in
	// (0, 1). The bracket is narrowed to half of it; the other half is for what
	// a try cannot tell.
	Tolerance float64
	// MaxTries bounds all tries; Confirmations how often a long run may say other
	// than the short ones.
	MaxTries, Confirmations int
}

// Defaults of a search.
const (
	DefaultTolerance = 0.05
	MaxTries         = 60
	Confirmations    = 3
)

// Check refuses what cannot be searched, with what to change.
func (c *Config) Check() error {
	switch {
	case !(c.Min > 0) || !(c.Max > c.Min) || math.IsInf(c.Max, 0):
		return fmt.Errorf("the search goes from %s to %s messages per second: the highest rate must be above the lowest, and both positive", text(c.Min), text(c.Max))
	case !(c.Tolerance > 0.001) || !(c.Tolerance < 0.5):
		return fmt.Errorf("a tolerance of %v: it lies between 0.1 %% and 50 %%", c.Tolerance)
	}
	return nil
}

// Try is a rate to be tried.
type Try struct {
	Rate float64 // messages per second
	// Confirm asks for the long run that confirms the answer: at the rate that
	// held, which must hold, and at the one above it, which must not.
	Confirm bool
}

// Verdict is what became of a try.
type Verdict struct {
	Held bool
	Why  string // not held: in words, as the end of a sentence
	// Own says that the rate did not hold for the load generator's sake.
	Own bool
	// Broken ends the search: the try said nothing about the rate.
	Broken string
}

// Result is what a search came to.
type Result struct {
	// Converged says that Rate is the answer: it held, and NotHeld, at most half
	// the tolerance above it, did not, each in a long run.
	Converged bool
	Rate      float64
	// Reason says why there is no answer, a sentence without its point.
	Reason string
	// Held is the highest rate that held so far, NotHeld the lowest above it that
	// did not, with its reason; 0 where there is none.
	Held, NotHeld float64
	Why           string
	// Warnings are what to know of an answer.
	Warnings []string
}

// Search is a search under way.
type Search struct {
	cfg     Config
	phase   phase
	rate    float64 // of the next try
	again   bool    // it did not hold once
	lo      float64 // held; 0 for none
	sure    bool    // in a long run
	limits  []limit // did not hold, the lowest last
	tries   int
	doubts  []doubt // rates that did not hold when they were first tried
	refuted int     // long runs that contradicted
	result  Result
}

// New begins a search. Zero values of MaxTries and Confirmations stand for the
// defaults.
func New(cfg Config) *Search {
	if cfg.MaxTries == 0 {
		cfg.MaxTries = MaxTries
	}
	if cfg.Confirmations == 0 {
		cfg.Confirmations = Confirmations
	}
	return &Search{cfg: cfg, rate: cfg.Min}
}

// Next is what to try now; false when the search has ended. It gives the same
// try until Tell is called.
func (s *Search) Next() (Try, bool) {
	if s.phase == ended {
		return Try{}, false
	}
	return Try{Rate: s.rate, Confirm: s.phase == confirming || s.phase == refuting}, true
}

// Tell says what became of the try that Next gave.
func (s *Search) Tell(v Verdict) {
	if s.phase == ended {
		return
	}
	s.tries++
	switch {
	case v.Broken != "":
		s.end("at %s messages per second %s", text(s.rate), v.Broken)
	case s.phase == confirming:
		s.confirmed(v)
	case s.phase == refuting:
		s.refutedBy(v)
	case v.Held:
		s.held(false)
	default:
		s.notHeld(v)
	}
	if s.phase != ended && s.tries >= s.cfg.MaxTries {
		s.end("%d tries did not narrow it down", s.tries)
	}
}

// Result is what the search has come to so far.
func (s *Search) Result() Result {
	r := s.result
	if r.Held = s.lo; len(s.limits) > 0 {
		r.NotHeld, r.Why = s.hi().rate, s.hi().why
	}
	if s.phase != ended {
		r.Reason = "the search was not finished"
	}
	return r
}
