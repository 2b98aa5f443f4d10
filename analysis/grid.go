package analysis

import (
	"cmp"
	"slices"
	"time"

	"queuebench/stats"
)

const (
	// maxIntervals is how many intervals the default grid has at most.
	maxIntervals = 300
	// minInterval is its finest.
	minInterval = 10 * time.Millisecond
	// maxGrid bounds what Options.Interval may ask for.
	maxGrid = 100_000
)

// DefaultInterval is the length of the intervals of a step's digest: the
// smallest of 10, 20, 50, 100, … ms that makes at most 300 of them.
func DefaultInterval(step time.Duration) time.Duration {
	for unit := minInterval; ; unit *= 10 {
		for _, m := range []time.Duration{1, 2, 5} {
			if (step-1)/(m*unit) < maxIntervals {
				return m * unit
			}
		}
	}
}

// newIntervals is the grid of a step, cut further at edges inside of it.
func newIntervals(step, interval time.Duration, edges []time.Duration) []Interval {
	var at []time.Duration
	if step > 0 {
		for i := range (step-1)/interval + 1 {
			at = append(at, i*interval)
		}
	}
	for _, e := range edges {
		if e > 0 && e < step {
			at = append(at, e)
		}
	}
	slices.Sort(at)
	at = slices.Compact(at)
	out := make([]Interval, len(at))
	for i := range at {
		out[i] = Interval{Start: at[i], End: step}
		if i+1 < len(at) {
			out[i].End = at[i+1]
		}
	}
	return out
}

// maxLive is how many intervals may have counters at a time. A counter takes
// 352 kB, and messages come nearly in order: what lies behind is at rest.
const maxLive = 16

// recorder counts latencies into the intervals of a step. It has the counters
// of a few of them, those used last, and moves the others to rest.
type recorder struct {
	start     int64 // of the step, ns since the epoch
	intervals []Interval
	series    []int // which histograms of an interval this one records
	alike     []int // positions in series that liveInterval.common counts for
	live      []*liveInterval
	free      []*liveInterval
	clock     int64 // counts uses
	last      *liveInterval
	memory    *budget // of what is at rest; nil for none
}

// liveInterval is an interval that is being counted.
type liveInterval struct {
	index    int
	from, to int64 // ns since the epoch
	used     int64
	counters []stats.Counter // by position in recorder.series
	// common has the values that are those of several series.
	common stats.Counter
}

func newRecorder(start int64, intervals []Interval, series ...int) *recorder {
	return &recorder{start: start, intervals: intervals, series: series, last: &liveInterval{index: -1}}
}

// at returns the interval of an intended time, or nil outside of the step.
func (r *recorder) at(intended int64) *liveInterval {
	if l := r.last; intended >= l.from && intended < l.to {
		return l
	}
	return r.find(intended)
}

func (r *recorder) find(intended int64) *liveInterval {
	i := intervalIndex(r.intervals, intended-r.start)
	if i < 0 {
		return nil
	}
	r.clock++
	for _, l := range r.live {
		if l.index == i {
			l.used, r.last = r.clock, l
			return l
		}
	}
	if len(r.live) == maxLive {
		oldest := slices.IndexFunc(r.live, func(l *liveInterval) bool {
			return l.used == slices.MinFunc(r.live, func(a, b *liveInterval) int { return cmp.Compare(a.used, b.used) }).used
		})
		r.rest(r.live[oldest])
		r.free = append(r.free, r.live[oldest])
		r.live = slices.Delete(r.live, oldest, oldest+1)
	}
	var l *liveInterval
	if n := len(r.free); n > 0 {
		l, r.free = r.free[n-1], r.free[:n-1]
	} else {
		l = &liveInterval{counters: make([]stats.Counter, len(r.series))}
	}
	iv := &r.intervals[i]
	l.index, l.from, l.to, l.used = i, r.start+int64(iv.Start), r.start+int64(iv.End), r.clock
	r.live = append(r.live, l)
	r.last = l
	return l
}

// rest moves what was counted to the interval.
func (r *recorder) rest(l *liveInterval) {
	iv := &r.intervals[l.index]
	if l.common.N() > 0 {
		r.restCommon(l, iv)
	}
	for i, k := range r.series {
		if l.counters[i].N() > 0 {
			r.add(iv.series(k), l.counters[i].Take().Coarse())
		}
	}
}

// add adds to a histogram at rest.
func (r *recorder) add(to *stats.Compact, h stats.Compact) {
	before := len(to.Buckets)
	*to = stats.Sum(*to, h)
	if r.memory != nil {
		r.memory.take(int64(len(to.Buckets)-before) * bucketBytes)
	}
}

// restCommon moves to rest what counts for several series. Where they have
// nothing else they share its buckets.
func (r *recorder) restCommon(l *liveInterval, iv *Interval) {
	if !slices.ContainsFunc(r.alike, func(i int) bool { return l.counters[i].N() > 0 }) {
		common := l.common.Take().Coarse()
		for _, i := range r.alike {
			r.add(iv.series(r.series[i]), common)
		}
		return
	}
	for _, i := range r.alike {
		l.counters[i].Add(&l.common)
	}
	l.common.Take()
}

// finish moves all to rest. The recorder can go on after it.
func (r *recorder) finish() {
	for _, l := range r.live {
		r.rest(l)
	}
	r.free, r.live, r.last = append(r.free, r.live...), nil, &liveInterval{index: -1}
}

// intervalIndex is the interval that holds an offset in ns from the step's
// start, or −1.
func intervalIndex(intervals []Interval, offset int64) int {
	i, found := slices.BinarySearchFunc(intervals, time.Duration(offset), func(iv Interval, t time.Duration) int {
		switch {
		case iv.End <= t:
			return -1
		case iv.Start > t:
			return 1
		}
		return 0
	})
	if !found {
		return -1
	}
	return i
}
