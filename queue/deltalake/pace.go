package deltalake

import "time"

// pace tells a tail when to ask for the next version. A miss costs a request,
// so once it is known when versions appear, nobody asks until just before the
// next one is due.
//
// A writer commits on a grid of its interval; what varies is how long its
// requests take and how promptly the reader looks. So the expected time follows
// a version that comes early at once, and one that is found late only slowly:
// one late answer must not make the reader late for all that follows.
type pace struct {
	interval, poll time.Duration
	// margin is how long before the expected time the polling begins. It
	// doubles when the version was there already, and shrinks slowly when it
	// was not.
	margin time.Duration
	next   int64 // clock, ns: when the next version is expected; 0: not known
	misses int   // since the last hit
	slept  bool  // since the last hit, until just before next
	// doubling: it expects nothing, and waits ever longer after a miss.
	doubling bool
}

func newPace(interval, poll time.Duration) pace {
	p := pace{interval: interval, poll: poll}
	p.margin = p.least()
	return p
}

func (p *pace) least() time.Duration { return max(2*p.poll, p.interval/10) }

// hit is told when the request that found a version began, and returns how
// long after that the next is to be asked for. Who found a version without a
// miss does not know for how long it was there, and asks for the next at once:
// that may be there, too.
func (p *pace) hit(asked int64) time.Duration {
	if p.doubling {
		p.misses = 0
		return 0
	}
	T := int64(p.interval)
	seen := p.misses > 0
	switch {
	case seen && p.next == 0:
		p.next = asked + T
	case seen:
		grid := p.next + (asked-p.next+T/2)/T*T // the expected time nearest to asked
		if asked < p.next-T/2 {
			grid = p.next - T // earlier than any rounding towards 0 finds
		}
		if late := asked - grid; late > 0 {
			grid += late / 8
		} else {
			grid = asked
		}
		p.next = grid + T
		if p.slept {
			p.margin = max(p.least(), p.margin-p.margin/32)
		}
	case p.slept:
		p.margin = min(2*p.margin, p.interval)
		p.next = min(p.next, asked) + T
	}
	p.misses, p.slept = 0, false
	if !seen {
		return 0
	}
	return p.sleep(asked)
}

// miss is told when there was nothing yet, and returns how long to wait.
func (p *pace) miss(now int64) time.Duration {
	p.misses++
	if p.doubling {
		return min(firstWait<<min(p.misses-1, 10), lastWait)
	}
	if p.misses == 1 && !p.slept {
		// Caught up: what is due is known.
		if d := p.sleep(now); d > p.poll {
			p.misses = 0 // a hit after that sleep was not seen to appear
			return d
		}
	}
	return p.poll
}

// sleep is how long it is until the polling begins.
func (p *pace) sleep(now int64) time.Duration {
	d := time.Duration(p.next-now) - p.margin
	if d <= p.poll {
		return 0
	}
	p.slept = true
	return d
}
