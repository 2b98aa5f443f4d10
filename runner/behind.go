package runner

import (
	"fmt"
	"time"
)

// point is the messages that were due and had not reached the slowest group.
type point struct {
	at int64 // ns since the schedule's start
	n  float64
}

// behindRise is by how many seconds' worth of messages the open messages must
// rise before a step is called behind: less may be a commit that came late.
const behindRise = 0.25

// behind says why a step did not keep up with its schedule, or nothing. A step
// did not keep up if a message was overrun; or if the messages that were due
// and not received rose through its second half: their mean over the last
// quarter is above that over the third by more than a tenth and by more than a
// quarter of a second's messages.
func (m *monitor) behind(overrun int64) string {
	if overrun > 0 {
		return fmt.Sprintf("%d messages could not be sent before the step ended", overrun)
	}
	return rising(m.open, m.end-m.start, m.s.plan.Rate.PerSecond())
}

func rising(points []point, duration int64, rate float64) string {
	mean := func(from, to int64) (float64, int) {
		var sum float64
		n := 0
		for _, p := range points {
			if p.at >= from && p.at < to {
				sum += p.n
				n++
			}
		}
		return sum / float64(max(1, n)), n
	}
	third, n3 := mean(duration/2, duration/4*3)
	last, n4 := mean(duration/4*3, duration)
	if n3 == 0 || n4 == 0 || last-third <= max(third/10, behindRise*rate) {
		return ""
	}
	return fmt.Sprintf("messages that were due and not received rose from %.0f to %.0f (means of the third and of the last quarter of %v)", third, last, time.Duration(duration))
}
