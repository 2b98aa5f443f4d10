package analysis

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"queuebench/rawlog"
)

// of makes a step of 40 s at 500 msg/s with a latency of the message's number and
// time.
func of(t *testing.T, latency func(i int, at time.Duration) time.Duration) StepDigest {
	return synthStep(t, 0, 500, 40*sec, 200*ms, schedule(20_000, 500, latency))
}

// told gives a step a row for each of its seconds.
func told(s StepDigest, row func(i int64) Second, columns ...string) StepDigest {
	s.Seconds, s.Told = nil, columns
	for i := range int64(s.Duration / sec) {
		r := row(i)
		r.At = time.Duration(i+1) * sec
		s.Seconds = append(s.Seconds, r)
	}
	return s
}

// cpus makes a run of one step on a host of so many processors.
func cpus(n int, s StepDigest) *Digest {
	return with(s, func(d *Digest) { d.Manifest.Host = rawlog.Host{Name: "one", CPUs: n} })
}

func loadCases(t *testing.T) []findingCase {
	slowStart := func(until, by time.Duration) StepDigest {
		s := steady(20 * ms)
		return of(t, func(i int, at time.Duration) time.Duration {
			if at < until {
				return s(i, at) + by
			}
			return s(i, at)
		})
	}
	restless := func(share float64) StepDigest { // the first half is at another level in so much of it
		s := steady(20 * ms)
		return of(t, func(i int, at time.Duration) time.Duration {
			if at < 21*sec && math.Mod(at.Seconds(), 1) < share {
				return s(i, at) + 15*ms
			}
			return s(i, at)
		})
	}
	locked := func(rate float64, interval time.Duration, arrivals string) *Digest {
		n := int(40 * rate)
		s := synthStep(t, 0, rate, 40*sec, 200*ms, schedule(n, rate, func(_ int, at time.Duration) time.Duration {
			return interval - at%interval + 5*ms
		}))
		return with(s, func(d *Digest) {
			d.Manifest.Queue.CommitInterval = interval
			d.Steps[0].Commits = CommitStats{Commits: 400, MedianPutNs: int64(3 * ms), MedianCommit: int64(2 * ms)}
			d.Manifest.Steps[0].Arrivals = arrivals
		})
	}
	at := func(from, to time.Duration, kind string) StepDigest {
		return change(calm(t), func(s *StepDigest) {
			s.Events = []Event{{At: from, Kind: kind, Duration: sec}, {At: to, Kind: kind}}
		})
	}
	return []findingCase{
		{"warmup-longer-than-cut", Warning, with(slowStart(8*sec, 30*ms), nil), with(slowStart(4*sec, 30*ms), nil), "the latency settles at 8 s"},
		{"no-steady-state", Warning, with(restless(0.4), nil), with(restless(0.05), nil), "No steady state"},
		{"phase-locked", Warning, locked(20, 100*ms, "constant"), locked(20, 100*ms, "poisson"), "the same 2 phases"},
		{"phase-locked", Warning, locked(20, 100*ms, ""), locked(19, 100*ms, ""), "due every 50 ms, commits come every 100 ms"},
		{"phase-locked", Warning, locked(5, 100*ms, ""), locked(100, 100*ms, ""), "the same phase of"},
		{"rebalances", Warning, with(at(6*sec, 9*sec, "rebalance"), nil), with(at(sec, 2*sec, "rebalance"), nil), "2 rebalances, from 6 s to 9 s, and took 1.00 s"},
	}
}

