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
// messages above p99 were intended in intervals that take at most 5 % of the time,
// while p99 is at least twice the median. What else was recorded at these moments stands
// beside them.
func stalls(c *cut) *Finding {
	const tail, ofMessages, ofTime, times, shown = 0.99, 0.8, 0.05, 2, 3
	h := c.total[EndToEnd]
	grid, kept := c.step.grid(), c.end-c.warmup
	if grid <= 0 || int64(kept/grid) < stats.MinBlocks || !stats.Supported(tail, h.N, int64(kept/grid)) || c.has("not-keeping-up") || c.has("draining-a-burst") {
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
	held, used := c.densest(above, int64(math.Ceil(ofMessages*float64(total))))
	var took time.Duration
	for _, i := range used {
		took += c.kept[i].End - c.kept[i].Start
	}
	if float64(took) > max(float64(grid), ofTime*float64(kept)) {
		return nil
	}
	c.stalled = used
	var texts []string
	n, explained := 0, 0
	for i := 0; i < len(used); {
		j := i
		var worst, slow int64
		// Neighbours, also with one interval between them, are one stall; so is what
		// was intended while the messages before still waited.
		for j < len(used) && (j == i || c.kept[used[j]].Start-c.kept[used[j-1]].End <= max(grid, time.Duration(worst))) {
			worst = max(worst, c.kept[used[j]].Latency[EndToEnd].Max)
			slow += above[used[j]]
			j++
		}
		from, to := c.kept[used[i]].Start, c.kept[used[j-1]].End
		why := c.beside(from, to, time.Duration(worst))
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

// beside tells what else happened while messages that were intended from one time
// of the step to another waited for so long; empty where nothing did that is
// worth a word.
func (c *cut) beside(from, intended, worst time.Duration) string {
	const gcLeast, gcShare, stealShare, commitTimes, commitShare, ownShare = 5 * time.Millisecond, 0.1, 0.1, 3, 0.3, 0.3
	to := intended + worst
	var out []string
	var own int64
	for i := range c.kept {
		if iv := &c.kept[i]; iv.Start >= from && iv.End <= intended {
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

// densest returns the fewest intervals, ascending, whose counts reach want: those
// with most in their time, so that intervals of other lengths do not outweigh
// short ones.
func (c *cut) densest(counts []int64, want int64) (held int64, used []int) {
	order := make([]int, len(counts))
	dense := make([]float64, len(counts))
	for i := range order {
		order[i], dense[i] = i, float64(counts[i])/float64(c.kept[i].End-c.kept[i].Start)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(dense[b], dense[a]) })
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
