package analysis

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// requestsRetried tells of requests of the queue's client that had to be tried
// again: an outage or a throttling that the counts do not show, since a queue
// that loses nothing makes good for it later.
func requestsRetried(c *cut) *Finding {
	var retried, throttled int64
	var first, last time.Duration
	for _, e := range c.step.Events {
		switch e.Kind {
		case "retry":
			retried++
		case "throttled":
			throttled++
		default:
			continue
		}
		if retried+throttled == 1 {
			first = e.At
		}
		last = e.At
	}
	if retried+throttled == 0 {
		return nil
	}
	return finding("requests-retried", Warning, "%s of the queue to its store failed and had to be tried again, from %s to %s of the step; %s of them because the store asked to slow down.",
		"Latency of that time is the trouble's, not the queue's habit: the events of the raw log have each answer. Run again when the store is well, or report it as what an outage costs.",
		plural(retried+throttled, "request"), formatDuration(first), formatDuration(last), FormatCount(throttled)).
		with("retried", float64(retried)).with("throttled", float64(throttled))
}

// maxNamedFaults is how many faults a finding names; the rest are counted.
const maxNamedFaults = 5

// faultsStruck names what a scenario did to the step on purpose, so that nobody
// looks for the cause of what followed elsewhere.
func faultsStruck(c *cut) *Finding {
	var named []string
	n := 0
	for _, e := range c.step.Events {
		if e.Kind != "fault" {
			continue
		}
		if n++; n > maxNamedFaults {
			continue
		}
		if i := slices.IndexFunc(c.summary.Recoveries, func(r Recovery) bool { return r.AtNs == int64(e.At) && r.Text == e.Text }); i >= 0 {
			named = append(named, c.summary.Recoveries[i].Line())
			continue
		}
		text := fmt.Sprintf("%s, at %s", e.Text, formatDuration(e.At))
		if e.Duration > 0 {
			text += " for " + formatDuration(e.Duration)
		}
		named = append(named, text)
	}
	if n == 0 {
		return nil
	}
	if n > maxNamedFaults {
		named = append(named, fmt.Sprintf("and %d more", n-maxNamedFaults))
	}
	return finding("faults-struck", Note, "%s struck on purpose: %s.",
		"Latency and loss after these moments are what the faults cost: the time to recover is from the fault to the first of five good seconds. Compare with a run without them.",
		plural(int64(n), "fault"), strings.Join(named, "; ")).with("faults", float64(n))
}
