package importer

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"queuebench/analysis"
	"queuebench/rawlog"
	"queuebench/stats"
	"queuebench/stats/hdrlog"
)

const (
	// mostBuckets bounds the memory of all histograms of a log: 64 MB. Beyond it
	// neighbouring intervals are added up.
	mostBuckets = 1 << 22
	// mostLines is how many intervals a tag has at most before neighbours are
	// added up.
	mostLines = 4096
	// yearSeconds is by how much a stamp must lie before the log's start to be
	// taken as relative to it, as HdrHistogram's own reader has it.
	yearSeconds = 365 * 24 * 3600
)

func isHLog(head []byte) bool {
	if bytes.Contains(head, []byte("#[Histogram log format version")) {
		return true
	}
	line := firstLine(head)
	return bytes.Contains(line, []byte(",HIST")) || bytes.HasPrefix(line, []byte(`"StartTimestamp"`))
}

// hlogLine is an interval of one tag; times in ns as they stand in the file.
type hlogLine struct {
	start, end int64
	h          stats.Compact
}

// hlog collects the intervals of a log by tag.
type hlog struct {
	unit    time.Duration
	lines   map[string][]hlogLine
	order   []string
	buckets int
	other   bool // a histogram of another geometry was there
	coarser bool // neighbours were added up
}

func readHLog(s *source) (*analysis.Digest, error) {
	x := &hlog{unit: cmp.Or(s.opt.Unit, time.Nanosecond), lines: map[string][]hlogLine{}}
	start, base := math.NaN(), math.NaN()
	r := hdrlog.NewReader(s.r)
	r.TakeAnyGeometry()
	for {
		text, line, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, s.fail(0, "%w", err) // it names its line
		}
		if line == nil {
			if v, ok := headerTime(text, "StartTime"); ok {
				start = v
			}
			if v, ok := headerTime(text, "BaseTime"); ok {
				base = v
			}
			continue
		}
		if err := x.add(line); err != nil {
			return nil, s.fail(r.LineNumber(), "%w", err)
		}
	}
	if len(x.order) == 0 {
		return nil, s.fail(0, "%w", errNothing)
	}
	offset, how := x.base(start, base)
	about := rawlog.Import{
		Format: "HdrHistogram interval log", Latency: "as the tool that wrote it measured; a value lies in the interval in which it was recorded",
		Percentiles: "nearest-rank, computed here from the histograms: the upper edge of the bucket that holds the rank",
		Notes:       []string{how, fmt.Sprintf("the file carries no unit: values are read as %s (--unit says otherwise)", unitName(x.unit)), "minimum and maximum are edges of buckets, the mean is of their middles"},
	}
	if x.other {
		about.Notes = append(about.Notes, "histograms of another precision than 3 digits were put into buckets of 3, by their upper edges")
	}
	if x.coarser {
		about.Notes = append(about.Notes, "neighbouring intervals were added up: there were too many to hold")
	}
	if len(x.order) > 1 {
		about.Notes = append(about.Notes, "each tag is a step of its own; nothing is added over tags")
	}
	d := s.digest("HdrHistogram", about)
	for _, tag := range x.order {
		step, err := x.step(tag, offset)
		if err != nil {
			return nil, s.fail(0, "tag %q: %w", tag, err)
		}
		if len(x.order) > 1 {
			step.Settings["tag"] = cmp.Or(tag, "(none)")
		}
		addStep(d, step)
	}
	return d, nil
}

// headerTime reads "[StartTime: 1768478400 (seconds since epoch), …]".
func headerTime(comment []byte, name string) (float64, bool) {
	rest, ok := strings.CutPrefix(string(comment[:min(len(comment), 200)]), "["+name+": ")
	if !ok {
		return 0, false
	}
	field, _, _ := strings.Cut(rest, " ")
	v, err := number(strings.TrimRight(field, "]"))
	return v, err == nil && v >= 0 && v < 9e9
}

// base is the epoch time of 0 in the lines, in ns, after HdrHistogram's own
// reader: the base time, or the start time where stamps are far below it.
func (x *hlog) base(start, base float64) (int64, string) {
	first := int64(math.MaxInt64)
	for _, lines := range x.lines {
		first = min(first, lines[0].start)
	}
	switch {
	case !math.IsNaN(base):
		return int64(math.Round(base * 1e9)), "times are relative to its base time"
	case math.IsNaN(start) && first < yearSeconds*1e9:
		return 0, "it says no start time: times are since an unknown start"
	case !math.IsNaN(start) && float64(first)/1e9 < start-yearSeconds:
		return int64(math.Round(start * 1e9)), "it says no base time: times are relative to its start time"
	}
	return 0, "it says no base time: times are since the epoch"
}

func (x *hlog) add(l *hdrlog.Line) error {
	h, err := x.compact(l)
	if err != nil {
		return err
	}
	if _, ok := x.lines[l.Tag]; !ok {
		if len(x.order) == mostSteps {
			return fmt.Errorf("more than %d tags", mostSteps)
		}
		x.order = append(x.order, l.Tag)
	}
	x.lines[l.Tag] = append(x.lines[l.Tag], hlogLine{start: l.StartNs, end: l.StartNs + l.LengthNs, h: h})
	x.buckets += len(h.Buckets)
	for len(x.lines[l.Tag]) > mostLines {
		x.halve(l.Tag)
	}
	for tries := 0; x.buckets > mostBuckets && tries < 20; tries++ {
		for _, tag := range x.order {
			x.halve(tag)
		}
	}
	if x.buckets > mostBuckets {
		return fmt.Errorf("more than %d buckets", mostBuckets)
	}
	return nil
}

