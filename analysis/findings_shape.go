package analysis

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"queuebench/stats"
)

// evenly tells a distribution that is uniform between two edges: its quantiles
// from 2 % to 98 % lie on a straight line, to within 6 % of its width, and it is
// at least half as wide as its median. That is a saw-tooth over time: what is
// handed over once per period has waited for anything between nothing and all
// of it.
func evenly(h stats.Compact, never int64) (from, to int64, ok bool) {
	const low, high, off, least = 0.02, 0.98, 0.06, 0.5
	if h.N < 100 || float64(never) > (1-high)*float64(h.N) {
		return 0, 0, false
	}
	at := func(q float64) float64 { ns, _ := h.Quantile(q, 0); return float64(ns) }
	a, b := at(low), at(high)
	if b-a < least*math.Abs(at(0.5)) {
		return 0, 0, false
	}
	for _, q := range []float64{0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9} {
		if math.Abs((at(q)-a)/(b-a)-(q-low)/(high-low)) > off {
			return 0, 0, false
		}
	}
	rim := (b - a) * low / (high - low)
	return max(h.Min, int64(a-rim)), min(h.Max, int64(b+rim)), true
}

// sawTooth finds a period that nobody named: latencies that lie evenly between
// two edges, where the commit interval does not explain it.
func sawTooth(c *cut) *Finding {
	if c.has("commit-interval-bound") || c.has("not-keeping-up") || c.has("draining-a-burst") || c.has("phase-locked") {
		return nil
	}
	from, to, ok := evenly(c.total[EndToEnd], c.never[EndToEnd])
	if !ok {
		return nil
	}
	return finding("saw-tooth", Note, "Latencies lie evenly between %s and %s: messages are handed over about every %s, and one waits for anything up to that.",
		"Look for what works at that period: a commit interval, a linger time, a poll interval, a fetch wait. Shortening it lowers latency and costs requests.",
		FormatLatency(from), FormatLatency(to), FormatLatency(to-from)).with("from_ns", float64(from)).with("to_ns", float64(to)).with("period_ns", float64(to-from))
}

// loadPeriod is the time between two messages of a constant schedule, or between
// two bursts; 0 for other arrivals.
func (c *cut) loadPeriod() time.Duration {
	if c.run == nil || c.step.Rate <= 0 || c.profile() != "" {
		return 0
	}
	size := 1.0
	switch c.run.Arrivals {
	case "", "constant":
	case "burst":
		n, err := strconv.ParseFloat(c.summary.Settings["burst-size"], 64)
		if err != nil || n < 1 {
			return 0
		}
		size = n
	case "pathway-burst":
		size = 10_000
	default:
		return 0
	}
	return time.Duration(size / c.step.Rate * float64(time.Second))
}

// phaseLocked finds load and commits that keep step: of a commit interval no
// more than five phases are measured, since its period is a whole number of
// those of the load, or the other way round, and they drift apart by less than
// half a phase over the step. Where one phase is measured, the latency must be
// narrow, too.
func phaseLocked(c *cut) *Finding {
	const most, drift, narrow = 5, 0.5, 0.5
	t, p := c.step.commitInterval, c.loadPeriod()
	h := c.total[EndToEnd]
	if t <= 0 || p <= 0 || h.N == 0 || c.blocks < stats.MinBlocks || c.has("not-keeping-up") || c.has("draining-a-burst") {
		return nil
	}
	long, short := max(t, p), min(t, p)
	ratio := float64(long) / float64(short)
	phases := 1.0
	if p < t {
		phases = math.Round(ratio)
	}
	if phases > most || math.Abs(ratio-math.Round(ratio))*float64(c.end-c.warmup)/float64(long) >= drift {
		return nil
	}
	if phases == 1 {
		low, _ := h.Quantile(0.05, 0)
		high, _ := h.Quantile(0.95, 0)
		if float64(high-low) >= narrow*float64(t) {
			return nil
		}
	}
	what := "a message is due"
	if c.run.Arrivals != "" && c.run.Arrivals != "constant" {
		what = "a burst is due"
	}
	which := "phase of the commit interval is"
	if phases > 1 {
		which = fmt.Sprintf("%.0f phases of the commit interval are", phases)
	}
	return finding("phase-locked", Warning, "Load and commits keep step: %s every %s, commits come every %s, so the same %s measured again and again. The latency says where it happened to lie.",
		"Give --arrivals poisson or jitter, or a rate whose period is no simple part of the commit interval. Repeats help too: the phase of the commit timer is new in each.",
		what, formatDuration(p), formatDuration(t), which).
		with("load_period_ns", float64(p)).with("commit_interval_ns", float64(t)).with("phases", phases)
}

