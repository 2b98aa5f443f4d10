package runner

import (
	"fmt"
	"time"

	"queuebench/runner/schedule"
)

// point is the messages that were due and had not reached the slowest group.
type point struct {
	at int64 // ns since the schedule's start
	n  float64
}

// appendOpen adds a point. Where the rate changes, a queue that keeps up has open
// messages in proportion to it, so they are scaled from the rate of the moment to
// the mean rate; in a pause there is nothing to keep up with, and no point.
func appendOpen(points []point, p Plan, at int64, n float64) []point {
	if v, ok := p.Schedule.(schedule.Varying); ok && len(v.Profile()) > 1 {
		rate := v.Profile().RateAt(time.Duration(at))
		if rate == 0 {
			return points
		}
		n *= p.Rate.PerSecond() / rate
	}
	return append(points, point{at, n})
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

// NotHeld says why a step of a search did not hold its rate, as the end of a
// sentence, or nothing; own says that it was for the runner's own sake. Messages
// that failed or were lost have not held, whatever became of the others.
func (r *StepResult) NotHeld() (why string, own bool) {
	a, t := &r.Accounting, &r.Trend
	switch {
	case a.Overrun > 0:
		return fmt.Sprintf("%d messages could not be sent before the step ended", a.Overrun), t.Own
	case a.Failed+a.Unconfirmed > 0:
		return fmt.Sprintf("%d messages failed or were never confirmed", a.Failed+a.Unconfirmed), false
	case a.Lost > 0:
		return fmt.Sprintf("%d messages were not received by the deadline", a.Lost), false
	case t.Growing:
		return fmt.Sprintf("the messages that were due and not received grew by %.0f per second", t.PerSecond), t.Own
	case t.Long:
		return fmt.Sprintf("the last message came %v after the end of the load", t.Drain.Round(time.Millisecond)), t.Own
	}
	if t.TooShort {
		return fmt.Sprintf("the step is too short to tell: %d means of the open messages, %d are needed", t.Blocks, minTrendBlocks), false
	}
	return "", false
}
