package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"queuebench/stats"
)

// stalls finds a tail that comes from a few moments: at least 80 % of the
// messages above p99 were intended in at most 5 % of the intervals, while p99
// is at least twice the median. What else was recorded at these moments stands
// beside them.
func stalls(c *cut) *Finding {
	const tail, ofMessages, ofIntervals, times, shown = 0.99, 0.8, 0.05, 2, 3
	h := c.total[EndToEnd]
	if len(c.kept) < stats.MinBlocks || !stats.Supported(tail, h.N, int64(len(c.kept))) || c.has("not-keeping-up") || c.has("draining-a-burst") {
		return nil
	}
	p50, _ := h.Quantile(0.5, 0)
	p99, _ := h.Quantile(tail, 0)
	if p99 < times*p50 {
		return nil
	}
	above := make([]int64, len(c.kept))
	var total int64
	for i := range c.kept {
		above[i] = c.kept[i].Latency[EndToEnd].CountAbove(p99)
		total += above[i]
	}
	if total == 0 {
		return nil
	}
	held, used := heaviest(above, int64(math.Ceil(ofMessages*float64(total))))
	if float64(len(used)) > max(1, ofIntervals*float64(len(c.kept))) {
		return nil
	}
	var texts []string
	n, explained := 0, 0
	for i := 0; i < len(used); {
		j := i
		var worst, slow int64
		// Neighbours, also with one interval between them, are one stall; so is what
		// was intended while the messages before still waited.
		for j < len(used) && (j == i || used[j]-used[j-1] <= 2 || int64(c.kept[used[j]].Start-c.kept[used[j-1]].End) <= worst) {
			worst = max(worst, c.kept[used[j]].Latency[EndToEnd].Max)
			slow += above[used[j]]
			j++
		}
		from, to := c.kept[used[i]].Start, c.kept[used[j-1]].End
		why := c.beside(from, to+time.Duration(worst), time.Duration(worst))
		if why != "" {
			explained++
		}
		if n++; n <= shown {
			text := fmt.Sprintf("at %s for %s, %s, up to %s", formatDuration(from), FormatLatency(int64(to-from)), plural(slow, "message"), FormatLatency(worst))
			if why != "" {
				text += ", while " + why
			}
			texts = append(texts, text)
		}
		i = j
	}
	if n > shown {
		texts = append(texts, fmt.Sprintf("and %d more", n-shown))
	}
	advice := "Remove what happened meanwhile, or give the host and the store a quieter time: more samples do not remove it."
	if explained == 0 {
		advice = "Nothing that was recorded explains them: no pause of the garbage collector, no fault, conflict, throttling or slow commit. Look at the store and the network at these moments."
	}
	return finding("tail-from-stalls", Note, "The tail comes from %s: %s of the slowest 1 %% of messages were intended there (%s).", advice,
		plural(int64(n), "moment"), formatShare(held, total), strings.Join(texts, "; ")).
		with("moments", float64(n)).with("explained", float64(explained)).with("share", float64(held)/float64(total)).with("p99_ns", float64(p99)).with("p50_ns", float64(p50))
}

// beside tells what else happened in a time of the step, while messages waited
// for so long; empty where nothing did that is worth a word.
func (c *cut) beside(from, to, worst time.Duration) string {
	const gcLeast, gcShare, stealShare, commitTimes, commitShare, ownShare = 5 * time.Millisecond, 0.1, 0.1, 3, 0.3, 0.3
	var out []string
	var own int64
	for i := range c.kept {
		if iv := &c.kept[i]; iv.End > from && iv.Start < to {
			own = max(own, iv.OwnLag.Max)
		}
	}
	if float64(own) >= ownShare*float64(worst) {
		out = append(out, "the runner itself was late by up to "+FormatLatency(own))
	}
	var gc, steal, span time.Duration
	for i := range c.step.Seconds {
		s := &c.step.Seconds[i]
		if long := c.step.Span(i); s.At >= from && s.At-long <= to {
			gc = max(gc, time.Duration(s.GCPauseNs))
			steal, span = steal+time.Duration(s.StealNs), span+long
		}
	}
	if gc >= max(gcLeast, time.Duration(gcShare*float64(worst))) {
		out = append(out, "the garbage collector paused for "+FormatLatency(int64(gc)))
	}
	if cpus := max(1, c.digest.Manifest.Host.CPUs); span > 0 && float64(steal) >= stealShare*float64(span)*float64(cpus) {
		out = append(out, FormatLatency(int64(steal))+" of CPU time were withheld from the host")
	}
	counts := map[string]int64{}
	var stood time.Duration
	for _, e := range c.step.Events {
		if e.At > to || e.At+e.Duration < from {
			continue
		}
		switch e.Kind {
		case "fault":
			out = append(out, "a fault struck ("+e.Text+")")
		case "standstill":
			stood += e.Duration
		case "conflict", "throttled", "retry", "rebalance", "failure":
			counts[e.Kind]++
		}
	}
	if stood > 0 {
		out = append(out, "the load's process stood still for "+FormatLatency(int64(stood)))
	}
	for _, k := range []struct{ kind, noun, did string }{
		{"throttled", "request", "throttled"}, {"retry", "request", "tried again"}, {"conflict", "commit", "in conflict"}, {"rebalance", "rebalance", "made"}, {"failure", "failure", "reported"},
	} {
		if n := counts[k.kind]; n > 0 {
			were := "were"
			if n == 1 {
				were = "was"
			}
			out = append(out, fmt.Sprintf("%s %s %s", plural(n, k.noun), were, k.did))
		}
	}
	var longest, retried int64
	for i := max(0, int(from/time.Second)); i <= int(to/time.Second) && i < len(c.step.CommitsPerSecond); i++ {
		longest, retried = max(longest, c.step.CommitsPerSecond[i].MaxNs), retried+c.step.CommitsPerSecond[i].Retried
	}
	if usual := c.step.Commits.MedianPutNs + c.step.Commits.MedianCommit; usual > 0 && longest >= commitTimes*usual && float64(longest) >= commitShare*float64(worst) {
		out = append(out, fmt.Sprintf("a commit took %s, %s at the median", FormatLatency(longest), FormatLatency(usual)))
	}
	if retried > 0 && counts["retry"]+counts["throttled"]+counts["conflict"] == 0 {
		out = append(out, plural(retried, "commit")+" took more than one try")
	}
	return strings.Join(slices.Compact(out), ", ")
}

// heaviest returns the fewest indexes, ascending, whose counts reach want.
func heaviest(counts []int64, want int64) (held int64, used []int) {
	order := make([]int, len(counts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
	for _, i := range order {
		if held >= want {
			break
		}
		held += counts[i]
		used = append(used, i)
	}
	slices.Sort(used)
	return held, used
}
