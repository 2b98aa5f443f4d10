package analysis

import (
	"cmp"
	"slices"
	"time"

	"queuebench/rawlog"
)

// A step keeps slowestOverall of its slowest messages within the cut under which
// its log was read, and the slowest of each of slowestSlices equal stretches of
// its schedule, so that any part of it that one looks at has some: at most 100 in
// all, some 60 B each in a digest.
const (
	slowestOverall = 50
	slowestSlices  = 50
	// MaxSlowest is the most that a step has.
	MaxSlowest = slowestOverall + slowestSlices
)

// SlowMessage is a message that took long from intended to received. Times are
// since the step's start; rawlog.Null where there is none.
type SlowMessage struct {
	Producer  int64
	Seq       int64
	Partition int64 // out of which it was delivered, −1 where that is not known
	Group     string
	Consumer  string // empty where that is not known

	Intended, Sent, Acked, Broker, Received int64 // ns
}

// Latency is from intended to received, ns.
func (m *SlowMessage) Latency() int64 { return m.Received - m.Intended }

// Stage is a part of a message's way.
type Stage struct {
	Name string `json:"name"`
	Ns   int64  `json:"ns"`
}

// Stages are where the message's time went, in its order: waiting for the sender,
// until it was acknowledged, and from there to the consumer. A message that is
// received before its acknowledgement has no last one.
func (m *SlowMessage) Stages() []Stage {
	var out []Stage
	if m.Sent == rawlog.Null {
		return nil
	}
	out = append(out, Stage{"intended to sent", m.Sent - m.Intended})
	if m.Acked == rawlog.Null || m.Acked > m.Received {
		return append(out, Stage{"sent to received", m.Received - m.Sent})
	}
	return append(out, Stage{"sent to acknowledged", m.Acked - m.Sent}, Stage{"acknowledged to received", m.Received - m.Acked})
}

// Longest is the stage that took most of the time; nothing where none is known.
func (m *SlowMessage) Longest() (s Stage, ok bool) {
	all := m.Stages()
	if len(all) == 0 {
		return Stage{}, false
	}
	return slices.MaxFunc(all, func(a, b Stage) int { return cmp.Compare(a.Ns, b.Ns) }), true
}

// slower orders messages, the slowest first.
func slower(a, b *SlowMessage) int {
	return cmp.Or(cmp.Compare(b.Latency(), a.Latency()), cmp.Compare(a.Intended, b.Intended),
		cmp.Compare(a.Producer, b.Producer), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Group, b.Group))
}

// SlowestOf are the messages that a step has kept of those that v looks at, the
// slowest first.
func SlowestOf(s *StepDigest, v View) []SlowMessage {
	k := v.keptOf(s)
	var out []SlowMessage
	for _, m := range s.Slowest {
		if at := time.Duration(m.Intended); at >= k.from && at < k.to {
			out = append(out, m)
		}
	}
	return out
}

// slowFinder finds the slowest messages while a step is joined. A message costs
// it two comparisons; only one that is among the slowest so far costs more.
type slowFinder struct {
	from, to int64 // since the step's start: where the slowest overall are looked for
	// least is what a message must exceed to be among the slowest overall, and
	// worst the same of each interval.
	least      int64
	worst      []int64
	all        []SlowMessage // not in order, at most twice slowestOverall
	byInterval []SlowMessage
}

func newSlowFinder(intervals int, from, to time.Duration) *slowFinder {
	f := &slowFinder{from: int64(from), to: int64(to), worst: make([]int64, intervals), byInterval: make([]SlowMessage, intervals)}
	return f
}

// worth tells whether a message of an interval, by its latency, is to be taken.
// One of 0 ns or less never is.
func (f *slowFinder) worth(interval int, latency int64) bool {
	return latency > f.least || latency > f.worst[interval]
}

// take keeps a message that worth asked for.
func (f *slowFinder) take(interval int, m SlowMessage) {
	latency := m.Latency()
	if latency > f.worst[interval] {
		f.worst[interval], f.byInterval[interval] = latency, m
	}
	if latency <= f.least || m.Intended < f.from || m.Intended >= f.to {
		return
	}
	if f.all = append(f.all, m); len(f.all) == 2*slowestOverall {
		f.shrink()
		f.least = f.all[slowestOverall-1].Latency()
	}
}

func (f *slowFinder) shrink() {
	slices.SortFunc(f.all, func(a, b SlowMessage) int { return slower(&a, &b) })
	f.all = f.all[:min(len(f.all), slowestOverall)]
}

// finish gives what was found, the slowest first.
func (f *slowFinder) finish(s *StepDigest) []SlowMessage {
	f.shrink()
	out := slices.Clone(f.all)
	type key struct {
		producer, seq int64
		group         string
	}
	seen := map[key]bool{}
	for i := range out {
		seen[key{out[i].Producer, out[i].Seq, out[i].Group}] = true
	}
	for slice, i := int64(0), 0; slice < slowestSlices && i < len(s.Intervals); slice++ {
		end := time.Duration(int64(s.Duration) * (slice + 1) / slowestSlices)
		best := -1
		for ; i < len(s.Intervals) && (s.Intervals[i].Start < end || slice == slowestSlices-1); i++ {
			if f.worst[i] > 0 && s.inside(s.Intervals[i].Start) && (best < 0 || slower(&f.byInterval[i], &f.byInterval[best]) < 0) {
				best = i
			}
		}
		if best < 0 {
			continue
		}
		if m := f.byInterval[best]; !seen[key{m.Producer, m.Seq, m.Group}] {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b SlowMessage) int { return slower(&a, &b) })
	return out
}
