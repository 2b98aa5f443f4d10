package runner

import (
	"testing"
	"time"

	"queuebench/clock"
)

// still is a pulse that beats only when a test says so.
func still(beats ...time.Duration) *pulse {
	p := &pulse{clock: clock.New(), noted: func(gap) {}}
	for _, b := range beats {
		p.beat(int64(b))
	}
	return p
}

// Trap 3, in a Send: a time in which the process stood still is the runner's own, wherever it
// falls: before a Send, in it, over its end, or all of it.
func TestTrap03AStandstillInASendIsNotTheQueues(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name     string
		beats    []time.Duration // all but the first 10 ms apart where nothing is said
		from, to time.Duration   // of the Send
		held     time.Duration   // since its beginning
	}{
		{"a short Send", []time.Duration{10 * ms, 20 * ms}, 21 * ms, 25 * ms, 4 * ms},
		{"a Send that blocks", []time.Duration{10 * ms, 45 * ms, 80 * ms, 120 * ms}, 5 * ms, 125 * ms, 120 * ms},
		{"stopped in the middle", []time.Duration{10 * ms, 20 * ms, 320 * ms, 330 * ms}, 5 * ms, 335 * ms, 30 * ms},
		{"stopped until the end, beat first", []time.Duration{10 * ms, 20 * ms, 320 * ms}, 5 * ms, 321 * ms, 16 * ms},
		{"stopped until the end, Send first", []time.Duration{10 * ms, 20 * ms}, 5 * ms, 320 * ms, 15 * ms},
		{"stopped all the time", []time.Duration{10 * ms}, 12 * ms, 320 * ms, 0},
		{"stopped twice", []time.Duration{10 * ms, 110 * ms, 120 * ms, 220 * ms}, 5 * ms, 225 * ms, 20 * ms},
		{"stopped before", []time.Duration{10 * ms, 110 * ms, 140 * ms, 180 * ms}, 115 * ms, 180 * ms, 65 * ms},
	} {
		s := &sender{pulse: still(c.beats...)}
		s.held(int64(c.from), int64(c.to))
		if got := time.Duration(s.holds.Since(int64(c.from))); got != c.held {
			t.Errorf("%s: held for %v, want %v", c.name, got, c.held)
		}
	}
}

func TestGapsAreBounded(t *testing.T) {
	p := still()
	for i := range int64(3 * maxGaps) {
		p.beat(i * int64(standstill))
	}
	if n := len(p.gaps); n < maxGaps/2 || n > maxGaps {
		t.Errorf("%d gaps are remembered", n)
	}
}
