package analysis

import (
	"fmt"
	"slices"
	"time"

	"queuebench/rawlog"
	"queuebench/stats"
)

// Span is a repeat of a step, and when it was under load.
type Span struct {
	Step, Repeat int
	StartNs      int64 // ns since the epoch, on the run's axis
	Duration     time.Duration
	// Warmup is the warm-up that was asked for when the step ran, since StartNs; 0
	// for none.
	Warmup time.Duration
}

// End is when the load ended, ns since the epoch.
func (s Span) End() int64 { return s.StartNs + int64(s.Duration) }

// margin is what of a step lies before and after the span that it is read as.
type margin struct{ before, after time.Duration }

// narrow makes a step the span that Options has for it: its schedule then begins
// and ends there, and what lies outside is counted in intervals of its own, see
// trim. nil where the step is read as it is.
func (o *Options) narrow(s *StepDigest, planned *rawlog.Step) (*margin, *rawlog.Step, error) {
	i := slices.IndexFunc(o.Spans, func(x Span) bool { return x.Step == s.Step && x.Repeat == s.Repeat })
	if i < 0 {
		return nil, planned, nil
	}
	x := o.Spans[i]
	m := &margin{time.Duration(x.StartNs - s.StartNs), time.Duration(s.StartNs + int64(s.Duration) - x.End())}
	switch {
	case x.Duration <= 0 || m.before < 0 || m.after < 0:
		return nil, nil, fmt.Errorf("a span of %s from %d on is no part of the step, which has %s from %d on", formatDuration(x.Duration), x.StartNs, formatDuration(s.Duration), s.StartNs)
	case isTail(planned):
		return nil, nil, fmt.Errorf("a tail has no schedule of which a span could be read")
	}
	s.StartNs, s.Duration = x.StartNs, x.Duration
	if planned != nil {
		own := *planned
		own.WarmupNs = int64(x.Warmup)
		planned = &own
	}
	return m, planned, nil
}

// around puts an interval before a grid and one behind it, for what lies there.
func (m *margin) around(grid []Interval, d time.Duration) []Interval {
	if m == nil {
		return grid
	}
	if m.before > 0 {
		grid = slices.Insert(grid, 0, Interval{Start: -m.before})
	}
	if m.after > 0 {
		grid = append(grid, Interval{Start: d, End: d + m.after})
	}
	return grid
}

// inside tells whether a time since the step's start lies in it, rather than in
// the margins.
func (s *StepDigest) inside(at time.Duration) bool { return at >= 0 && at < s.Duration }

// trim takes off what lies in the margins. Its messages stay in the accounting,
// as trimmed ones; of the series there are only the seconds of the span.
func (m *margin) trim(s *StepDigest) {
	if m == nil {
		return
	}
	s.Intervals = slices.DeleteFunc(s.Intervals, func(iv Interval) bool {
		if s.inside(iv.Start) {
			return false
		}
		n := iv.Scheduled - iv.Unknown
		s.Accounting.RecordsUsed -= n
		s.Accounting.RecordsTrimmed += n
		return true
	})
	seconds := int((s.Duration + time.Second - 1) / time.Second)
	s.ReceivedPerSecond = s.ReceivedPerSecond[:min(len(s.ReceivedPerSecond), seconds)]
	s.CommitsPerSecond = s.CommitsPerSecond[:min(len(s.CommitsPerSecond), seconds)]
	s.Seconds = slices.DeleteFunc(s.Seconds, func(x Second) bool { return x.At <= 0 || x.At > s.Duration })
	before := len(s.Events)
	s.Events = slices.DeleteFunc(s.Events, func(e Event) bool { return !s.inside(e.At) })
	if n := before - len(s.Events); n > 0 {
		s.Events = append(s.Events, Event{At: s.Duration, Actor: "analysis", Kind: "note", Text: plural(int64(n), "event") + " outside of the span of the step are in the raw log"})
	}
}

// batchSums are what the medians of a step's batches are taken from: kept of a
// step that is to be added to others, since medians cannot be.
type batchSums struct {
	bytes, put, commit, fetch stats.Compact
	stages                    stageSums
}

func (b *batchSums) add(o *batchSums) {
	b.bytes, b.put = stats.Sum(b.bytes, o.bytes), stats.Sum(b.put, o.put)
	b.commit, b.fetch = stats.Sum(b.commit, o.commit), stats.Sum(b.fetch, o.fetch)
	for i := range b.stages {
		b.stages[i] = stats.Sum(b.stages[i], o.stages[i])
	}
}

// medians writes the medians into a step.
func (b *batchSums) medians(s *StepDigest) {
	median := func(h stats.Compact) int64 { ns, _ := h.Quantile(0.5, 0); return ns }
	s.Stages = b.stages.stats()
	s.Commits.MedianBytes, s.Commits.MedianPutNs = median(b.bytes), median(b.put)
	s.Commits.MedianCommit, s.Commits.MedianFetchNs = median(b.commit), median(b.fetch)
}