func shapeCases(t *testing.T) []findingCase {
	r := rand.New(rand.NewPCG(6, 6))
	even := func(from, to time.Duration) StepDigest {
		return of(t, func(int, time.Duration) time.Duration { return from + time.Duration(r.Int64N(int64(to-from))) })
	}
	mixed := func(share float64, low, high time.Duration) StepDigest {
		return of(t, func(int, time.Duration) time.Duration {
			level := low
			if r.Float64() < share {
				level = high
			}
			return time.Duration(float64(level) * (1 + 0.1*r.NormFloat64()))
		})
	}
	partitions := func(counts ...int64) *Digest {
		s := calm(t)
		for i, n := range counts {
			if n > 0 {
				s.Breakdown.Shares = append(s.Breakdown.Shares, Share{By: ByPartition, Key: string(rune('0' + i)),
					Latency: [NumKinds]statsCompact{EndToEnd: manyOf(n, 20*ms)}})
			}
		}
		return with(s, func(d *Digest) { d.Manifest.Queue.Partitions = len(counts) })
	}
	stamped := func(s Stamps) *Digest { return with(change(calm(t), func(x *StepDigest) { x.Stamps = s }), nil) }
	return []findingCase{
		{"saw-tooth", Note, with(even(10*ms, 110*ms), nil), with(even(100*ms, 140*ms), nil), "Latencies lie evenly between 10.0 ms and 110 ms"},
		{"two-modes", Note, with(mixed(0.3, 10*ms, 60*ms), nil), with(mixed(0.3, 10*ms, 13*ms), nil), "70 % of them take about"},
		{"two-modes", Note, with(mixed(0.5, 10*ms, 60*ms), nil), with(mixed(0.05, 10*ms, 15*ms), nil), "% of them take about"},
		{"uneven-partitions", Warning, partitions(4000, 1000, 1000), partitions(2400, 1800, 1800), "partition 0 has 4,000 messages, 2.0 times its share"},
		{"uneven-partitions", Warning, partitions(6000, 0, 0), partitions(6, 2, 4), "2 of 3 have none"},
		{"many-under-one-stamp", Note, stamped(Stamps{BrokerDeliveries: 20_000, Broker: 900, BrokerUnitNs: 1e6}),
			stamped(Stamps{BrokerDeliveries: 20_000, Broker: 1100, BrokerUnitNs: 1e6}), "22 messages on average share one stamp of the broker: the broker stamped them as one batch"},
		{"coarse-stamp", Warning, stamped(Stamps{Deliveries: 20_000, Received: 9000, ReceivedUnitNs: 1e9}), stamped(Stamps{Deliveries: 20_000, Received: 9000, ReceivedUnitNs: 1e6}), "count in steps of 1 s"},
	}
}

func boundCases(t *testing.T) []findingCase {
	// growing is a queue that falls behind, with the part of the growth that comes
	// before the acknowledgement.
	growing := func(before float64) StepDigest {
		n := 20_000
		m := schedule(n, 500, func(_ int, at time.Duration) time.Duration { return 50*ms + at/20 })
		for i := range m {
			m[i].acked = m[i].intended + 10*ms + time.Duration(before*float64(m[i].intended)/20)
		}
		return synthStep(t, 0, 500, 40*sec, 200*ms, m)
	}
	flat := func(s StepDigest, perSecond int64, wobble int64, column string) StepDigest {
		return told(s, func(i int64) Second {
			v := perSecond + wobble*(i%2*2-1)
			return Second{NetworkOutBytes: v, DiskWrittenBytes: v}
		}, column)
	}
	onDisk := func(s StepDigest, address string) *Digest {
		return with(s, func(d *Digest) { d.Manifest.Store.Address = address })
	}
	depth := func(f func(i int64) int64) *Digest {
		return with(told(calm(t), func(i int64) Second { return Second{QueueDepth: f(i)} }, "queue_depth"), nil)
	}
	return []findingCase{
		{"producer-bound", Warning, with(growing(0.9), nil), with(growing(0.6), nil), "Bound on the producers' side"},
		{"consumer-bound", Warning, with(growing(0.1), nil), with(growing(0.4), nil), "acknowledged after"},
		{"cpu-bound", Warning, cpus(2, told(calm(t), func(int64) Second { return Second{CPUNs: 18e8} }, "cpu_ns")),
			cpus(2, told(calm(t), func(int64) Second { return Second{CPUNs: 16e8} }, "cpu_ns")), "90 % of 2 processors"},
		{"cpu-steal", Warning, cpus(2, told(calm(t), func(int64) Second { return Second{StealNs: 1e8} }, "steal_ns")),
			cpus(2, told(calm(t), func(int64) Second { return Second{StealNs: 4e7} }, "steal_ns")), "withheld 5.0 %"},
		{"network-bound", Warning, with(flat(growing(0.9), 118e6, 1e6, "network_out_bytes"), nil), with(flat(growing(0.9), 100e6, 40e6, "network_out_bytes"), nil), "what a link of 1.00 Gbit/s carries"},
		{"network-bound", Warning, with(flat(growing(0.9), 118e6, 1e6, "network_out_bytes"), nil), with(flat(calm(t), 118e6, 1e6, "network_out_bytes"), nil), "944 Mbit/s"},
		{"disk-bound", Warning, onDisk(flat(growing(0.9), 80e6, 1e6, "disk_written_bytes"), "./data"), onDisk(flat(growing(0.9), 80e6, 1e6, "disk_written_bytes"), "s3://a/x?endpoint=http://far:9000"), "80.0 MB/s were written"},
		// At the same mean with a spread, and flat while the queue keeps up.
		{"disk-bound", Warning, onDisk(flat(growing(0.9), 80e6, 1e6, "disk_written_bytes"), "./data"), onDisk(flat(growing(0.9), 80e6, 20e6, "disk_written_bytes"), "./data"), "without a change"},
		{"disk-bound", Warning, onDisk(flat(growing(0.9), 80e6, 1e6, "disk_written_bytes"), "/data"), onDisk(flat(calm(t), 80e6, 1e6, "disk_written_bytes"), "/data"), "while the queue fell behind"},
		// Flat at what no link carries.
		{"network-bound", Warning, with(flat(growing(0.9), 118e6, 1e6, "network_out_bytes"), nil), with(flat(growing(0.9), 60e6, 1e6, "network_out_bytes"), nil), "what a link of"},
		// A neighbour in few seconds only.
		{"cpu-steal", Warning, cpus(2, told(calm(t), func(i int64) Second { return Second{StealNs: 2e9 * (i / 36)} }, "steal_ns")),
			cpus(2, told(calm(t), func(i int64) Second { return Second{StealNs: 1e9 * (i / 39)} }, "steal_ns")), "in the worst second"},
		{"producer-queue-grows", Warning, depth(func(i int64) int64 { return 300 * (i + 1) }), depth(func(i int64) int64 { return 300 * (i%5 + 1) }), "to 12,000 messages within 40 s"},
	}
}

