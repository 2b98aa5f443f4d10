package analysis

import (
	"fmt"
	"math"
	"time"
)

// commitBound: where messages become visible every T, the median cannot be
// below T/2 plus the requests that a commit takes (delta.md's sum without the
// reader's part). It is called so when the interval is at least half of the
// median and the median within half as much again of that sum.
func commitBound(c *cut) *Finding {
	const slack, share = 1.5, 0.5
	t := c.step.commitInterval
	h := c.total[EndToEnd]
	if t <= 0 || h.N == 0 || c.has("not-keeping-up") || c.has("draining-a-burst") {
		return nil
	}
	p50, beyond := h.Quantile(0.5, c.never[EndToEnd])
	requests := c.step.Commits.MedianPutNs + c.step.Commits.MedianCommit
	floor := int64(t)/2 + requests
	if beyond || float64(p50) > slack*float64(floor) || float64(t)/2 < share*float64(p50) {
		return nil
	}
	even := ""
	if from, to, ok := evenly(h, c.never[EndToEnd]); ok {
		even = fmt.Sprintf(" Latencies lie evenly between %s and %s.", FormatLatency(from), FormatLatency(to))
	}
	return finding("commit-interval-bound", Note, "The commit interval of %s sets the latency: a message waits up to %s for its commit, %s on average. Data and commit PUT add %s; with the reader's part the median is %s.%s",
		"A shorter --commit-interval lowers it, down to what a commit takes, and costs requests in proportion.",
		formatDuration(t), formatDuration(t), formatDuration(t/2), FormatLatency(requests), FormatLatency(p50), even).
		with("commit_interval_ns", float64(t)).with("requests_ns", float64(requests)).with("p50_ns", float64(p50))
}

func commitsSlow(c *cut) *Finding {
	t := c.step.commitInterval
	took := c.step.Commits.MedianPutNs + c.step.Commits.MedianCommit
	if t <= 0 || took <= int64(t) {
		return nil
	}
	raise := niceAbove(time.Duration(float64(took) * 1.2))
	return finding("commits-slower-than-interval", Warning, "A commit takes %s (data PUT %s, commit PUT %s at the median), longer than the commit interval of %s: commits follow one another without a pause.",
		"Give --commit-interval "+raise.String()+" or more, or a store that is nearer.",
		FormatLatency(took), FormatLatency(c.step.Commits.MedianPutNs), FormatLatency(c.step.Commits.MedianCommit), formatDuration(t)).
		with("commit_ns", float64(took)).with("commit_interval_ns", float64(t)).with("try_commit_interval_ns", float64(raise))
}

// niceAbove is the smallest 1-2-5 number of milliseconds from d on.
func niceAbove(d time.Duration) time.Duration {
	for unit := time.Millisecond; unit < math.MaxInt64/10; unit *= 10 {
		for _, m := range []time.Duration{1, 2, 5} {
			if m*unit >= d {
				return m * unit
			}
		}
	}
	return d
}
