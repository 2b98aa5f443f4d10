package analysis

import (
	"fmt"
	"math"
	"slices"
	"time"

	"queuebench/stats"
)

// Fine keeps, in a digest whose intervals were added up, what the rules that look
// at time saw before: so that what was found in the raw log is found in what was
// made of it. Values are ns: noValue where there was no message, Never where the
// value is of one that never came.
type Fine struct {
	// Interval of the grid before.
	Interval time.Duration
	// Level are medians of the end-to-end latency, and Publish those of the publish
	// latency, over stretches of Every from the step's start on.
	Every          time.Duration
	Level, Publish []int64
	// Settling are medians of the step's main latency, over stretches of Width.
	Width    time.Duration
	Settling []int64
	// Due, in all consumer groups, and P99 of what was due, in each whole second;
	// empty where no fault struck.
	Due, P99 []int64
	// Together is for how long the values of each latency hang together, by Kind, ns:
	// see correlation. 0 where that is not known, empty in older digests.
	Together []int64
	// Bounds are the 95 % intervals of DefaultPercentiles of each latency, by Kind,
	// under the default cut: lower and upper bound of each, ns, 0 and 0 where it has
	// none. Empty in older digests.
	Bounds []int64
}

const (
	noValue = math.MinInt64
	// Never stands for the latency of a message that never came.
	Never = math.MaxInt64
)

// toNs and fromNs turn a value that may be NaN or +Inf into one of Fine, and back.
func toNs(v float64) int64 {
	switch {
	case math.IsNaN(v):
		return noValue
	case math.IsInf(v, 1):
		return Never
	}
	return int64(v)
}

func fromNs(v int64) float64 {
	switch v {
	case noValue:
		return math.NaN()
	case Never:
		return math.Inf(1)
	}
	return float64(v)
}

// stretch is the median of a latency over some time; NaN without a message, +Inf
// where it never came.
type stretch struct {
	at     time.Duration
	median float64
}

// stretches are medians of a latency over times of a length, from the step's
// start to its end. A message counts where its interval begins.
func (s *StepDigest) stretches(k Kind, length time.Duration) []stretch {
	var out []stretch
	var group []stats.Compact
	var never int64
	var from time.Duration
	flush := func() {
		x := stretch{from, math.NaN()}
		if h := stats.Sum(group...); h.N+never > 0 {
			ns, beyond := h.Quantile(0.5, never)
			if x.median = float64(ns); beyond {
				x.median = math.Inf(1)
			}
		}
		out, group, never = append(out, x), group[:0], 0
	}
	for i := range s.Intervals {
		iv := &s.Intervals[i]
		for iv.Start >= from+length {
			flush()
			from += length
		}
		group = append(group, iv.Latency[k])
		never += iv.Infinite[k]
	}
	if len(s.Intervals) > 0 {
		flush()
	}
	return out
}

// keptStretches turns medians that a digest kept into stretches.
func keptStretches(values []int64, length time.Duration) []stretch {
	out := make([]stretch, len(values))
	for i, v := range values {
		out[i] = stretch{time.Duration(i) * length, fromNs(v)}
	}
	return out
}

func values(all []stretch) []int64 {
	out := make([]int64, len(all))
	for i, x := range all {
		out[i] = toNs(x.median)
	}
	return out
}

// grid is the interval that the step had before any were added up.
func (s *StepDigest) grid() time.Duration {
	if s.Fine != nil {
		return s.Fine.Interval
	}
	return s.Interval
}

// longest is the longest interval of the step, that of its grid at least.
func (s *StepDigest) longest() time.Duration {
	d := s.Interval
	for i := range s.Intervals {
		d = max(d, s.Intervals[i].End-s.Intervals[i].Start)
	}
	return d
}

// levelEvery is over how long the medians are taken that growth is told from.
func (s *StepDigest) levelEvery() time.Duration {
	if s.Fine != nil {
		return s.Fine.Every
	}
	return max(time.Second, s.longest())
}

// levels are these medians of a latency: end-to-end or publish.
func (s *StepDigest) levels(k Kind) []stretch {
	if s.Fine == nil {
		return s.stretches(k, s.levelEvery())
	}
	if k == Publish {
		return keptStretches(s.Fine.Publish, s.Fine.Every)
	}
	return keptStretches(s.Fine.Level, s.Fine.Every)
}

// settleWidth is over how long the medians are taken by which a step settles.
func (s *StepDigest) settleWidth() time.Duration {
	if s.Fine != nil {
		return s.Fine.Width
	}
	return max(steadyInterval, 2*s.commitInterval, s.longest())
}

func (s *StepDigest) settling() []stretch {
	if s.Fine == nil {
		return s.stretches(s.main(), s.settleWidth())
	}
	return keptStretches(s.Fine.Settling, s.Fine.Width)
}

