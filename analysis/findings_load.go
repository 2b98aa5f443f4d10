package analysis

import (
	"fmt"
	"math"
	"time"

	"queuebench/stats"
)

// medians of the end-to-end latency in each second of the step that lies after
// the cut, or in each interval where these are longer. NaN is a second without a
// message, +Inf one whose median never came.
func (c *cut) medians() (values []float64, every time.Duration) { return c.mediansOf(EndToEnd) }

func (c *cut) mediansOf(k Kind) (values []float64, every time.Duration) {
	every = c.step.levelEvery()
	for _, x := range c.step.levels(k) {
		// A last piece of less than half of it is no point of its own.
		whole := x.at+every <= c.end || c.end >= c.step.Duration && c.step.Duration-x.at >= every/2
		if x.at >= c.warmup && whole {
			values = append(values, x.median)
		}
	}
	return values, every
}

// risingBacklog tests the backlog at the end of each second through the second
// half of the step: it rises if Mann–Kendall says so and it grows by at least
// 1 % of what was scheduled in that time. perSecond is the rise. Where the rate
// changes, a backlog that keeps up follows it, so each is scaled from the rate
// of its moment to that of the step, and none is taken in a pause.
func (c *cut) risingBacklog() (perSecond float64, rises bool) {
	var x []float64
	half := max(c.step.Duration/2, c.warmup)
	every := c.step.secondsBin()
	rows, _ := c.bins()
	for _, s := range rows {
		if s.At > half && s.At <= c.end {
			if rate := c.rateAt(s.At); rate > 0 {
				x = append(x, float64(s.Backlog)*c.step.Rate/rate)
			}
		}
	}
	if len(x) < stats.MinTrendPoints/2 {
		return 0, false
	}
	_, z := stats.MannKendall(x)
	perSecond = stats.TheilSen(x) / every.Seconds()
	return perSecond, z > stats.GrowthZ && perSecond >= 0.01*c.step.Rate
}

// profile is the rate over time of a step whose rate changes; empty where it
// does not.
func (c *cut) profile() string {
	if c.run == nil {
		return ""
	}
	return c.run.RateProfile
}

// rateAt is the rate at which messages were due before a moment, per second.
func (c *cut) rateAt(at time.Duration) float64 {
	if c.profile() == "" {
		return c.step.Rate
	}
	for i := range c.step.Intervals {
		if iv := &c.step.Intervals[i]; iv.Start < at && at <= iv.End {
			return float64(iv.Scheduled) / (iv.End - iv.Start).Seconds()
		}
	}
	return 0
}

func notKeepingUp(c *cut) *Finding {
	advice := "No percentile describes this: it depends on how long the step ran. Give a lower rate; look at the commit interval, partitions and consumers for a higher one."
	if c.has("draining-a-burst") {
		return nil
	}
	if p := c.profile(); p != "" {
		advice = "The rate changes while the step runs (" + p + "), and latency may follow it. " + advice
	}
	values, every := c.medians()
	backlog, rises := c.risingBacklog()
	if v := stats.Growth(values); v.Growing {
		perMinute := v.Slope * float64(time.Minute) / float64(every)
		grows := "latency grows until messages no longer come"
		if !math.IsInf(perMinute, 0) {
			grows = fmt.Sprintf("latency grows by %s per minute", formatNs(perMinute))
		}
		if rises {
			grows += fmt.Sprintf(", the backlog by %s messages per second", FormatRate(backlog))
		}
		return finding("not-keeping-up", Warning, "Not keeping up: %s.", advice, grows).with("growth_ns_per_min", perMinute).with("z", v.Z).with("backlog_per_s", backlog)
	}
	if rises {
		return finding("not-keeping-up", Warning, "Not keeping up: the backlog grows by %s messages per second through the second half of the step.",
			advice, FormatRate(backlog)).with("backlog_per_s", backlog)
	}
	return nil
}

func tooShortForGrowth(c *cut) *Finding {
	if c.view.Windowed() || c.total[EndToEnd].N == 0 || c.has("not-keeping-up") || c.has("draining-a-burst") {
		return nil
	}
	values, every := c.medians()
	v := stats.Growth(values)
	if !v.TooShort {
		return nil
	}
	return finding("too-short-for-growth", Note, "Too short to tell whether latency grows: %d medians of %s after the warm-up, %d are needed.",
		"Run each step for at least 25 s.", v.N, formatDuration(every), stats.MinTrendPoints).with("medians", float64(v.N)).with("needed", stats.MinTrendPoints)
}

// runnerShare is the part of the median end-to-end latency that the runner's
// own lateness may reach at its p99.
const runnerShare = 0.1

