package analysis

import (
	"fmt"
	"time"
)

// tailFinding says what the numbers of a tail are, and what they are not.
func tailFinding(c *cut) *Finding {
	if !c.step.tails() {
		return nil
	}
	t, a := c.step.Own.Tail, &c.step.Accounting
	text := fmt.Sprintf("Tail of a table of others: %s in %s, with the latency from %s to the consumer", plural(a.Received, "row"), plural(t.Versions, "version"), stampText(t))
	if t.Stamp == "" {
		text = fmt.Sprintf("Tail of a table of others: %s in %s, without a stamp and so without a latency", plural(a.Received, "row"), plural(t.Versions, "version"))
	}
	for _, n := range []struct {
		count int64
		what  string
	}{
		{t.PresentRows, "were there before the tail began, and have an age and no latency"},
		{t.Unstamped, "carry no stamp"},
		{t.Retractions, "more took others back (diff −1) and are no messages"},
	} {
		if n.count > 0 {
			text += fmt.Sprintf("; %s %s", FormatCount(n.count), n.what)
		}
	}
	return finding("tail", Note, "%s.", "Nobody here knows what was sent or due: losses, repetitions and send lag are not measured. For these, drive the queue yourself: bench run, or bench produce and bench consume.", text)
}

// stampClock says that stamps are of another clock than the receipt.
func stampClock(c *cut) *Finding {
	if !c.step.tails() || c.step.Own.Tail.Stamp == "" || c.total[BrokerToConsumer].N == 0 {
		return nil
	}
	a := &c.step.Accounting
	const advice = "Tail on the host that writes the stamps, or keep the clocks of both together to far below the latency."
	if a.Negative > 0 {
		var lowest int64
		for i := range c.step.Intervals {
			lowest = min(lowest, c.step.Intervals[i].Latency[BrokerToConsumer].Min)
		}
		return finding("stamp-clock", Warning, "%s (%s) with a negative latency, down to %s: the clock that stamped them is ahead of the consumer's by at least that much, or the column holds another time; every value is off by the same amount.",
			advice, plural(a.Negative, "row"), formatShare(a.Negative, a.Received), FormatLatency(lowest))
	}
	return finding("stamp-clock", Note, "The stamps are of their writer's clock, the receipt is of the consumer's: what the two differ by is in every latency, and is not known.", advice)
}

// coarseStamp says that stamps count in steps that are no small part of the
// latency.
func coarseStamp(c *cut) *Finding {
	if !c.step.tails() || c.total[BrokerToConsumer].N == 0 {
		return nil
	}
	step := c.step.Own.Tail.ResolutionNs
	p50, _ := c.total[BrokerToConsumer].Quantile(0.5, 0)
	if step <= 0 || p50 <= 0 || float64(step) <= offsetShare*float64(p50) {
		return nil
	}
	return finding("coarse-stamp", Warning, "The stamps count in steps of %s, more than a tenth of the median of %s: since they are cut, a latency is too long by up to a step.",
		"Read the percentiles as up to one step less. A finer stamp (microseconds) in a column of its own tells more.", formatDuration(time.Duration(step)), FormatLatency(p50))
}
