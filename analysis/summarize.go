package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"queuebench/stats"
)

// ErrNoData: a log without a message.
var ErrNoData = errors.New("no data")

// ErrWarmup: a warm-up that leaves nothing of a step.
var ErrWarmup = errors.New("the warm-up is as long as the step")

// Check tells whether v leaves something of every step that ran, and its window
// something of any: the error is ErrWarmup with the step, its length and what to
// change, ErrWindow, or ErrNoData.
func (v View) Check(d *Digest) error {
	if err := v.CheckWindow(); err != nil {
		return err
	}
	var scheduled int64
	var ran, seen int
	for i := range d.Steps {
		s := &d.Steps[i]
		scheduled += s.Accounting.Scheduled + s.Accounting.Received
		if w, _ := v.warmupOf(s); w+v.Cooldown > 0 && w+v.Cooldown >= s.Duration && s.Failure == "" {
			what := "warm-up " + formatDuration(w)
			if v.Cooldown > 0 {
				what += " and cool-down " + formatDuration(v.Cooldown)
			}
			return fmt.Errorf("step %d (%s msg/s, %s long), %s: %w; give a shorter --warmup, or run longer",
				s.Step, FormatRate(s.Rate), formatDuration(s.Duration), what, ErrWarmup)
		}
		if len(s.Intervals) > 0 {
			if ran++; len(v.keptOf(s).intervals) > 0 {
				seen++
			}
		}
	}
	if scheduled == 0 && len(d.References) == 0 {
		return fmt.Errorf("run %s: %w: no step has a message", d.Manifest.Run, ErrNoData)
	}
	if v.Windowed() && ran > 0 && seen == 0 {
		return fmt.Errorf("run %s: %w from %s on: no step has a message there that the warm-up leaves; move --from and --to", d.Manifest.Run, ErrWindow, formatDuration(v.From))
	}
	return nil
}

// Summarize computes a summary of d under v. It never fails: what cannot be
// told is a finding.
func Summarize(d *Digest, v View) Summary {
	return summarize(d, v, detail{untrimmed: true, intervals: func(*StepDigest, Kind) bool { return true }})
}

// SummarizePage is Summarize without Untrimmed, which no page shows, and with the
// intervals of percentiles, which cost more than all else, of those latencies
// that are shown. None are where shown is nil: a comparison has intervals of its
// own.
func SummarizePage(d *Digest, v View, shown func(s *StepDigest, k Kind) bool) Summary {
	return summarize(d, v, detail{intervals: shown})
}

// detail is what not every reader of a summary looks at. The zero value leaves
// all of it out.
type detail struct {
	untrimmed bool                             // the latencies without a cut
	intervals func(s *StepDigest, k Kind) bool // of percentiles: whether a latency has them
}

func summarize(d *Digest, v View, with detail) Summary {
	m := &d.Manifest
	sum := Summary{
		Schema: SummarySchema, Run: m.Run, Complete: m.Complete, StartedNs: m.StartedNs,
		Queue: m.Queue, Store: m.Store, LogStore: m.LogStore, Host: m.Host, Program: m.Program, Processes: m.Processes,
		Warnings: append([]string{}, m.Warnings...), Steps: []StepSummary{}, Findings: []Finding{},
		Imports: m.Imports, References: d.References,
	}
	cuts := make([]*cut, 0, len(d.Steps))
	for i := range d.Steps {
		c := newCut(d, &d.Steps[i], v, with)
		c.judge()
		cuts = append(cuts, c)
		sum.Steps = append(sum.Steps, c.summary)
	}
	sum.Scaling = scalings(sum.Steps)
	sum.Findings = runFindings(d, cuts)
	return sum
}

// settings are those of the run, and over them those of the step.
func settings(d *Digest, s *StepDigest) map[string]string {
	all := make(map[string]string, len(d.Manifest.Settings)+len(s.Settings))
	maps.Copy(all, d.Manifest.Settings)
	maps.Copy(all, s.Settings)
	return all
}

// variant is what sets a step apart beside its rate: its own settings, without
// what is no text, since it names the step wherever it is shown.
func variant(s *StepDigest) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(s.Settings)) {
		if name != "rate" {
			parts = append(parts, name+" "+s.Settings[name])
		}
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(strings.Join(parts, ", "), ""))
}

// afterWarmup returns the intervals from the first edge at or after the warm-up
// on, and that edge.
func afterWarmup(s *StepDigest, warmup time.Duration) ([]Interval, time.Duration) {
	i, _ := slices.BinarySearchFunc(s.Intervals, warmup, func(iv Interval, w time.Duration) int {
		return cmp.Compare(iv.Start, w)
	})
	if i == len(s.Intervals) {
		return nil, warmup
	}
	return s.Intervals[i:], s.Intervals[i].Start
}

// within returns the intervals from the first edge at or after the warm-up on to
// the last one at or before end, and these edges.
func within(s *StepDigest, warmup, end time.Duration) ([]Interval, time.Duration, time.Duration) {
	kept, warmup := afterWarmup(s, warmup)
	if end >= s.Duration {
		return kept, warmup, s.Duration
	}
	n := 0
	for n < len(kept) && kept[n].End <= end {
		n++
	}
	if n > 0 {
		end = kept[n-1].End
	}
	return kept[:n], warmup, max(warmup, end)
}

