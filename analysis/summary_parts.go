package analysis

import (
	"fmt"
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

// seconds are the rows of the table seconds that lie within the cut.
func (c *cut) seconds() (rows []Second, spans []time.Duration) {
	for i := range c.step.Seconds {
		span := c.step.Span(i)
		if s := &c.step.Seconds[i]; span > 0 && s.At-span >= c.warmup-span/2 && s.At <= c.end+span/2 {
			rows, spans = append(rows, *s), append(spans, span)
		}
	}
	return rows, spans
}

// levels sums up the columns of the table seconds that any process told.
func (c *cut) levels() map[string]Level {
	rows, spans := c.seconds()
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

// recoveries times the step's recovery from each fault, by the rule of
// docs/method.md: seconds of the schedule, warm-up included, with what was due
// in them, what came in them, and the p99 of what was due in them.
func (c *cut) recoveries() []Recovery {
	var faults []Event
	for _, e := range c.step.Events {
		if e.Kind == "fault" && e.At >= 0 && e.At <= c.step.Duration {
			faults = append(faults, e)
		}
	}
	if len(faults) == 0 || c.step.Interval > time.Second {
		return nil
	}
	seconds := c.recoverySeconds()
	a := &c.step.Accounting
	var out []Recovery
	for _, e := range faults {
		r := Recovery{AtNs: int64(e.At), Text: e.Text, Consistent: a.Lost == 0 && a.Duplicates == 0}
		x := stats.Recovery(seconds, int64(faults[0].At), int64(e.At))
		if !math.IsNaN(x.Level) {
			r.LevelNs, r.Recovered, r.AfterNs = int64(x.Level), x.Found, x.After
		}
		out = append(out, r)
	}
	return out
}

// recoverySeconds are the whole seconds of the schedule.
func (c *cut) recoverySeconds() []stats.Second {
	var out []stats.Second
	s := c.step
	at := 0
	groups := int64(1)
	if c.run != nil {
		groups = int64(max(1, len(c.run.Groups)))
	}
	for i := range int(s.Duration / time.Second) {
		x := stats.Second{Start: int64(i) * 1e9, End: int64(i+1) * 1e9, P99: math.NaN()}
		first := at
		for at < len(s.Intervals) && s.Intervals[at].End <= time.Duration(x.End) {
			at++
		}
		if at > first {
			sum := addIntervals(s.Intervals[first:at])
			x.Scheduled = sum.Scheduled * groups
			k := s.main()
			if h := sum.Latency[k]; h.N+sum.Infinite[k] > 0 {
				ns, beyond := h.Quantile(0.99, sum.Infinite[k])
				if x.P99 = float64(ns); beyond {
					x.P99 = math.Inf(1)
				}
			}
		}
		if i < len(s.ReceivedPerSecond) {
			x.Received = s.ReceivedPerSecond[i]
		}
		out = append(out, x)
	}
	return out
}

// shares are those of a dimension.
func (b *Breakdown) shares(by string) []Share {
	return slices.DeleteFunc(slices.Clone(b.Shares), func(s Share) bool { return s.By != by })
}

// Text tells a recovery in words.
func (r Recovery) Line() string {
	at := formatDuration(time.Duration(r.AtNs).Round(time.Millisecond))
	switch {
	case r.LevelNs == 0:
		return fmt.Sprintf("%s at %s: fewer than %d whole seconds lie before it, so no recovery can be told", r.Text, at, stats.MinSecondsBefore)
	case !r.Recovered:
		return fmt.Sprintf("%s at %s: not recovered for at least %s, when the step ended", r.Text, at, FormatLatency(r.AfterNs))
	case r.AfterNs == 0:
		return fmt.Sprintf("%s at %s: did not show", r.Text, at)
	}
	return fmt.Sprintf("%s at %s: recovered after %s", r.Text, at, FormatLatency(r.AfterNs))
}
