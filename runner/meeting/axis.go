package meeting

import (
	"fmt"
	"time"

	"queuebench/clock"
)

// Seen is a start and when the own clock saw it appear.
type Seen struct {
	Start
	NotAt int64 // it was not there yet; 0 where it was from the beginning
	At    int64 // it was there
}

// tolerance is how far two wall clocks that somebody keeps right may be apart.
const tolerance = time.Second

// Own is when the first message is due by the own clock. Where it is known what
// to add to stamps of the other clock, that is added. Else both are taken to
// show the same time, unless what was seen contradicts that: then the start is
// where it must be for what was seen. note says so, empty where nothing is to be
// said.
func (s *Seen) Own(own clock.Identity, toOwn func(clock.Identity) (addNs int64, err error)) (atNs int64, note string) {
	if own == s.Clock {
		return s.AtNs, ""
	}
	add, err := toOwn(s.Clock)
	if err == nil {
		return s.AtNs + add, ""
	}
	if s.NotAt == 0 {
		return s.AtNs, fmt.Sprintf("the start is taken from the clock of %s as it is, which nothing compared with this one: %v", s.Clock.Host, err)
	}
	// It was stored between NotAt and At.
	stored := s.AtNs - s.DelayNs
	if stored >= s.NotAt-int64(tolerance) && stored <= s.At+int64(tolerance) {
		return s.AtNs, ""
	}
	at := s.NotAt + (s.At-s.NotAt)/2 + s.DelayNs
	return at, fmt.Sprintf("the clock of %s is some %v ahead of this one, so the start is reckoned from when it was seen, to within %v; --clock-peer measures the offset, without which no latency between the two is computed",
		s.Clock.Host, time.Duration(s.AtNs-at).Round(100*time.Millisecond), time.Duration((s.At-s.NotAt)/2).Round(time.Millisecond))
}
