package importer

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"queuebench/analysis"
	"queuebench/stats"
)

const (
	// firstWidth is the finest interval of an imported step.
	firstWidth = 10 * time.Millisecond
	// mostBins is how many intervals with a message there are at most: beyond, they are
	// made coarser. A step has at most twice as many, those without a message included.
	mostBins = 600
	// mostLive is how many intervals are counted at a time; others are at rest.
	mostLive = 8
	// longestSpan bounds what one file spans.
	longestSpan = 10 * 24 * time.Hour
	// mostSteps bounds the series of a file.
	mostSteps = 64
)

var errSpan = fmt.Errorf("a time more than %d days from others of the file", longestSpan/(24*time.Hour))

// collector counts values of one series into intervals, whose length it finds as
// it goes: the input may be of any length and order.
type collector struct {
	width       int64 // ns
	resolution  time.Duration
	bins        map[int64]*bin
	live        []*bin
	free        []*[analysis.NumKinds]stats.Counter
	clock       int64
	first, last int64
	// The first and the last stamp of a file whose stamps are whole seconds, of
	// the ends; they are what its rate is told by.
	firstStamp, lastStamp int64
	acc                   analysis.Accounting
	perSecond             map[int64]int64 // first deliveries, by second since the epoch
	outside               int64           // deliveries in no second of the step, known after step
	timeless              bool
}

// bin is an interval, by its number since the epoch.
type bin struct {
	index     int64
	scheduled int64
	infinite  [analysis.NumKinds]int64
	hist      [analysis.NumKinds]stats.Compact
	counters  *[analysis.NumKinds]stats.Counter // nil at rest
	used      int64
}

func newCollector() *collector {
	return &collector{width: int64(firstWidth), resolution: math.MaxInt64, bins: map[int64]*bin{}, perSecond: map[int64]int64{}, first: math.MaxInt64, last: math.MinInt64, firstStamp: math.MaxInt64, lastStamp: math.MinInt64}
}

// row counts a message that began at a time (ns since the epoch) and returns its
// interval.
func (c *collector) row(at int64, resolution time.Duration) (*bin, error) {
	first, last := min(c.first, at), max(c.last, at)
	if uint64(last)-uint64(first) > uint64(longestSpan) {
		return nil, errSpan
	}
	c.first, c.last = first, last
	c.resolution = min(c.resolution, resolution)
	c.acc.Scheduled++
	b := c.at(at)
	b.scheduled++
	return b, nil
}

func (c *collector) at(at int64) *bin {
	index := floorDiv(at, c.width)
	if n := len(c.live); n > 0 && c.live[n-1].index == index {
		return c.live[n-1]
	}
	b := c.bins[index]
	if b == nil {
		for len(c.bins) >= mostBins {
			c.widen()
			index = floorDiv(at, c.width)
			if b = c.bins[index]; b != nil {
				break
			}
		}
		if b == nil {
			b = &bin{index: index}
			c.bins[index] = b
		}
	}
	c.use(b)
	return b
}

// use makes b the interval that was used last, with counters.
func (c *collector) use(b *bin) {
	c.clock++
	b.used = c.clock
	if b.counters == nil {
		if len(c.live) == mostLive {
			oldest := slices.MinFunc(c.live, func(x, y *bin) int { return cmp.Compare(x.used, y.used) })
			c.rest(oldest)
			c.live = slices.DeleteFunc(c.live, func(x *bin) bool { return x == oldest })
		}
		if n := len(c.free); n > 0 {
			b.counters, c.free = c.free[n-1], c.free[:n-1]
		} else {
			b.counters = new([analysis.NumKinds]stats.Counter)
		}
	} else {
		c.live = slices.DeleteFunc(c.live, func(x *bin) bool { return x == b })
	}
	c.live = append(c.live, b)
}

// rest moves what was counted to the histogram.
func (c *collector) rest(b *bin) {
	for k := range b.counters {
		if b.counters[k].N() > 0 {
			b.hist[k] = stats.Sum(b.hist[k], b.counters[k].Take())
		}
	}
	c.free = append(c.free, b.counters)
	b.counters = nil
}

func (c *collector) restAll() {
	for _, b := range c.live {
		c.rest(b)
	}
	c.live = c.live[:0]
}

