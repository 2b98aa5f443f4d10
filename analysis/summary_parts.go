package analysis

import (
	"math"
	"slices"
	"time"

	"queuebench/stats"
)

// untrimmed are the latencies of the whole step.
func (c *cut) untrimmed() map[string]LatencySummary {
	total, never, _ := addUp(c.step.Intervals)
	out := map[string]LatencySummary{}
	for name := range c.summary.Latencies {
		k, err := ParseKind(name)
		if err != nil {
			continue
		}
		whole := *c
		whole.kept, whole.warmup, whole.end = c.step.Intervals, 0, c.step.Duration
		out[name] = whole.latencyOf(k, total[k], never[k], whole.countBlocks())
	}
	return out
}

// Kept are the intervals of s, the step of a digest, that lie within the cut of
// its summary.
func (x *StepSummary) Kept(s *StepDigest) []Interval {
	from, to := x.KeptNs()
	return between(s, time.Duration(from), time.Duration(to))
}

// seconds are the rows of the table seconds that lie within the cut.
func (c *cut) seconds() (rows []Second, spans []time.Duration) {
	return rowsWithin(c.step.Seconds, c.warmup, c.end)
}

// levels sums up the columns of the table seconds that any process told, and says
// over how long the longest row is, where it is longer than a second.
func (c *cut) levels() (out map[string]Level, every time.Duration) {
	rows, spans := c.seconds()
	if longest := slices.Max(append(spans, 0)); longest > 3*time.Second/2 {
		every = longest.Round(time.Second)
	}
	return c.levelsOf(rows, spans), every
}

// levelsOf sums up columns of rows.
func (c *cut) levelsOf(rows []Second, spans []time.Duration) map[string]Level {
	if len(rows) == 0 {
		return nil
	}
	out := map[string]Level{}
	for i := range secondColumns {
		col := &secondColumns[i]
		if !c.step.Tells(col.Name) {
			continue
		}
		l := Level{PerSecond: !col.level && !col.largest, Min: math.Inf(1), Max: math.Inf(-1)}
		x := make([]float64, len(rows))
		for j := range rows {
			x[j] = float64(*col.of(&rows[j]))
			if l.PerSecond {
				x[j] /= spans[j].Seconds()
			}
			l.Min, l.Max, l.Last = min(l.Min, x[j]), max(l.Max, x[j]), x[j]
		}
		l.Mean, l.SD, l.CoV = stats.Moments(x)
		out[col.Name] = l
	}
	return out
}

// breakdown sums up the shares of the step; nil where there are none.
func (c *cut) breakdown() *BreakdownSummary {
	b := &c.step.Breakdown
	if len(b.Shares) == 0 {
		return nil
	}
	out := &BreakdownSummary{FromNs: int64(b.From), ToNs: int64(b.To), Left: b.Left}
	for i := range b.Shares {
		x := &b.Shares[i]
		s := ShareSummary{By: x.By, Key: x.Key, Folded: x.Folded, Latencies: map[string]LatencySummary{}}
		for k := range NumKinds {
			if x.Latency[k].N+x.Infinite[k] > 0 {
				s.Latencies[k.String()] = c.latencyOf(k, x.Latency[k], x.Infinite[k], c.blocks)
			}
		}
		out.Shares = append(out.Shares, s)
	}
	return out
}

// shares are those of a dimension.
func (b *Breakdown) shares(by string) []Share {
	return slices.DeleteFunc(slices.Clone(b.Shares), func(s Share) bool { return s.By != by })
}