// ownCases are those of steps that are no plain schedule, of halves and of
// whole runs.
func ownCases(t *testing.T) []findingCase {
	base := calm(t)
	own := func(s StepDigest, f func(*rawlog.Step)) *Digest {
		d := with(s, nil)
		f(&d.Manifest.Steps[0])
		d.adopt()
		return d
	}
	plain := with(base, nil)
	tail := func(resolution time.Duration, stamp string) *Digest {
		s := base
		s.Intervals = append([]Interval{}, s.Intervals...)
		for i := range s.Intervals {
			s.Intervals[i].Latency[BrokerToConsumer] = s.Intervals[i].Latency[EndToEnd]
		}
		return own(s, func(e *rawlog.Step) {
			e.Loop, e.Tail = rawlog.LoopTail, &rawlog.Tail{Table: "x", Stamp: stamp, StampColumn: "time", StampType: "long", ResolutionNs: int64(resolution), Versions: 400}
		})
	}
	half := func(roles ...rawlog.Role) *Digest {
		return with(base, func(d *Digest) {
			for _, r := range roles {
				d.Manifest.Processes = append(d.Manifest.Processes, rawlog.Process{Name: string(r), Role: r, Complete: true})
			}
		})
	}
	sweep := func(levels ...time.Duration) *Digest {
		var steps []StepDigest
		for i, l := range levels {
			rate := float64(500 * (i + 1))
			steps = append(steps, synthStep(t, i, rate, 24*sec, 200*ms, schedule(int(24*rate), rate, steady(l))))
		}
		return synthDigest(steps...)
	}
	return []findingCase{
		{"closed-loop", Note, own(base, func(e *rawlog.Step) {
			e.Loop, e.Mode, e.Workers, e.Concurrency = rawlog.LoopClosed, rawlog.ModeProduce, 1, 1
		}), plain, "coordinated omission"},
		{"draining-a-backlog", Warning, own(base, func(e *rawlog.Step) {
			e.Drain = &rawlog.Drain{ReleasedNs: base.StartNs + 5e9, DrainedNs: base.StartNs + 9e9, Backlog: 2500, PerSecond: 625}
		}), plain, "held until 5 s, 2,500 messages waited"},
		{"tail", Note, tail(ms, "column"), plain, "Tail of a table of others"},
		{"stamp-clock", Note, tail(ms, "column"), tail(ms, ""), "of their writer's clock"},
		{"coarse-stamp", Warning, tail(5*ms, "column"), tail(ms, "column"), "count in steps of 5 ms"},
		{"clock-offset", Note, with(change(base, func(s *StepDigest) {
			s.ClockOffsets = []ClockOffset{{Actor: "consumer-0", To: "a", OffsetNs: 5e6, ErrorNs: 1e5, Exchanges: 9}}
		}), nil), plain, "5.000 ± 0.100 ms"},
		{"half-missing", Warning, half(rawlog.RoleProduce), half(rawlog.RoleProduce, rawlog.RoleConsume), "Only one half"},
		{"capacity", Note, with(base, func(d *Digest) {
			d.Manifest.Capacity = &rawlog.Capacity{Converged: true, Rate: 900, NotHeld: 1000, Why: "it grew"}
		}), plain, "900 msg/s"},
		{"shared-host", Warning, with(base, func(d *Digest) { d.Manifest.Store.Address = "s3://b/x?endpoint=http://127.0.0.1:9000" }),
			with(base, func(d *Digest) {
				d.Manifest.Settings = map[string]string{"metrics-addr": "127.0.0.1:8080", "brokers": "b-127.0.0.1.example.org:9092"}
			}), "(127.0.0.1:9000)"},
		{"shared-host", Warning, with(base, func(d *Digest) {
			d.Manifest.Queue.Kind = "kafka"
			d.Manifest.Settings = map[string]string{"brokers": "far:9092,localhost:9092"}
		}), with(base, func(d *Digest) { // the defaults of other queues, which every run records
			d.Manifest.Queue.Kind = "kafka"
			d.Manifest.Settings = map[string]string{"brokers": "far:9092", "nats-url": "nats://127.0.0.1:4222", "redis-url": "redis://127.0.0.1:6379/0", "rabbitmq-url": "amqp://127.0.0.1:5672/"}
		}), "(localhost:9092)"},
		{"shared-host", Warning, with(base, func(d *Digest) { // killed: its settings are all that is known
			d.Manifest.Queue.Kind = ""
			d.Manifest.Settings = map[string]string{"queue": "nats", "nats-url": "nats://127.0.0.1:4222"}
		}), with(base, func(d *Digest) {
			d.Manifest.Queue.Kind = ""
			d.Manifest.Settings = map[string]string{"queue": "memory", "nats-url": "nats://127.0.0.1:4222"}
		}), "(127.0.0.1:4222)"},
		{"knee", Note, sweep(20*ms, 22*ms, 60*ms), sweep(20*ms, 30*ms, 40*ms), "between 1,000 and 1,500 msg/s"},
		{"knee", Note, sweep(20*ms, 60*ms, 70*ms), sweep(20*ms, 60*ms, 25*ms), "between 500 and 1,000 msg/s"},
	}
}

