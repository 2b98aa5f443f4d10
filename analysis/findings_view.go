package analysis

import (
	"fmt"
	"strings"

	"queuebench/stats"
)

func warmupTooLong(c *cut) *Finding {
	if c.asked == 0 || c.asked < c.step.Duration || c.step.Duration == 0 {
		return nil
	}
	return finding("warmup-longer-than-step", Failure, "The warm-up of %s leaves nothing of a step of %s.",
		"Give a shorter --warmup (0s cuts nothing), or run longer steps.", formatDuration(c.asked), formatDuration(c.step.Duration))
}

func warmupMoved(c *cut) *Finding {
	if c.warmupEdge == c.asked || len(c.kept) == 0 || c.view.From > c.warmupEdge {
		return nil
	}
	return finding("warmup-moved", Note, "The warm-up of %s was moved to %s, the next edge of the digest's intervals of %s.",
		"The raw log can be cut anywhere: analyze it natively with the same --warmup for the exact cut.",
		formatDuration(c.asked), formatDuration(c.warmupEdge), formatDuration(c.step.Interval))
}

// where says of which part of the step the numbers are.
func (c *cut) where() string {
	if c.view.Windowed() {
		return "in the window from " + formatDuration(c.warmup) + " to " + formatDuration(c.end)
	}
	return "after the warm-up"
}

// breakdownCut: what a digest has broken down are totals under the cut that its
// log was read under, which another cut does not move.
func breakdownCut(c *cut) *Finding {
	b := &c.step.Breakdown
	if len(b.Shares) == 0 || len(c.kept) == 0 || b.From == c.warmup && b.To == c.end {
		return nil
	}
	return finding("breakdown-cut", Note, "The breakdown by producer, consumer, group or partition is of %s to %s of the schedule, all other numbers of %s to %s.",
		"Read the raw log with this cut to move the breakdown too: a digest has its totals only.",
		formatDuration(b.From), formatDuration(b.To), formatDuration(c.warmup), formatDuration(c.end)).
		with("from_ns", float64(b.From)).with("to_ns", float64(b.To))
}

func tooFewSamples(c *cut) *Finding {
	l, ok := c.summary.Latencies[c.step.main().String()]
	if !ok || l.N == 0 {
		return nil
	}
	var short []string
	var need int64
	for _, p := range c.view.percentiles() {
		if q := stats.FromPercent(p); !stats.Supported(q, l.N, c.blocks) {
			short = append(short, "p"+FormatPercent(p))
			need = max(need, stats.MinSamples(q))
		}
	}
	if len(short) == 0 {
		return nil
	}
	why := fmt.Sprintf("p%s needs %s", strings.TrimPrefix(short[len(short)-1], "p"), plural(need, "message"))
	if c.blocks < stats.MinBlocks {
		why += fmt.Sprintf(", each %d commits or blocks and there are %s", stats.MinBlocks, FormatCount(c.blocks))
	}
	if c.step.imported() {
		return finding("too-few-samples", Note, "Only %s: %s rest on too few to say much of the queue (%s). They are shown as another tool measured them.",
			"Measure longer, or look at a lower percentile.", plural(l.N, "value"), strings.Join(short, ", "), why)
	}
	return finding("too-few-samples", Note, "Only %s %s: %s cannot be told (%s).",
		"Run longer, or look at a lower percentile. JSON keeps the values, marked as not supported.",
		plural(l.N, "message"), c.where(), strings.Join(short, ", "), why).with("messages", float64(l.N)).with("needed", float64(need)).with("blocks", float64(c.blocks))
}

func clocksNotComparable(c *cut) *Finding {
	if c.step.NoEndToEnd == "" || c.has("half-missing") {
		return nil
	}
	return finding("clocks-not-comparable", Failure, "No end-to-end latency: %s.",
		"Run both halves on one host, or let one measure the offset: `bench clock serve` on the producers' host, and --clock-peer on the consumers'.", strings.TrimSuffix(c.step.NoEndToEnd, "."))
}

// clockSkew: a message cannot be received before it is sent, so a negative
// latency says that two clocks differ by at least so much. Nothing is repaired.
func clockSkew(c *cut) *Finding {
	a := &c.step.Accounting
	if a.Negative == 0 {
		return nil
	}
	var lowest int64
	for i := range c.step.Intervals {
		lowest = min(lowest, c.step.Intervals[i].Latency[EndToEnd].Min)
	}
	return finding("clock-skew", Warning, "%s (%s) with a negative end-to-end latency, down to %s: the consumer's clock is behind the producer's by at least that much, and every end-to-end value is off by the same amount.",
		"The values are shown as they are. Record both ends on one host, or synchronise the clocks to far below the latency.",
		plural(a.Negative, "message"), formatShare(a.Negative, a.Received), FormatLatency(lowest)).
		with("negative", float64(a.Negative)).with("lowest_ns", float64(lowest))
}

// endToEndOnly says that the rest of the log was not looked at.
func endToEndOnly(c *cut) *Finding {
	if !c.step.EndToEndOnly {
		return nil
	}
	return finding("end-to-end-only", Note, "Only end-to-end latencies were read: whether the runner kept its schedule, when messages were safe and where their time went was not looked at.",
		"Read the run without --only for these.")
}

// windowMoved says that a window was widened to the edges of the intervals.
func windowMoved(c *cut) *Finding {
	v, at := c.view, c.kept
	if !v.Windowed() || len(at) == 0 {
		return nil
	}
	moved := v.From > c.warmupEdge && v.From != c.warmup || v.To != 0 && v.To < c.until && v.To != c.end
	if !moved {
		return nil
	}
	return finding("window-moved", Note, "The window was widened to %s to %s, the edges of the digest's intervals of %s.",
		"The raw log can be cut anywhere: analyze it natively with the same --from and --to for the exact window.",
		formatDuration(c.warmup), formatDuration(c.end), formatDuration(c.step.Interval))
}

// windowEmpty says that a step has nothing in the window.
func windowEmpty(c *cut) *Finding {
	if !c.view.Windowed() || len(c.kept) > 0 || len(c.step.Intervals) == 0 || c.asked >= c.step.Duration {
		return nil
	}
	return finding("window-empty", Note, "Nothing of this step lies in the window: after the warm-up of %s it goes on to %s.",
		"Move --from and --to, or cut less as warm-up.", formatDuration(c.warmupEdge), formatDuration(c.until))
}
