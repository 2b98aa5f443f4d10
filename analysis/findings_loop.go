package analysis

import (
	"strings"
	"time"
)

func isClosedLoop(c *cut) *Finding {
	if !c.step.closed() {
		return nil
	}
	return finding("closed-loop", Note, "Closed loop (%s): an operation began when the one before it was done, so its intended time is when it was sent, and what a slow queue was not asked meanwhile is missing: coordinated omission is possible.",
		"Compare clients and settings with it. For what a user of the queue waits, run a schedule: bench run or bench sweep.", c.step.Own.Mode)
}

func drainingBacklog(c *cut) *Finding {
	if !c.step.drains() {
		return nil
	}
	d := c.step.Own.Drain
	const advice = "Read the drain time and its rate, not the percentiles: for the queue's latency run a schedule below the rate of the drain."
	at := formatDuration(time.Duration(d.ReleasedNs - c.step.StartNs).Round(time.Millisecond))
	if d.DrainedNs == 0 {
		return finding("draining-a-backlog", Warning, "The backlog was not gone in time: the consumers were released at %s with %s waiting, received %s per second, and left %s.",
			advice, at, plural(d.Backlog, "message"), FormatRate(d.PerSecond), plural(d.Left, "message"))
	}
	return finding("draining-a-backlog", Warning, "This is the time to drain a backlog, not the latency of the queue: the consumers were held until %s, %s waited, and they were gone after %s, at %s messages per second.",
		advice, at, plural(d.Backlog, "message"), FormatLatency(d.DrainedNs-d.ReleasedNs), FormatRate(d.PerSecond))
}

// scheduled makes a rule one of steps that followed a schedule: the others have
// no rate that they could fail to keep.
func scheduled(rule func(*cut) *Finding) func(*cut) *Finding {
	return func(c *cut) *Finding {
		if c.step.closed() || c.step.drains() || c.step.tails() || c.step.main() == Imported {
			return nil
		}
		return rule(c)
	}
}

// capacityFound tells what a search for the highest rate came to.
func capacityFound(d *Digest) *Finding {
	f := d.Manifest.Capacity
	if f == nil {
		return nil
	}
	if !f.Converged {
		return finding("capacity", Warning, "The search for the highest rate came to no answer: %s.",
			"Its steps show what was tried. Search with longer steps, other ends, or on a quieter host.", strings.TrimSuffix(f.Reason, "."))
	}
	return finding("capacity", Note, "The highest rate that holds is %s msg/s: it held for %s, and at %s msg/s %s.",
		"Leave room: plan for well below it.", FormatRate(f.Rate), formatDuration(time.Duration(f.ConfirmNs)), FormatRate(f.NotHeld), strings.TrimSuffix(f.Why, "."))
}
