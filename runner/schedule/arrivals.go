package schedule

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Kind is a kind of arrivals: how messages lie on the curve of the rate.
type Kind string

// The kinds of arrivals. Position is the number of messages that the rate has
// made due: message i of constant arrivals is due at position i.
const (
	// ConstantArrivals are at equal distances.
	ConstantArrivals Kind = "constant"
	// PoissonArrivals are a Poisson process: independent of each other, with
	// exponential gaps where the rate is constant. Message 0 is not due at 0.
	PoissonArrivals Kind = "poisson"
	// JitterArrivals are at position i+u, u uniform in [0,1).
	JitterArrivals Kind = "jitter"
	// BurstArrivals are due together, a burst each so many positions.
	BurstArrivals Kind = "burst"
	// PathwayBurstArrivals are bursts of PathwayBurst messages that are handed
	// over in groups of PathwayGroup; see Grouped.
	PathwayBurstArrivals Kind = "pathway-burst"
)

// Kinds are all of them.
func Kinds() []Kind {
	return []Kind{ConstantArrivals, PoissonArrivals, JitterArrivals, BurstArrivals, PathwayBurstArrivals}
}

// ParseKind reads the name of a kind.
func ParseKind(text string) (Kind, error) {
	if k := Kind(text); slices.Contains(Kinds(), k) {
		return k, nil
	}
	var names []string
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return "", fmt.Errorf("%q is no kind of arrivals: say %s", text, strings.Join(names, ", "))
}

// The generator of the benchmark that pathway-burst is named after sends 10,000
// messages at once and then sleeps until the next burst is due, if it is ahead
// of that; if it is behind it does not sleep. It writes the time into each
// message, and reads the clock for that once for 100 messages.
//
// Here a burst is due, as a whole, when that generator would wake up for it:
// k·10,000/rate after the start, from the index, whatever happened before. The
// groups of 100 are handed over one by one, so that sent is that generator's
// stamp, and the latency from send is the figure that it reports. The latency
// from intended has, beyond that, what the generator leaves out: how long a
// group waited for the groups before it, and how late a burst was.
const (
	PathwayBurst = 10_000
	PathwayGroup = 100
)

// Grouped is a schedule whose messages are handed to the client in groups of at
// most Group, each with a stamp of its own.
type Grouped interface{ Group() int }

// Varying is a schedule whose rate is not the same all the time.
type Varying interface {
	// Profile is the rate over time.
	Profile() Profile
}

// Spec says what a step's schedule is made of.
type Spec struct {
	Kind    Kind // constant if empty
	Profile Profile
	// Duration and Messages end the step, whichever does so first; 0 for no
	// such end. One of them is given.
	Duration time.Duration
	Messages int64
	// Burst is the number of messages of a burst; 0 for all in one.
	Burst int64
	// Seed decides what is random.
	Seed uint64
}

// maxRandom bounds the messages of Poisson arrivals: they are counted before
// the step begins, some 1.5 s for each 10⁹ of them.
const maxRandom = 1e10

// New makes a schedule. It refuses what cannot be, with what to change.
func New(s Spec) (Schedule, error) {
	if s.Kind == "" {
		s.Kind = ConstantArrivals
	}
	if _, err := ParseKind(string(s.Kind)); err != nil {
		return nil, err
	}
	if err := s.Profile.check(); err != nil {
		return nil, err
	}
	switch {
	case s.Duration < 0 || s.Messages < 0 || s.Burst < 0:
		return nil, errors.New("a duration, a number of messages or the size of a burst is negative")
	case s.Duration == 0 && s.Messages == 0:
		return nil, errors.New("nothing ends the step: give it a duration or a number of messages")
	case s.Duration > maxSpan:
		return nil, fmt.Errorf("a step of %v is longer than %v", s.Duration, maxSpan)
	case s.Duration > 0 && s.Profile.End() >= s.Duration:
		return nil, fmt.Errorf("the rate profile goes on until %v and the step lasts %v: make the step longer, or leave out the points that it does not reach", s.Profile.End(), s.Duration)
	}
	a := &arrivals{kind: s.Kind, profile: s.Profile, curve: newCurve(s.Profile), seed: mix(s.Seed ^ mix(kindSeed)), burst: s.Burst}
	switch s.Kind {
	case PathwayBurstArrivals:
		if len(s.Profile) > 1 {
			return nil, errors.New("pathway-burst has one rate and no profile: use --arrivals burst --burst-size 10000 with a profile")
		}
		a.burst = PathwayBurst
	case BurstArrivals:
		if a.burst == 0 {
			a.burst = math.MaxInt64
		}
	}
	if err := a.end(s.Duration, s.Messages); err != nil {
		return nil, err
	}
	if s.Kind == ConstantArrivals && len(s.Profile) == 1 {
		return NewConstant(s.Profile[0].Rate, a.duration), nil
	}
	return a, nil
}

