package deltalake

import "time"

// pace tells a tail when to ask for the next version. A miss costs a request,
// so after a version was seen to appear the next one is expected one commit
// interval later, and nobody asks until just before that.
type pace struct {
	interval, poll time.Duration
	// margin is how long before the expected time the polling begins. It
	// doubles when the version was already there, and shrinks slowly when it
	// was not.
	margin time.Duration
	misses int  // since the last hit
	slept  bool // since the last hit
}

func newPace(interval, poll time.Duration) pace {
	p := pace{interval: interval, poll: poll}
	p.margin = p.least()
	return p
}

func (p *pace) least() time.Duration { return max(2*p.poll, p.interval/10) }

// hit is told of a version that was found, and returns how long to wait before
// the next is asked for, counted from when the request began. What was found
// without a miss may have been there for long, and so may the next.
func (p *pace) hit() time.Duration {
	seen := p.misses > 0
	if p.slept {
		if seen {
			p.margin = max(p.least(), p.margin-p.margin/32)
		} else {
			p.margin = min(2*p.margin, p.interval)
		}
	}
	p.misses, p.slept = 0, false
	if !seen {
		return 0
	}
	wait := max(0, p.interval-p.margin)
	p.slept = wait > 0
	return wait
}

// miss is told that there is nothing yet, and returns how long to wait.
func (p *pace) miss() time.Duration {
	p.misses++
	return p.poll
}