// What is beside a stall is told: messages, and all that was recorded then.
func TestStallsSayWhatElseHappened(t *testing.T) {
	stall := func(f func(s *StepDigest)) string {
		s := of(t, func(i int, at time.Duration) time.Duration {
			if at > 20*sec && at < 20*sec+600*ms {
				return sec + 20*sec - at
			}
			return 20*ms + time.Duration(i%7)*ms
		})
		f(&s)
		d := cpus(2, s)
		got := findingOf(Summarize(d, View{}).Steps[0].Findings, "tail-from-stalls")
		if got == nil {
			t.Fatal("no stall is found")
		}
		return got.Text + " " + got.Advice
	}
	for want, f := range map[string]func(s *StepDigest){
		"Nothing that was recorded explains them": func(*StepDigest) {},
		"messages, up to 998 ms":                  func(*StepDigest) {},
		"the garbage collector paused for 120 ms": func(s *StepDigest) {
			*s = told(*s, func(i int64) Second { return Second{GCPauseNs: 120e6 * (i / 20 % 2)} }, "gc_pause_ns")
		},
		"of CPU time were withheld from the host": func(s *StepDigest) {
			*s = told(*s, func(i int64) Second { return Second{StealNs: 1e9 * (i / 20 % 2)} }, "steal_ns")
		},
		"the runner itself was late by up to 400 ms": func(s *StepDigest) { s.Intervals[101].OwnLag = manyOf(9, 400*ms) },
		"a fault struck (the disk is full)":          func(s *StepDigest) { s.Events = []Event{{At: 20 * sec, Kind: "fault", Text: "the disk is full"}} },
		"the load's process stood still for 500 ms":  func(s *StepDigest) { s.Events = []Event{{At: 20 * sec, Kind: "standstill", Duration: 500 * ms}} },
		"2 requests were throttled, 1 commit was in confli": func(s *StepDigest) {
			s.Events = []Event{{At: 20 * sec, Kind: "throttled"}, {At: 20100 * ms, Kind: "throttled"}, {At: 20200 * ms, Kind: "conflict"}, {At: 30 * sec, Kind: "conflict"}}
		},
		"a commit took 900 ms, 10.0 ms at the median": func(s *StepDigest) {
			s.Commits = CommitStats{Commits: 400, MedianPutNs: 6e6, MedianCommit: 4e6}
			s.CommitsPerSecond = make([]CommitSecond, 40)
			s.CommitsPerSecond[20].MaxNs = 9e8
		},
	} {
		if got := stall(f); !strings.Contains(got, want) {
			t.Errorf("want %q: %s", want, got)
		}
	}
}

// What sets two kinds of messages apart is named where the breakdown knows.
func TestTwoModesNameThePartition(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	s := of(t, func(i int, _ time.Duration) time.Duration {
		level := 10 * ms
		if i%2 == 1 {
			level = 60 * ms
		}
		return time.Duration(float64(level) * (1 + 0.1*r.NormFloat64()))
	})
	s.Breakdown.Shares = []Share{{By: ByPartition, Key: "0", Latency: [NumKinds]statsCompact{EndToEnd: manyOf(9000, 10*ms)}},
		{By: ByPartition, Key: "1", Latency: [NumKinds]statsCompact{EndToEnd: manyOf(9000, 60*ms)}}}
	if f := findingOf(Summarize(with(s, nil), View{}).Steps[0].Findings, "two-modes"); f == nil || !strings.Contains(f.Text, "those of partition 1.") {
		t.Errorf("%+v", f)
	}
}