// kindSeed tells the randomness of schedules from other uses of a run's seed.
const kindSeed = 0x5343484544

// arrivals is a schedule of any kind over any profile.
type arrivals struct {
	kind     Kind
	profile  Profile
	curve    curve
	seed     uint64
	burst    int64
	duration time.Duration
	len      int64
	cells    *cells // of poisson
}

func (a *arrivals) Name() string            { return string(a.kind) }
func (a *arrivals) Len() int64              { return a.len }
func (a *arrivals) Duration() time.Duration { return a.duration }

// Profile is the rate over time.
func (a *arrivals) Profile() Profile { return a.profile }

// Group is the most messages that are handed over at once.
func (a *arrivals) Group() int {
	if a.kind == PathwayBurstArrivals {
		return PathwayGroup
	}
	return math.MaxInt
}

// Offsets returns a reader.
func (a *arrivals) Offsets() Offsets {
	switch a.kind {
	case PoissonArrivals:
		return &poissonReader{a: a}
	case JitterArrivals:
		return &jitterReader{a: a}
	case BurstArrivals, PathwayBurstArrivals:
		return &burstReader{a: a}
	}
	return &evenReader{a: a}
}

// end sets the number of messages and the duration from what ends the step.
func (a *arrivals) end(duration time.Duration, messages int64) error {
	last := duration
	if last == 0 {
		last = maxSpan
	}
	if a.kind == PoissonArrivals {
		if err := a.countCells(int64(last), messages); err != nil {
			return err
		}
	} else {
		whole, _ := a.curve.count(int64(last))
		// Bursts keep the mean rate: the last one is cut short.
		even := evenReader{a: a}
		at := even.At
		if a.kind == JitterArrivals {
			at = a.Offsets().At
		}
		a.len = search(0, whole+2, func(i int64) bool { return at(i) >= int64(last) })
	}
	if a.len == 0 {
		return errors.New("no message is due before the step ends: make it longer, or raise the rate")
	}
	if a.duration = duration; messages == 0 {
		return nil
	}
	if a.len < messages {
		if duration == 0 {
			return fmt.Errorf("%d messages are not due within %v at this rate: raise the rate, or give fewer messages", messages, maxSpan)
		}
		return nil
	}
	// The step ends when the message after the last would be due.
	offsets := a.Offsets()
	end := (&evenReader{a: a}).At(messages)
	if a.kind == PoissonArrivals {
		end = offsets.At(messages)
	}
	if end > int64(last) {
		end = int64(last)
	}
	a.len = messages
	a.duration = time.Duration(max(end, offsets.At(messages-1)+1))
	return nil
}

// search is the first i in [from, to) for which f is true, or to. It is false
// before and true behind.
func search(from, to int64, f func(int64) bool) int64 {
	for from < to {
		if mid := from + (to-from)/2; f(mid) {
			to = mid
		} else {
			from = mid + 1
		}
	}
	return from
}

type evenReader struct {
	a    *arrivals
	near int
}

func (r *evenReader) At(i int64) int64 { return r.a.curve.at(i, 0, &r.near) }

type jitterReader struct {
	a    *arrivals
	near int
}

func (r *jitterReader) At(i int64) int64 {
	return r.a.curve.at(i, mix(r.a.seed+uint64(i)*golden), &r.near)
}

type burstReader struct {
	a    *arrivals
	near int
}

func (r *burstReader) At(i int64) int64 { return r.a.curve.at(i-i%r.a.burst, 0, &r.near) }