// runnerLimited looks at the lag that blocking does not explain: a message that
// was late because the client held up the one before is the queue's doing.
func runnerLimited(c *cut) *Finding {
	if c.ownLag.N == 0 || c.total[EndToEnd].N == 0 {
		return nil
	}
	lag, _ := c.ownLag.Quantile(0.99, 0)
	p50, beyond := c.total[EndToEnd].Quantile(0.5, c.never[EndToEnd])
	if beyond || float64(lag) <= runnerShare*float64(p50) || p50 < 0 {
		return nil
	}
	return finding("runner-limited", Warning, "Runner-limited: the runner itself was late by %s at its p99 (the send lag less what the client held up), more than a tenth of the median end-to-end latency of %s.",
		"The figures say as much about this host as about the queue: compare with the latency from send, give the runner a quiet CPU of its own, or spread the rate over more producers.",
		FormatLatency(lag), FormatLatency(p50)).with("own_lag_p99_ns", float64(lag)).with("p50_ns", float64(p50))
}

// busyEnds are the first and the last interval of the step with a message that
// came; one where it is the only one.
func (c *cut) busyEnds() []*Interval {
	var out []*Interval
	for i := range c.step.Intervals {
		if iv := &c.step.Intervals[i]; iv.Latency[EndToEnd].N > 0 {
			out = append(out[:min(len(out), 1)], iv)
		}
	}
	return out
}

// draining recognises a burst: all arrivals lie in a short span, the messages
// come out over one at least three times as long, and each one waits longer
// than the one before it. Where all arrive in one interval, their order is not
// known, and instead the waits are spread evenly from the shortest to the
// longest.
func draining(c *cut) *Finding {
	const spans, share, fewest, even = 3, 0.5, 100, 0.15
	s := c.step
	ends := c.busyEnds()
	var all []stats.Compact
	for i := range s.Intervals {
		all = append(all, s.Intervals[i].Latency[EndToEnd])
	}
	h := stats.Sum(all...)
	if h.N < fewest {
		return nil
	}
	first, last := ends[0], ends[len(ends)-1]
	arrive := last.End - first.Start
	rise := time.Duration(h.Max - h.Min)
	if rise < spans*arrive {
		return nil
	}
	out := rise + arrive // from the first to the last that came out
	var arrived string
	perSecond := math.NaN()
	if len(ends) == 1 {
		for _, q := range []float64{0.1, 0.25, 0.5, 0.75, 0.9} {
			v, _ := h.Quantile(q, 0)
			if math.Abs(float64(v-h.Min)/float64(rise)-q) > even {
				return nil
			}
		}
		// The width of an interval is no time in which they arrived: what is known
		// is how long it took to hand them over.
		out = rise
		arrived = fmt.Sprintf("%s were due at once, within %s", plural(h.N, "message"), FormatLatency(int64(arrive)))
		if lag := first.Latency[SendLag]; lag.N > 0 && lag.Max-lag.Min >= int64(arrive)/2 {
			perSecond = float64(lag.N) / time.Duration(lag.Max-lag.Min).Seconds()
			arrived += fmt.Sprintf(", were handed over within %s (%s msg/s)", FormatLatency(lag.Max-lag.Min), FormatRate(perSecond))
		}
	} else {
		early, _ := first.Latency[EndToEnd].Quantile(0.5, 0)
		late, _ := last.Latency[EndToEnd].Quantile(0.5, 0)
		if float64(late-early) < share*float64(rise) {
			return nil
		}
		perSecond = float64(h.N) / arrive.Seconds()
		arrived = fmt.Sprintf("%s arrived within %s (%s msg/s)", plural(h.N, "message"), FormatLatency(int64(arrive)), FormatRate(perSecond))
	}
	service := float64(h.N) / out.Seconds()
	beside := ""
	if got := c.summary.Throughput.ReceivedPerS; got > 0 && math.Abs(got-service) > 0.1*service {
		beside = fmt.Sprintf(" Received per second, %s, is the mean over the schedule, most of which had nothing to give.", FormatRate(got))
	}
	return finding("draining-a-burst", Warning,
		"This is the time to drain a burst, not the latency of the queue: %s and came out at %s msg/s, so each waited %s longer than the one before, from %s up to %s.%s",
		fmt.Sprintf("For the queue's latency run a schedule below its service rate, for instance --rates %d.", int64(niceBelow(0.8*service))),
		arrived, FormatRate(service), FormatLatency(int64(float64(rise)/float64(h.N))), FormatLatency(h.Min), FormatLatency(h.Max), beside).
		with("messages", float64(h.N)).with("arrival_per_s", perSecond).with("service_per_s", service).
		with("slope_ns_per_message", float64(rise)/float64(h.N)).with("try_per_s", niceBelow(0.8*service))
}

// niceBelow is the largest number of one or two digits and zeros up to v.
func niceBelow(v float64) float64 {
	if v < 1 {
		return 1
	}
	unit := math.Pow(10, max(0, math.Floor(math.Log10(v))-1))
	return math.Floor(v/unit) * unit
}
