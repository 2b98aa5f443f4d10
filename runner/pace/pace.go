// Package pace waits for a moment of the run's clock, as exactly as the system
// allows and never less long.
//
// A Linux thread sleeps 50 µs too long by default and a Go timer up to a
// millisecond. Here a locked thread sleeps by nanosleep with a timer slack of
// 1 ns until shortly before the moment, in two steps, and spins over the rest.
package pace

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"queuebench/clock"
)

// Kind is a way to wait.
type Kind int

// The ways to wait.
const (
	Precise Kind = iota // nanosleep and spin on Linux, Sleep elsewhere
	Sleep               // time.Sleep alone, to compare with
)

var kindNames = [...]string{"precise", "sleep"}

// String is the name that ParseKind reads back.
func (k Kind) String() string { return kindNames[k] }

// Exact says whether this system sleeps exactly in this way: else each wait is
// time.Sleep's, a millisecond late or, on Windows, up to 16.
func (k Kind) Exact() bool { return k == Precise && precise }

// ParseKind reads the name of a way to wait.
func ParseKind(name string) (Kind, error) {
	for k, n := range kindNames {
		if n == name {
			return Kind(k), nil
		}
	}
	return 0, fmt.Errorf("%q is no way to wait: say %s", name, strings.Join(kindNames[:], " or "))
}

const (
	// spin is how long before the moment the sleep ends. Measured on 2 shared
	// cores at 10,000/s: without it the median is 16 µs late, with 10 µs of it
	// 7 µs, with 20 µs 0.07 µs; 40 µs gain no more and burn twice the time.
	spin = 20 * time.Microsecond
	// approach is the length of a second, short sleep after a long one. A
	// processor that idled for milliseconds wakes up late: at 100/s on a busy
	// machine the median was 40 to 60 µs late after one sleep, and 0.1 to 7 µs
	// after two. At 10,000/s the second sleep gains nothing, and a wait takes
	// 26 µs of CPU time with it and 20 without: so only for waits above long.
	approach = 60 * time.Microsecond
	long     = 300 * time.Microsecond
	// slice bounds one sleep, so that Stop is seen soon.
	slice = 5 * time.Millisecond
)

// Waiter waits for one goroutine, which makes it, uses it and closes it.
type Waiter struct {
	clock *clock.Clock
	kind  Kind
	stop  *atomic.Bool
	undo  func()
}

// New makes a waiter and locks the goroutine to its thread. Waiting ends early
// when stop becomes true.
func New(c *clock.Clock, kind Kind, stop *atomic.Bool) *Waiter {
	w := &Waiter{clock: c, kind: kind, stop: stop, undo: func() {}}
	if kind == Precise {
		w.undo = prepare()
	}
	return w
}

// Until waits until the clock shows ns and returns what it shows, which is
// never less unless the waiter was stopped.
func (w *Waiter) Until(ns int64) int64 {
	for {
		now := w.clock.Now()
		if now >= ns || w.stop.Load() {
			return now
		}
		left := time.Duration(ns - now)
		switch {
		case w.kind == Sleep || !precise:
			time.Sleep(min(left, slice))
		case left > long:
			sleep(min(left-approach-spin, slice))
		case left > spin:
			sleep(left - spin)
		}
	}
}

// Close gives the thread back.
func (w *Waiter) Close() { w.undo() }