// modes are the two modes of a distribution.
type modes struct {
	low, high, valley float64 // ns
	upper             float64 // share of the messages above the valley
}

// twoModesOf looks for two modes: over bins of equal ratio from the 0.5 % to the
// 99.5 % quantile, smoothed, a valley of at most a quarter of the lower of the
// peaks on either side of it, with a tenth of the messages at least on each, and
// peaks that are a factor of 1.5 apart. Stamps that are coarse make combs, which
// are no modes: fewer than 40 buckets say nothing.
func twoModesOf(h stats.Compact) (modes, bool) {
	const bins, deep, share, apart, buckets, fewest = 48, 0.25, 0.1, 1.5, 40, 1000
	if h.N < fewest || len(h.Buckets) < buckets {
		return modes{}, false
	}
	a, _ := h.Quantile(0.005, 0)
	b, _ := h.Quantile(0.995, 0)
	if a <= 0 || float64(b) < apart*float64(a) {
		return modes{}, false
	}
	width := math.Log(float64(b)/float64(a)) / bins
	at := func(i int) float64 { return float64(a) * math.Exp((float64(i)+0.5)*width) }
	x := make([]float64, bins)
	for _, bucket := range h.Buckets {
		low, high := stats.Bounds(bucket.Index)
		i := int(math.Log(float64(low+high)/2/float64(a)) / width)
		if high > 0 && low >= a && i >= 0 && i < bins {
			x[i] += float64(bucket.Count)
		}
	}
	for range 2 {
		y := make([]float64, bins)
		for i := range x {
			y[i] = (x[max(0, i-1)] + 2*x[i] + x[min(bins-1, i+1)]) / 4
		}
		x = y
	}
	best, found := 0.0, modes{}
	for v := 1; v < bins-1; v++ {
		l, r := peak(x[:v]), v+1+peak(x[v+1:])
		lower := min(x[l], x[r])
		if lower <= 0 || x[v] > deep*lower || lower-x[v] <= best || at(r) < apart*at(l) {
			continue
		}
		upper := float64(h.CountAbove(int64(at(v)))) / float64(h.N)
		if upper < share || upper > 1-share {
			continue
		}
		best, found = lower-x[v], modes{at(l), at(r), at(v), upper}
	}
	return found, best > 0
}

// peak is the index of the largest value.
func peak(x []float64) int {
	k := 0
	for i, v := range x {
		if v > x[k] {
			k = i
		}
	}
	return k
}

// twoModes tells of two kinds of messages, and what sets them apart where the
// breakdown or the time does.
func twoModes(c *cut) *Finding {
	if c.has("not-keeping-up") || c.has("draining-a-burst") || c.has("phase-locked") || c.has("tail-from-stalls") {
		return nil
	}
	m, ok := twoModesOf(c.total[EndToEnd])
	if !ok {
		return nil
	}
	return finding("two-modes", Note, "Two kinds of messages: %.0f %% of them take about %s, %.0f %% about %s, and hardly any lies around %s.%s",
		"One percentile describes neither. Look for what only some messages meet: another partition or broker, a second request, a cache that misses, a batch that fills up.",
		(1-m.upper)*100, FormatLatency(int64(m.low)), m.upper*100, FormatLatency(int64(m.high)), FormatLatency(int64(m.valley)), c.apart(int64(m.valley))).
		with("low_ns", m.low).with("high_ns", m.high).with("upper_share", m.upper)
}

// apart says what tells messages above a latency from those below.
func (c *cut) apart(ns int64) string {
	const most, least = 0.8, 0.2
	above := func(h stats.Compact) float64 {
		if h.N == 0 {
			return math.NaN()
		}
		return float64(h.CountAbove(ns)) / float64(h.N)
	}
	middle := (c.warmup + c.end) / 2
	first, _, _ := addUp(between(c.step, c.warmup, middle))
	second, _, _ := addUp(between(c.step, middle, c.end))
	switch a, b := above(first[EndToEnd]), above(second[EndToEnd]); {
	case a < least && b > most:
		return " The slower ones came in the second half of the time."
	case a > most && b < least:
		return " The slower ones came in the first half of the time."
	}
	for _, by := range []string{ByPartition, ByProducer, ByConsumer, ByGroup} {
		var slow, fast []string
		for _, s := range c.step.Breakdown.shares(by) {
			switch a := above(s.Latency[EndToEnd]); {
			case a > most:
				slow = append(slow, s.Key)
			case a < least:
				fast = append(fast, s.Key)
			}
		}
		if len(slow) > 0 && len(fast) > 0 {
			return fmt.Sprintf(" The slower ones are those of %s %s.", by, strings.Join(slow[:min(len(slow), 5)], ", "))
		}
	}
	return ""
}