// widen makes intervals two or five times as long: 10, 20, 100, 200 ms, 1 s, …
func (c *collector) widen() {
	c.restAll()
	factor := int64(2)
	if w := c.width; !isPowerOfTen(w) {
		factor = 5
	}
	wide := map[int64]*bin{}
	for _, b := range c.bins {
		index := floorDiv(b.index, factor)
		w := wide[index]
		if w == nil {
			b.index = index
			wide[index] = b
			continue
		}
		w.scheduled += b.scheduled
		for k := range b.hist {
			w.infinite[k] += b.infinite[k]
			if b.hist[k].N > 0 {
				w.hist[k] = stats.Sum(w.hist[k], b.hist[k])
			}
		}
	}
	c.width *= factor
	c.bins = wide
}

// record counts a value of a message; false where it is beyond the range of a
// histogram, which the accounting then tells.
func (c *collector) record(b *bin, k analysis.Kind, ns int64) bool {
	if b.counters[k].Record(ns) != nil {
		c.acc.RecordsRejected++
		return false
	}
	return true
}

// arrived counts a delivery.
func (c *collector) arrived(at int64) {
	c.acc.Received++
	if !c.timeless {
		c.perSecond[floorDiv(at, int64(time.Second))]++
	}
}

var errNothing = errors.New("it holds no value")

// step is what was collected, as a step of a digest.
func (c *collector) step() (*analysis.StepDigest, error) {
	if c.acc.Scheduled == 0 {
		return nil, errNothing
	}
	if c.acc.RecordsRejected >= c.acc.Scheduled {
		return nil, errors.New("no value lies within ±30 days: is its unit another one?")
	}
	for time.Duration(c.width) < min(c.resolution, time.Second) && !c.timeless {
		c.widen()
	}
	start, end, rate := c.extent()
	for (end-start)/c.width > 2*mostBins { // messages far apart have many intervals between them
		c.widen()
		start, end, rate = c.extent()
	}
	c.restAll()
	bins := slices.SortedFunc(maps.Values(c.bins), func(a, b *bin) int { return cmp.Compare(a.index, b.index) })
	s := &analysis.StepDigest{Complete: true, Interval: time.Duration(c.width), StartNs: start, Rate: rate, Settings: map[string]string{}}
	s.Duration = time.Duration(end - s.StartNs)
	s.Intervals = make([]analysis.Interval, (end-s.StartNs+c.width-1)/c.width)
	for i := range s.Intervals {
		s.Intervals[i].Start = time.Duration(int64(i) * c.width)
		s.Intervals[i].End = min(time.Duration(int64(i+1)*c.width), s.Duration)
	}
	for _, b := range bins {
		iv := &s.Intervals[b.index-bins[0].index]
		iv.Scheduled, iv.Infinite, iv.Latency = b.scheduled, b.infinite, b.hist
		iv.OwnLag = iv.Latency[analysis.SendLag]
	}
	if c.timeless {
		s.StartNs, s.Duration, s.Interval, s.Rate = 0, time.Second, time.Second, 0
		s.Intervals = s.Intervals[:1]
		s.Intervals[0].Start, s.Intervals[0].End = 0, time.Second
	}
	for second, n := range c.perSecond {
		i := second - floorDiv(s.StartNs, int64(time.Second))
		if i < 0 || i >= int64(longestSpan/time.Second) {
			c.outside += n // before the start, by a clock that is behind, or long after it
			continue
		}
		for int64(len(s.ReceivedPerSecond)) <= i {
			s.ReceivedPerSecond = append(s.ReceivedPerSecond, 0)
		}
		s.ReceivedPerSecond[i] += n
	}
	c.acc.RecordsUsed = c.acc.Scheduled
	s.Accounting = c.acc
	return s, nil
}

// extent is where the intervals begin and where the step ends, in ns since the epoch, and
// its rate in messages per second; 0 where one message or moment tells none.
func (c *collector) extent() (start, end int64, rate float64) {
	start, end = floorDiv(c.first, c.width)*c.width, (floorDiv(c.last, c.width)+1)*c.width
	// The last message stands for a stretch as long as the others do.
	if n := c.acc.Scheduled; n > 1 && c.last > c.first {
		length := float64(c.last-c.first) * float64(n) / float64(n-1)
		if c.resolution >= time.Second && c.lastStamp >= c.firstStamp {
			length = float64(c.lastStamp - c.firstStamp + int64(time.Second))
		}
		rate = float64(n) / length * 1e9
		end = max(end, c.first+int64(math.Round(length)))
	}
	return start, end, rate
}

func isPowerOfTen(v int64) bool {
	for v%10 == 0 {
		v /= 10
	}
	return v == 1
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
