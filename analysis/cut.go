package analysis

import (
	"fmt"
	"time"

	"queuebench/rawlog"
	"queuebench/stats"
)

// cut is a step under a view: what lies after the warm-up, added up.
type cut struct {
	digest *Digest
	step   *StepDigest
	// run is the manifest's own entry of the step; nil when it has none.
	run  *rawlog.Step
	view View
	// What is kept lies from warmup, or from the window's beginning after it, to
	// end.
	warmup, end time.Duration
	kept        []Interval
	// The warm-up as asked and as cut, and where the cool-down begins.
	asked, warmupEdge, until time.Duration
	rule                     string // of the warm-up
	total                    [NumKinds]stats.Compact
	never                    [NumKinds]int64 // infinite
	ownLag                   stats.Compact
	blocks                   int64
	steady                   Steady
	stalled                  []int    // indexes into kept of the intervals that make the tail
	binned                   []Second // see bins
	summary                  StepSummary
}

// newCut cuts a step and describes what is left.
func newCut(d *Digest, s *StepDigest, v View, with detail) *cut {
	c := cutStep(d, s, v)
	c.describe(with)
	return c
}

// cutStep cuts a step and adds up what is left.
func cutStep(d *Digest, s *StepDigest, v View) *cut {
	own := *s
	own.commitInterval = commitIntervalOf(&d.Manifest, s)
	s = &own
	c := &cut{digest: d, step: s, view: v}
	for i := range d.Manifest.Steps {
		if m := &d.Manifest.Steps[i]; m.Step == s.Step && m.Repeat == s.Repeat {
			c.run = m
		}
	}
	k := v.keptOf(s)
	c.rule = k.rule
	c.asked, c.warmupEdge, c.until = k.asked, k.warmup, k.until
	c.kept, c.warmup, c.end = k.intervals, k.from, k.to
	if c.warmupEdge != c.asked && len(c.kept) > 0 {
		c.rule += fmt.Sprintf(", moved from %s to the next edge of the intervals", formatDuration(c.asked))
	}
	c.total, c.never, c.ownLag = addUp(c.kept)
	c.blocks = c.countBlocks()
	return c
}

// windowed is the window as cut; nil where the view has none.
func (c *cut) windowed() *Window {
	if !c.view.Windowed() {
		return nil
	}
	return &Window{FromNs: int64(c.warmup), ToNs: int64(c.end)}
}

// tells says whether a latency belongs into the summary of the step.
func (c *cut) tells(k Kind) bool {
	if (k >= ToBroker && k <= Imported) && c.total[k].N == 0 || c.step.tails() && k != BrokerToConsumer {
		return false
	}
	return !c.step.imported() || c.total[k].N+c.never[k] > 0 // what the tool did not measure
}

func (c *cut) describe(with detail) {
	d, s := c.digest, c.step
	a := s.Accounting
	a.RecordsUsed = 0
	for i := range c.kept {
		a.RecordsUsed += c.kept[i].Scheduled - c.kept[i].Unknown
	}
	a.RecordsTrimmed = s.Accounting.RecordsUsed + s.Accounting.RecordsTrimmed - a.RecordsUsed
	c.summary = StepSummary{
		Step: s.Step, Rate: s.Rate, Repeat: s.Repeat, Variant: variant(s), Settings: settings(d, s), Complete: s.Complete, Failure: s.Failure,
		WarmupNs: int64(c.warmupEdge), WarmupRule: c.rule, CooldownNs: int64(s.Duration - c.until), DurationNs: int64(s.Duration), IntervalNs: int64(s.Interval),
		Accounting: a, Throughput: c.throughput(), Latencies: map[string]LatencySummary{}, Findings: []Finding{},
	}
	c.summary.Window = c.windowed()
	c.summary.groups = c.groups()
	c.summary.Imported = s.imported()
	if c.summary.Durability = d.Manifest.Queue.Durability; c.run != nil && c.run.Durability != "" {
		c.summary.Durability = c.run.Durability
	}
	c.summary.Loop, c.summary.Tail, c.summary.Stages = c.closedLoop(), c.tailed(), c.stages()
	if s.drains() {
		c.summary.Drain = s.Own.Drain
	}
	for k := range NumKinds {
		if c.tells(k) {
			l := c.latency(k)
			if with.intervals != nil && with.intervals(s, k) {
				c.interval(k, &l)
			}
			c.summary.Latencies[k.String()] = l
		}
	}
	c.summary.Stamps = s.Stamps
	if with.untrimmed {
		c.summary.Untrimmed = c.untrimmed()
	}
	levels, every := c.levels()
	c.summary.Levels, c.summary.LevelsEveryNs = levels, int64(every)
	c.summary.Breakdown = c.breakdown()
	c.summary.Recoveries = c.recoveries()
	c.steady = s.steadyState(c.until)
	if c.steady.Found {
		from := int64(c.steady.From)
		c.summary.SteadyNs = &from
	}
}