// keepFine keeps what will be lost when the intervals of c are added up.
func (c *cut) keepFine() *Fine {
	s := c.step
	if s.Fine != nil {
		return s.Fine
	}
	f := &Fine{Interval: s.Interval, Every: s.levelEvery(), Width: s.settleWidth(),
		Level: values(s.levels(EndToEnd)), Publish: values(s.levels(Publish)), Settling: values(s.settling()), Together: c.together(), Bounds: c.bounds()}
	for _, e := range s.Events {
		if e.Kind != "fault" {
			continue
		}
		for _, x := range c.recoverySeconds() {
			f.Due, f.P99 = append(f.Due, x.Scheduled), append(f.P99, toNs(x.P99))
		}
		break
	}
	return f
}

// moments are what stays as fine as it was when a step is made coarser: edges of
// intervals, and rows of seconds within stretches of time.
type moments struct {
	edges     []time.Duration
	stretches [][2]time.Duration
}

// near tells a row of seconds that stays by itself.
func (m *moments) near(s *Second) bool {
	return slices.ContainsFunc(m.stretches, func(x [2]time.Duration) bool {
		return s.At >= x[0]-time.Second && s.At-2*time.Second <= x[1]
	})
}

// keepMoments are the edges of the cuts that are known, and what lies around what
// a rule found at a moment.
func keepMoments(d *Digest, s *StepDigest) moments {
	var out moments
	warmup := DefaultWarmup(s.Duration)
	if own, _, has := s.ownWarmup(); has {
		warmup = own
	}
	edges := []time.Duration{warmup, s.Breakdown.From, s.Breakdown.To}
	views := []View{{}, {Warmup: new(time.Duration)}}
	if b := &s.Breakdown; b.To > b.From { // the cut that the log was read under
		views = append(views, View{Warmup: &b.From, Cooldown: max(0, s.Duration-b.To)})
	}
	for _, v := range views {
		c := newCut(d, s, v, detail{})
		c.judge()
		edges = append(edges, c.warmup, c.end)
		if c.steady.Found {
			edges = append(edges, c.steady.From)
		}
		var worst time.Duration
		for _, i := range c.stalled {
			worst = max(worst, time.Duration(c.kept[i].Latency[EndToEnd].Max))
		}
		for _, i := range c.stalled {
			edges = append(edges, c.kept[i].Start, c.kept[i].End)
			out.stretches = append(out.stretches, [2]time.Duration{c.kept[i].Start, c.kept[i].End + worst})
		}
		if c.has("draining-a-burst") {
			for _, iv := range c.busyEnds() {
				edges = append(edges, iv.Start, iv.End)
			}
		}
		if !s.Complete {
			edges = append(edges, c.known())
		}
	}
	out.edges = edges
	return out
}

// fineRecord is Fine in a digest.
type fineRecord struct {
	IntervalNs int64   `json:"interval_ns"`
	EveryNs    int64   `json:"every_ns"`
	Level      []int64 `json:"level_ns"`
	Publish    []int64 `json:"publish_ns"`
	WidthNs    int64   `json:"width_ns"`
	Settling   []int64 `json:"settling_ns"`
	Due        []int64 `json:"due,omitempty"`
	P99        []int64 `json:"p99_ns,omitempty"`
	Together   []int64 `json:"together_ns,omitempty"`
	Bounds     []int64 `json:"bounds_ns,omitempty"`
}

func newFineRecord(f *Fine) *fineRecord {
	if f == nil {
		return nil
	}
	return &fineRecord{int64(f.Interval), int64(f.Every), f.Level, f.Publish, int64(f.Width), f.Settling, f.Due, f.P99, f.Together, f.Bounds}
}

func (r *fineRecord) into(s *StepDigest) error {
	if r == nil {
		return nil
	}
	end := int64(s.Duration)
	if n := len(s.Intervals); n > 0 {
		end = max(end, int64(s.Intervals[n-1].End))
	}
	within := func(every int64, n int) bool {
		return every > 0 && int64(n-1) <= end/every && float64(every)*float64(n) < math.MaxInt64/2
	}
	if r.IntervalNs <= 0 || !within(r.EveryNs, max(len(r.Level), len(r.Publish))) || !within(r.WidthNs, len(r.Settling)) ||
		len(r.Due) != len(r.P99) || !within(int64(time.Second), len(r.Due)) || slices.ContainsFunc(r.Due, func(n int64) bool { return n < 0 }) ||
		len(r.Together) > int(NumKinds) || slices.ContainsFunc(r.Together, func(ns int64) bool { return ns < 0 || ns > end }) ||
		len(r.Bounds) > 2*int(NumKinds)*len(DefaultPercentiles) || slices.ContainsFunc(r.Bounds, func(ns int64) bool { return ns < 0 }) {
		return fmt.Errorf("what was kept of intervals of %d ns: %d levels of %d ns, %d of %d ns, %d and %d seconds", r.IntervalNs, len(r.Level), r.EveryNs, len(r.Settling), r.WidthNs, len(r.Due), len(r.P99))
	}
	s.Fine = &Fine{time.Duration(r.IntervalNs), time.Duration(r.EveryNs), r.Level, r.Publish, time.Duration(r.WidthNs), r.Settling, r.Due, r.P99, r.Together, r.Bounds}
	return nil
}