// addUp adds the histograms of intervals.
func addUp(intervals []Interval) (total [NumKinds]stats.Compact, never [NumKinds]int64, own stats.Compact) {
	parts := make([]stats.Compact, len(intervals))
	for k := range numSeries {
		for i := range intervals {
			parts[i] = *intervals[i].series(k)
			if k < ownSeries {
				never[k] += intervals[i].Infinite[k]
			}
		}
		if k == ownSeries {
			own = stats.Sum(parts...)
		} else {
			total[k] = stats.Sum(parts...)
		}
	}
	return total, never, own
}

// known is the end of the last interval of the step of which something is known;
// 0 for none.
func (c *cut) known() (end time.Duration) {
	for i := range c.step.Intervals {
		if iv := &c.step.Intervals[i]; iv.Scheduled > iv.Unknown {
			end = iv.End
		}
	}
	return end
}

// countBlocks is the number of independent blocks after the cut: commits in
// proportion to the time, but no more than commit intervals, since a queue that
// catches up makes many small commits at once; where nothing is known of
// commits, the intervals with a message. Messages of one block wait together,
// so they are one observation rather than many.
func (c *cut) countBlocks() int64 {
	whole := c.step.Duration
	if !c.step.Complete { // what is known of it
		whole = c.known()
	}
	kept := min(c.end, whole) - c.warmup
	if kept <= 0 {
		return 0
	}
	if c.step.closed() {
		return c.closedBlocks()
	}
	if c.step.tails() {
		return c.tailBlocks(kept, whole)
	}
	commits, interval := c.step.Commits.Commits, c.step.commitInterval
	n := int64(math.MaxInt64)
	if commits > 0 {
		n = int64(float64(commits) * float64(kept) / float64(whole))
	}
	if interval > 0 {
		n = min(n, int64(kept/interval))
	}
	if commits > 0 || interval > 0 {
		return n
	}
	n = 0
	for i := range c.kept {
		n += c.kept[i].busy()
	}
	return n
}

func (c *cut) latency(k Kind) LatencySummary { return c.latencyOf(k, c.total[k], c.never[k], c.blocks) }

// latencyOf is the latency k of some of the step's messages.
func (c *cut) latencyOf(k Kind, h stats.Compact, never, blocks int64) LatencySummary {
	l := LatencySummary{
		N: h.N + never, Infinite: never, MinNs: h.Min, MeanNs: int64(h.Mean()), MaxNs: h.Max,
		Percentiles: map[string]Percentile{},
	}
	// Where nothing was acknowledged there is no publish latency to rank.
	if l.N == 0 || k == Publish && h.N == 0 {
		return l
	}
	// Where no end-to-end latency can be told, those that are infinite are no
	// sample of it.
	if c.step.NoEndToEnd != "" && (k == EndToEnd || k == EndToEndFromSend) {
		return LatencySummary{Percentiles: map[string]Percentile{}}
	}
	for _, p := range c.view.percentiles() {
		q := stats.FromPercent(p)
		ns, beyond := h.Quantile(q, never)
		if beyond {
			ns = max(ns, c.deadline())
		}
		l.Percentiles[FormatPercent(p)] = Percentile{Ns: ns, Supported: stats.Supported(q, l.N, blocks), Beyond: beyond, Imported: c.step.imported()}
	}
	return l
}

// deadline is how long the last message of the schedule was waited for, in ns:
// the least that is known about one that never came.
func (c *cut) deadline() int64 {
	if c.run == nil {
		return 0
	}
	return max(0, c.run.DeadlineNs-c.step.StartNs-int64(c.step.Duration))
}

// throughput is that of what is kept; of a window without a whole second none is
// told.
func (c *cut) throughput() Throughput {
	t := throughput(c.step, c.warmup, c.end)
	if c.view.Windowed() && t.Seconds == 0 {
		return Throughput{}
	}
	return t
}

// throughput counts whole seconds of the schedule only: one that the warm-up or
// the end cuts into is left out, since it would look like a dip. A second in
// which nothing came is 0, at the end too, but in a step that is not complete:
// there it is not known, and the last second with a delivery may be a piece. A
// step that has no whole second after the cut gives the mean of the whole step
// and no spread.
func throughput(s *StepDigest, warmup, end time.Duration) Throughput {
	seconds := min(int(end/time.Second), maxSeconds)
	if !s.Complete {
		seconds = min(seconds, len(s.ReceivedPerSecond)-1)
	}
	var x []float64
	for i := int((warmup + time.Second - 1) / time.Second); i < seconds; i++ {
		n := int64(0)
		if i < len(s.ReceivedPerSecond) {
			n = s.ReceivedPerSecond[i]
		}
		x = append(x, float64(n))
	}
	if len(x) > 0 {
		mean, sd, cov := stats.Moments(x)
		return Throughput{ReceivedPerS: mean, SD: sd, CoV: cov, Seconds: len(x)}
	}
	var total int64
	for _, n := range s.ReceivedPerSecond {
		total += n
	}
	whole := s.Duration
	if !s.Complete { // as far as it is known
		whole = min(whole, time.Duration(len(s.ReceivedPerSecond))*time.Second)
	}
	if whole <= 0 {
		return Throughput{}
	}
	return Throughput{ReceivedPerS: float64(total) / whole.Seconds()}
}
