package analysis

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"queuebench/stats"
)

// knee finds the rate of a sweep from which on latency bends upwards: the lowest
// whose p99 is more than twice the largest of all lower rates, and with it that
// of every higher one. Only rates that held and whose p99 is supported count;
// of repeats the median.
func knee(cuts []*cut) *Finding {
	const times, fewest, tail = 2, 3, 99
	if c := cuts[0]; c.digest.Manifest.Capacity != nil || c.step.closed() || c.step.drains() || c.step.tails() {
		return nil
	}
	all, bad := map[float64][]float64{}, map[float64]bool{}
	for _, c := range cuts {
		h, q := c.total[EndToEnd], stats.FromPercent(tail)
		ns, beyond := h.Quantile(q, c.never[EndToEnd])
		if c.notHeld() != "" || beyond || !stats.Supported(q, h.N, c.blocks) || ns <= 0 {
			bad[c.step.Rate] = true
			continue
		}
		all[c.step.Rate] = append(all[c.step.Rate], float64(ns))
	}
	var rates, p99 []float64
	for _, r := range slices.Sorted(maps.Keys(all)) {
		if bad[r] {
			break
		}
		rates, p99 = append(rates, r), append(p99, stats.Median(all[r]))
	}
	if len(rates) < fewest {
		return nil
	}
	for i := 1; i < len(rates); i++ {
		level := slices.Max(p99[:i])
		if slices.Min(p99[i:]) > times*level {
			return finding("knee", Note, "The knee lies between %s and %s msg/s: p99 is %s at most up to there, and %s beyond, %.1f times as much.",
				"Plan for a rate below the knee: above it the queue holds the rate, at the price of its tail.",
				FormatRate(rates[i-1]), FormatRate(rates[i]), formatNs(level), formatNs(p99[i]), p99[i]/level).
				with("below_per_s", rates[i-1]).with("above_per_s", rates[i]).with("p99_below_ns", level).with("p99_above_ns", p99[i])
		}
	}
	return nil
}

// notServers are settings that name a place which is no server of the queue.
var notServers = []string{"log-store", "metrics-addr", "clock-peer", "clock-serve", "begin", "data", "spool"}

// serversOf has the settings that name the servers of some queues: every run
// records all of them, with defaults on this host.
var serversOf = map[string][]string{
	"brokers": {"kafka", "redpanda"}, "nats-url": {"nats"}, "rabbitmq-url": {"rabbitmq"}, "redis-url": {"redis"},
}

// sharedHost: what is measured is served from the host that makes the load.
func sharedHost(d *Digest) *Finding {
	m := &d.Manifest
	kind := cmp.Or(m.Queue.Kind, m.Settings["queue"]) // a killed run has its settings only
	if m.Store.Embedded || m.Queue.InProcess || kind == "memory" {
		return nil // in-process-floor says it
	}
	place := loopback(m.Store.Address)
	for _, name := range slices.Sorted(maps.Keys(m.Settings)) {
		queues, one := serversOf[name]
		if !slices.Contains(notServers, name) && (!one || slices.Contains(queues, kind)) {
			place = cmp.Or(place, loopback(m.Settings[name]))
		}
	}
	if place == "" {
		return nil
	}
	return finding("shared-host", Warning, "The queue under test is served from the host that makes the load (%s): the two compete for its processors, memory and disks.",
		"Run the load from another host, or give each processors of its own and say so beside the result.", place)
}

// loopback is the server on this host that an address or a list of them names:
// "localhost:9092" of "far:9092,localhost:9092", "127.0.0.1:9000" of
// "s3://b/x?endpoint=http://127.0.0.1:9000". Empty for none.
func loopback(address string) string {
	for _, part := range strings.FieldsFunc(address, func(r rune) bool { return strings.ContainsRune(",/?&=@ ", r) }) {
		host := part
		if i := strings.LastIndexByte(part, ':'); i > 0 && strings.Trim(part[i+1:], "0123456789") == "" {
			host = part[:i]
		}
		numbers := strings.Split(host, ".")
		if host == "localhost" || host == "[::1]" || len(numbers) == 4 && numbers[0] == "127" && strings.Trim(host, "0123456789.") == "" {
			return part
		}
	}
	return ""
}
