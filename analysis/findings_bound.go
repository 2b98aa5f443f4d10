package analysis

import (
	"math"
	"slices"
	"strings"
	"time"

	"queuebench/stats"
)

// behind tells whether the step did not keep its rate.
func (c *cut) behind() bool { return c.has("not-keeping-up") || c.has("overrun") }

// growth of the median of a latency per second, in ns; NaN where it has none.
func (c *cut) growth(k Kind) float64 {
	values, every := c.mediansOf(k)
	return stats.Slope(values) / every.Seconds()
}

// endBound says on which side of the acknowledgement the time of a queue that
// falls behind is spent: it compares how the publish latency grows with how the
// end-to-end latency does.
func endBound(c *cut) *Finding {
	const little, most = 0.25, 0.75
	if !c.behind() || c.total[Publish].N == 0 || c.step.NoEndToEnd != "" {
		return nil
	}
	all, publish := c.growth(EndToEnd), c.growth(Publish)
	_, rises := c.risingBacklog()
	p50, _ := c.total[Publish].Quantile(0.5, c.never[Publish])
	grows := all > 0 && !math.IsInf(all, 0) && stats.Growth(first(c.medians())).Growing
	switch {
	case grows && publish >= most*all:
		return finding("producer-bound", Warning, "Bound on the producers' side: messages wait before they are acknowledged. The publish latency grows by %s per second, the end-to-end latency by %s.",
			"More consumers do not help. Give larger batches, a longer commit interval, more partitions or producers, or a store that takes more.",
			formatNs(publish), formatNs(all)).with("publish_growth_ns_per_s", publish).with("growth_ns_per_s", all)
	case grows && publish <= little*all || !grows && rises:
		f := finding("consumer-bound", Warning, "Bound on the consumers' side: messages are acknowledged after %s at the median, which does not grow, and then wait to be received.",
			"More producers do not help. Give more partitions and consumers, larger fetches, or less work per message.", FormatLatency(p50))
		return f.with("publish_p50_ns", float64(p50)).with("publish_growth_ns_per_s", publish).with("growth_ns_per_s", all)
	}
	return nil
}

func first[T, U any](x T, _ U) T { return x }

// oneHost tells a run of one host, whose processors are known.
func (c *cut) oneHost() bool {
	m := &c.digest.Manifest
	return m.Host.CPUs > 0 && !slices.ContainsFunc(m.Processes, func(p processInfo) bool { return p.Host.Name != m.Host.Name })
}

const fewestRows = 5 // seconds after the cut that a rule of resources needs

// cpuBound: the processes of the load used most of what the host has in half of
// the seconds at least.
func cpuBound(c *cut) *Finding {
	const busy = 0.85
	rows, spans := c.bins()
	if !c.oneHost() || !c.step.Tells("cpu_ns") || len(rows) < fewestRows {
		return nil
	}
	cpus := float64(c.digest.Manifest.Host.CPUs)
	var used []float64
	for i := range rows {
		used = append(used, float64(rows[i].CPUNs)/float64(spans[i])/cpus)
	}
	share := stats.Median(used)
	if share < busy {
		return nil
	}
	return finding("cpu-bound", Warning, "Bound by the processors of the load's host: the runner used %.0f %% of %s at the median %s.",
		"What is measured is this machine as much as the queue. Give the load more processors or another host, a lower rate, or larger batches.",
		share*100, plural(int64(cpus), "processor"), c.binName()).with("cpu_share", share).with("cpus", cpus)
}

// cpuSteal: a neighbour on the same machine took processor time.
func cpuSteal(c *cut) *Finding {
	const much = 0.03
	rows, spans := c.bins()
	cpus := float64(c.digest.Manifest.Host.CPUs)
	if cpus <= 0 || !c.step.Tells("steal_ns") || len(rows) == 0 {
		return nil
	}
	var steal, span, worst float64
	for i := range rows {
		steal, span = steal+float64(rows[i].StealNs), span+float64(spans[i])
		worst = max(worst, float64(rows[i].StealNs)/float64(spans[i])/cpus)
	}
	if share := steal / span / cpus; share >= much {
		return finding("cpu-steal", Warning, "A neighbour took processor time: the hypervisor withheld %.1f %% of it over the step, %.0f %% in the worst %s.",
			"Latency of these moments is the machine's, not the queue's. Run again on a dedicated or quieter host.", share*100, worst*100, c.binName()).
			with("steal_share", share).with("steal_share_worst", worst)
	}
	return nil
}

