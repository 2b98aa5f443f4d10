package analysis

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/stats"
)

const (
	ms  = time.Millisecond
	sec = time.Second
)

// testStart is when the steps of test logs begin, ns since the epoch.
const testStart = int64(1_700_000_000e9)

// never marks a message that was not sent, acknowledged or received.
const never = time.Duration(-1 << 62)

// msg is a synthetic message; times are since the step's start.
type msg struct {
	intended, sent, acked, received time.Duration
	own                             time.Duration // the runner's own lag
	blocked                         time.Duration
}

// schedule makes n messages at a constant rate, each sent in time, acknowledged
// and received after the given times.
func schedule(n int, rate float64, latency func(i int, at time.Duration) time.Duration) []msg {
	out := make([]msg, n)
	for i := range out {
		at := time.Duration(float64(i) / rate * 1e9)
		out[i] = msg{intended: at, sent: at, acked: at + latency(i, at)/2, received: at + latency(i, at)}
	}
	return out
}

// synthStep counts messages into a digest the plain way: a map of intervals.
func synthStep(_ testing.TB, step int, rate float64, duration, interval time.Duration, msgs []msg) StepDigest {
	s := StepDigest{Step: step, Rate: rate, Settings: map[string]string{"rate": FormatRate(rate)}, Complete: true,
		StartNs: 1_700_000_000e9 + int64(step)*100e9, Duration: duration, Interval: interval}
	n := int((duration + interval - 1) / interval)
	values := make([][numSeries][]int64, n)
	s.Intervals = make([]Interval, n)
	for i := range s.Intervals {
		s.Intervals[i].Start = time.Duration(i) * interval
		s.Intervals[i].End = min(time.Duration(i+1)*interval, duration)
	}
	s.ReceivedPerSecond = make([]int64, int((duration+sec-1)/sec))
	record := func(i int, k int, d time.Duration) {
		values[i][k] = append(values[i][k], int64(d))
	}
	a := &s.Accounting
	for _, m := range msgs {
		i := min(int(m.intended/interval), n-1)
		iv := &s.Intervals[i]
		iv.Scheduled++
		iv.Blocked += m.blocked
		a.Scheduled++
		a.RecordsUsed++
		if m.sent == never {
			a.Overrun++
			iv.Infinite[EndToEnd]++
			iv.Infinite[EndToEndFromSend]++
			iv.Infinite[Publish]++
			continue
		}
		a.Attempted++
		record(i, int(SendLag), m.sent-m.intended)
		record(i, ownSeries, m.own)
		if m.acked == never {
			a.Failed++
			iv.Infinite[Publish]++
		} else {
			a.Acked++
			record(i, int(Publish), m.acked-m.intended)
		}
		if m.received == never {
			if m.acked != never {
				a.Lost++
				iv.Infinite[EndToEnd]++
				iv.Infinite[EndToEndFromSend]++
			}
			continue
		}
		a.Received++
		if m.received < m.intended {
			a.Negative++
		}
		record(i, int(EndToEnd), m.received-m.intended)
		record(i, int(EndToEndFromSend), m.received-m.sent)
		if second := int(m.received / sec); second >= 0 {
			for len(s.ReceivedPerSecond) <= second {
				s.ReceivedPerSecond = append(s.ReceivedPerSecond, 0)
			}
			s.ReceivedPerSecond[second]++
		}
	}
	for i := range s.Intervals {
		for k := range numSeries {
			*s.Intervals[i].series(k) = compactOf(values[i][k])
		}
	}
	return s
}

// compactOf counts values into a histogram at rest.
func compactOf(values []int64) stats.Compact {
	var c stats.Compact
	slices.Sort(values)
	for i, v := range values {
		if i == 0 {
			c.Min = v
		}
		c.N, c.Max, c.Sum = c.N+1, v, c.Sum+float64(v)
		if n := len(c.Buckets); n > 0 && c.Buckets[n-1].Index == stats.Index(v) {
			c.Buckets[n-1].Count++
		} else {
			c.Buckets = append(c.Buckets, stats.Bucket{Index: stats.Index(v), Count: 1})
		}
	}
	return c
}

// synthDigest is a complete run of steps on a queue that promises all.
func synthDigest(steps ...StepDigest) *Digest {
	d := &Digest{Steps: steps, Manifest: rawlog.Manifest{
		Schema: rawlog.SchemaVersion, Run: "synthetic", Complete: true, StartedNs: 1_700_000_000e9,
		Queue:    queue.Info{Kind: "test", Partitions: 1, LosesNothing: true, DeliversOnce: true},
		Store:    rawlog.StoreInfo{Address: "s3://a/x?endpoint=http://one:9000"},
		LogStore: rawlog.StoreInfo{Address: "s3://a/y?endpoint=http://two:9000"},
	}}
	for i := range steps {
		s := &steps[i]
		a := s.Accounting
		d.Manifest.Steps = append(d.Manifest.Steps, rawlog.Step{
			Step: s.Step, Repeat: s.Repeat, Rate: s.Rate, Settings: s.Settings, StartedNs: s.StartNs,
			DurationNs: int64(s.Duration), DeadlineNs: s.StartNs + int64(s.Duration+30*sec), Complete: true, Groups: []string{"g"}, Producers: 1,
			Accounting: rawlog.Accounting{Scheduled: a.Scheduled, Attempted: a.Attempted, Acked: a.Acked, Failed: a.Failed, Unconfirmed: a.Unconfirmed,
				Overrun: a.Overrun, Received: a.Received, Lost: a.Lost, Duplicates: a.Duplicates, OutOfOrder: a.OutOfOrder},
		})
	}
	return d
}

// steady is a latency around level, spread by a tenth of it.
func steady(level time.Duration) func(int, time.Duration) time.Duration {
	r := rand.New(rand.NewPCG(7, 7))
	return func(int, time.Duration) time.Duration {
		return level + time.Duration(r.Int64N(int64(level)/5+1)) - level/10
	}
}

// all is the view that cuts nothing.
func all() View { d := time.Duration(0); return View{Warmup: &d} }

func view(warmup time.Duration, percentiles ...float64) View {
	return View{Warmup: &warmup, Percentiles: percentiles}
}

func findingOf(f []Finding, id string) *Finding {
	for i := range f {
		if f[i].ID == id {
			return &f[i]
		}
	}
	return nil
}

type statsCompact = stats.Compact

// manyOf is a histogram of one value.
func manyOf(n int64, d time.Duration) stats.Compact {
	return stats.Compact{N: n, Min: int64(d), Max: int64(d), Sum: float64(n) * float64(d), Buckets: []stats.Bucket{{Index: stats.Index(int64(d)), Count: n}}}
}