// halve adds up pairs of neighbouring intervals.
func (x *hlog) halve(tag string) {
	lines := x.lines[tag]
	slices.SortStableFunc(lines, func(a, b hlogLine) int { return cmp.Compare(a.start, b.start) })
	out := lines[:0]
	for i := 0; i < len(lines); i += 2 {
		l := lines[i]
		if i+1 < len(lines) {
			m := lines[i+1]
			x.buckets -= len(l.h.Buckets) + len(m.h.Buckets)
			l.h, l.end = stats.Sum(l.h, m.h), max(l.end, m.end)
			x.buckets += len(l.h.Buckets)
		}
		out = append(out, l)
	}
	clear(lines[len(out):])
	x.lines[tag], x.coarser = out, true
}

// compact is a line's histogram in ns.
func (x *hlog) compact(l *hdrlog.Line) (stats.Compact, error) {
	cells := l.Cells
	if cells != nil {
		x.other = true
	} else {
		if x.unit == time.Nanosecond {
			return compactOf(l.Buckets)
		}
		for _, b := range l.Buckets {
			low, high := stats.Bounds(b.Index)
			cells = append(cells, hdrlog.Cell{Low: low, High: high, Count: b.Count})
		}
	}
	var buckets []stats.Bucket
	for _, c := range cells {
		if c.High > stats.MaxValue/int64(x.unit) {
			return stats.Compact{}, fmt.Errorf("a value of %d %s: beyond the range of 30 days; is the unit another one?", c.High, unitName(x.unit))
		}
		index := stats.Index(c.High * int64(x.unit))
		if n := len(buckets); n > 0 && buckets[n-1].Index == index {
			buckets[n-1].Count += c.Count
			continue
		}
		buckets = append(buckets, stats.Bucket{Index: index, Count: c.Count})
	}
	return compactOf(buckets)
}

// compactOf gives buckets the values that can be told from them.
func compactOf(b []stats.Bucket) (stats.Compact, error) {
	c := stats.Compact{Buckets: b}
	for i, x := range b {
		low, high := stats.Bounds(x.Index)
		high = min(high, stats.MaxValue)
		if i == 0 {
			c.Min = low
		}
		c.Max = high
		c.N += x.Count
		c.Sum += float64(x.Count) * (float64(low) + float64(high)) / 2
	}
	return c, c.Check()
}

// step lays the intervals of a tag one behind the other: gaps are empty
// intervals, and of two that overlap the earlier one ends where the later begins.
func (x *hlog) step(tag string, offset int64) (*analysis.StepDigest, error) {
	lines := x.lines[tag]
	slices.SortStableFunc(lines, func(a, b hlogLine) int { return cmp.Compare(a.start, b.start) })
	first := lines[0].start
	s := &analysis.StepDigest{Complete: true, StartNs: offset + first, Settings: map[string]string{}}
	at, seconds := time.Duration(0), true
	add := func(end time.Duration, h stats.Compact) {
		iv := analysis.Interval{Start: at, End: end, Scheduled: h.N}
		iv.Latency[analysis.Imported] = h
		s.Intervals = append(s.Intervals, iv)
		at = end
	}
	for i := 0; i < len(lines); {
		h, start, end := lines[i].h, time.Duration(lines[i].start-first), time.Duration(lines[i].end-first)
		j := i + 1
		for ; j < len(lines) && lines[j].start == lines[i].start; j++ { // of several threads
			h, end = stats.Sum(h, lines[j].h), max(end, time.Duration(lines[j].end-first))
		}
		if j < len(lines) {
			end = min(end, time.Duration(lines[j].start-first))
		}
		end = max(end, start+1)
		if start > at {
			add(start, stats.Compact{})
		}
		seconds = seconds && end-start <= time.Second
		second := int64(start / time.Second)
		add(end, h)
		s.Accounting.Scheduled += h.N
		for int64(len(s.ReceivedPerSecond)) <= second && second < int64(longestSpan/time.Second) {
			s.ReceivedPerSecond = append(s.ReceivedPerSecond, 0)
		}
		if second < int64(len(s.ReceivedPerSecond)) {
			s.ReceivedPerSecond[second] += h.N
		}
		s.Interval = max(s.Interval, end-start)
		i = j
	}
	s.Duration = at
	if s.Accounting.Scheduled == 0 {
		return nil, errNothing
	}
	if !seconds {
		s.ReceivedPerSecond = nil // what fell into which second is not known
	}
	s.Rate = float64(s.Accounting.Scheduled) / s.Duration.Seconds()
	a := &s.Accounting
	a.Attempted, a.Acked, a.Received, a.RecordsUsed = a.Scheduled, a.Scheduled, a.Scheduled, a.Scheduled
	return s, nil
}
