package analysis

import (
	"fmt"
	"math"
	"time"

	"queuebench/rawlog"
)

type processInfo = rawlog.Process

// unevenPartitions: one partition has half as many messages again as its share,
// or another less than half, by more than chance.
func unevenPartitions(c *cut) *Finding {
	const more, less, chance = 1.5, 0.5, 5
	b := &c.step.Breakdown
	shares := b.shares(ByPartition)
	if len(shares) == 0 {
		return nil
	}
	k := EndToEnd
	if shares[0].Latency[Publish].N > 0 {
		k = Publish
	}
	known, folded := 0, 0
	var total int64
	full, empty := -1, -1
	for i, s := range shares {
		n := s.Latency[k].N
		total += n
		if s.Folded > 0 {
			folded += s.Folded
			continue
		}
		known++
		if full < 0 || n > shares[full].Latency[k].N {
			full = i
		}
		if empty < 0 || n < shares[empty].Latency[k].N {
			empty = i
		}
	}
	partitions := max(known+folded, partitionsOf(&c.digest.Manifest, c.run))
	mean := float64(total) / float64(partitions)
	most, fewest := float64(shares[full].Latency[k].N), float64(shares[empty].Latency[k].N)
	silent := partitions - known - folded
	if silent > 0 {
		fewest = 0
	}
	if partitions < 2 || most < more*mean && fewest > less*mean || max(most-mean, mean-fewest) <= chance*math.Sqrt(mean) {
		return nil
	}
	text := fmt.Sprintf("partition %s has %s, %.1f times its share", shares[full].Key, plural(int64(most), "message"), most/mean)
	if silent > 0 {
		text += fmt.Sprintf(", and %d of %d have none", silent, partitions)
	} else {
		text += fmt.Sprintf(", partition %s has %s", shares[empty].Key, FormatCount(int64(fewest)))
		a, _ := shares[full].Latency[EndToEnd].Quantile(0.99, 0)
		z, _ := shares[empty].Latency[EndToEnd].Quantile(0.99, 0)
		if shares[full].Latency[EndToEnd].N > 0 && shares[empty].Latency[EndToEnd].N > 0 {
			text += fmt.Sprintf(" (p99 end-to-end %s and %s)", FormatLatency(a), FormatLatency(z))
		}
	}
	return finding("uneven-partitions", Warning, "Partitions are uneven: %s.",
		"The fullest partition sets the pace. Spread keys more evenly (more keys, another hash), or let the queue choose the partition; more partitions than keys stay empty.", text).
		with("partitions", float64(partitions)).with("largest_share", most/float64(total)).with("mean_messages", mean).with("silent", float64(silent))
}

// manyUnderOneStamp: the broker stamped batches rather than messages.
func manyUnderOneStamp(c *cut) *Finding {
	const many = 20
	s := &c.step.Stamps
	if s.Broker == 0 || float64(s.BrokerDeliveries) < many*float64(s.Broker) {
		return nil
	}
	each := float64(s.BrokerDeliveries) / float64(s.Broker)
	why := "the broker stamped them as one batch"
	if unit := time.Duration(s.BrokerUnitNs); c.step.Rate > 0 && each <= 2*c.step.Rate*unit.Seconds() {
		why = fmt.Sprintf("its stamps count in steps of %s", formatDuration(unit))
	}
	return finding("many-under-one-stamp", Note, "%s messages on average share one stamp of the broker: %s, so that broker to consumer is the same for all of them up to their place in it.",
		"Read it as the latency of a batch. Smaller batches (linger, batch size) make it finer, and cost throughput.", FormatCount(int64(math.Round(each))), why).
		with("messages_per_stamp", each).with("unit_ns", float64(s.BrokerUnitNs))
}