// linkSpeeds are those of common networks, bit/s.
var linkSpeeds = []float64{100e6, 1e9, 2.5e9, 5e9, 10e9, 25e9, 40e9, 100e9}

// networkBound: a queue that falls behind while the host's traffic stands flat at
// what a common link carries.
func networkBound(c *cut) *Finding {
	const low, flat = 0.85, 0.05
	rows, spans := c.bins()
	if !c.behind() || len(rows) < fewestRows {
		return nil
	}
	levels := c.levelsOf(rows, spans)
	for _, way := range []struct{ column, text string }{{"network_out_bytes", "sent"}, {"network_in_bytes", "received"}} {
		l := levels[way.column]
		bits := l.Mean * 8
		for _, speed := range linkSpeeds {
			if bits >= low*speed && bits <= speed && l.CoV < flat {
				return finding("network-bound", Warning, "Bound by the network, as it seems: the host %s %s without a change (± %.1f %%), what a link of %s carries, while the queue fell behind.",
					"Give a faster link, a host or a store that is nearer, compression (a codec of the queue), or smaller messages.",
					way.text, siText(bits, "bit/s"), l.CoV*100, siText(speed, "bit/s")).with("bits_per_s", bits).with("link_bits_per_s", speed).with("cov", l.CoV)
			}
		}
	}
	return nil
}

// diskBound: a queue on this host that falls behind while its disks write at one
// and the same speed.
func diskBound(c *cut) *Finding {
	const least, flat = 20e6, 0.1
	rows, spans := c.bins()
	if !c.behind() || len(rows) < fewestRows || !c.storeOnHost() {
		return nil
	}
	levels := c.levelsOf(rows, spans)
	for _, way := range []struct{ column, text string }{{"disk_written_bytes", "written"}, {"disk_read_bytes", "read"}} {
		if l := levels[way.column]; l.Mean >= least && l.CoV < flat {
			return finding("disk-bound", Warning, "Bound by the disks of this host, as it seems: %s were %s without a change (± %.1f %%), while the queue fell behind.",
				"Give the queue faster disks or several, or a host of its own; fewer and larger writes (a longer commit interval or linger) cost latency.",
				siText(l.Mean, "B/s"), way.text, l.CoV*100).with("bytes_per_s", l.Mean).with("cov", l.CoV)
		}
	}
	return nil
}

// storeOnHost tells a queue whose data lie on a disk of the load's host, as far
// as addresses can tell.
func (c *cut) storeOnHost() bool {
	m := &c.digest.Manifest
	return m.Store.Embedded || loopback(m.Store.Address) != "" || m.Store.Address != "" && !strings.Contains(m.Store.Address, "://") || sharedHost(c.digest) != nil
}

// siText is a number with its prefix and unit: "950 Mbit/s".
func siText(v float64, unit string) string {
	for _, u := range []struct {
		from float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= u.from {
			return significant(v/u.from) + " " + u.name + unit
		}
	}
	return significant(v) + " " + unit
}

// queueOnlyGrows: the client's own queue grew through the whole step and never
// got shorter, so that messages wait in the producer and not in the queue.
func queueOnlyGrows(c *cut) *Finding {
	const falls, least, share = 0.05, 100, 0.01
	if !c.step.Tells("queue_depth") {
		return nil
	}
	var depth []float64
	var largest float64
	c.bins()
	for i := range c.binned {
		if s := &c.binned[i]; s.At-spanOf(c.binned, i) < c.step.Duration {
			depth = append(depth, float64(s.QueueDepth))
			largest = max(largest, float64(s.QueueDepth))
		}
	}
	n := len(depth)
	if n < fewestRows || depth[n-1] < max(least, share*float64(c.step.Accounting.Scheduled)) || depth[n-1] < 1.5*depth[n/2] {
		return nil
	}
	for i := 1; i < n; i++ {
		if depth[i] < depth[i-1]-falls*largest {
			return nil
		}
	}
	last := c.binned[n-1].At
	return finding("producer-queue-grows", Warning, "The producers' own queue only grew: to %s within %s. Messages wait in the client, before the queue has them.",
		"The client takes more than it sends. Polling it does not wait for that, it only serves delivery reports: hand over less, flush, or give it larger batches and more requests in flight.",
		plural(int64(depth[n-1]), "message"), formatDuration(last.Round(time.Millisecond))).with("depth", depth[n-1]).with("depth_per_s", depth[n-1]/last.Seconds())
}