// stampsTooCoarse: stamps count in steps of more than a tenth of the median
// latency that is computed from them.
func stampsTooCoarse(c *cut) *Finding {
	const share = 0.1
	s := &c.step.Stamps
	for _, x := range []struct {
		kind Kind
		unit int64
		whom string
	}{{c.step.main(), s.ReceivedUnitNs, "consumer"}, {BrokerToConsumer, s.BrokerUnitNs, "broker"}} {
		h := c.total[x.kind]
		if x.unit <= 1 || h.N == 0 {
			continue
		}
		p50, beyond := h.Quantile(0.5, c.never[x.kind])
		if beyond || float64(x.unit) <= share*math.Abs(float64(p50)) {
			continue
		}
		return finding("coarse-stamp", Warning, "Stamps are coarser than the latency allows: those of the %s count in steps of %s, and the median %s is %s.",
			"Read latencies as give or take one step. Record stamps in finer units.", x.whom, formatDuration(time.Duration(x.unit)), x.kind.Title(), FormatLatency(p50)).
			with("unit_ns", float64(x.unit)).with("p50_ns", float64(p50))
	}
	return nil
}

// rebalances tells of consumers that were assigned anew within the cut. Those
// before it are how a group begins.
func rebalances(c *cut) *Finding {
	var n int64
	var from, to, took time.Duration
	for _, e := range c.step.Events {
		if e.Kind != "rebalance" || e.At < c.warmup || e.At > c.end || e.At <= 0 {
			continue
		}
		if n++; n == 1 {
			from = e.At
		}
		to, took = e.At, took+e.Duration
	}
	if n == 0 {
		return nil
	}
	text := ""
	if took > 0 {
		text = fmt.Sprintf(", and took %s together", FormatLatency(int64(took)))
	}
	return finding("rebalances", Warning, "Partitions were assigned anew while the step ran: %s, from %s to %s%s. Consumers stand still meanwhile.",
		"Look for consumers that came, left or missed their session timeout. A longer session timeout, static membership or cooperative assignment make it rare and short.",
		plural(n, "rebalance"), formatDuration(from.Round(time.Millisecond)), formatDuration(to.Round(time.Millisecond)), text).with("rebalances", float64(n)).with("took_ns", float64(took))
}

// noSteadyState: the latency never settled.
func noSteadyState(c *cut) *Finding {
	if c.steady.Found || c.steady.Short || c.steady.Level <= 0 || c.profile() != "" || c.has("not-keeping-up") || c.has("draining-a-burst") {
		return nil
	}
	return finding("no-steady-state", Warning, "No steady state: in the first half of the step the medians of five intervals in a row never lie within %s of %s, the median of the second half.",
		"Run longer, or find what changes while the step runs. A percentile of the whole mixes different states.", FormatLatency(int64(c.steady.Band)), FormatLatency(int64(c.steady.Level))).
		with("level_ns", c.steady.Level).with("band_ns", c.steady.Band)
}

// warmupLongerThanCut: the latency settled only after what was cut.
func warmupLongerThanCut(c *cut) *Finding {
	if !c.steady.Found || c.steady.From <= c.warmup || c.view.Windowed() || c.profile() != "" || c.has("not-keeping-up") || c.has("draining-a-burst") {
		return nil
	}
	before, _, _ := addUp(between(c.step, c.warmup, c.steady.From))
	was, _ := before[c.step.main()].Quantile(0.5, 0)
	if before[c.step.main()].N == 0 || math.Abs(float64(was)-c.steady.Level) <= c.steady.Band {
		return nil
	}
	return finding("warmup-longer-than-cut", Warning, "The warm-up was longer than the cut of %s: the latency settles at %s, and between them its median is %s instead of %s.",
		"Give --warmup "+niceUp(c.steady.From).String()+", or --warmup steady.", formatDuration(c.warmup), formatDuration(c.steady.From), FormatLatency(was), FormatLatency(int64(c.steady.Level))).
		with("warmup_ns", float64(c.warmup)).with("steady_ns", float64(c.steady.From)).with("median_before_ns", float64(was)).with("level_ns", c.steady.Level)
}

// between are the intervals between two edges.
func between(s *StepDigest, from, to time.Duration) []Interval {
	var out []Interval
	for _, iv := range s.Intervals {
		if iv.Start >= from && iv.End <= to {
			out = append(out, iv)
		}
	}
	return out
}

// niceUp is d, rounded up to whole seconds, or tenths of one below ten.
func niceUp(d time.Duration) time.Duration {
	unit := time.Second
	if d < 10*time.Second {
		unit /= 10
	}
	return (d + unit - 1) / unit * unit
}
