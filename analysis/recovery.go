package analysis

import (
	"fmt"
	"math"
	"time"

	"queuebench/stats"
)

// recoveries times the step's recovery from each fault, by the rule of
// docs/method.md: seconds of the schedule, warm-up included, with what was due
// in them, what came in them, and the p99 of what was due in them. What comes
// after the next fault is that fault's. A closed loop asks for less when its
// queue stands still, so none is told of it.
func (c *cut) recoveries() []Recovery {
	if c.step.closed() || c.step.drains() || c.step.tails() {
		return nil
	}
	var faults []Event
	first := time.Duration(math.MaxInt64)
	for _, e := range c.step.Events {
		if e.Kind == "fault" && e.At >= 0 && e.At <= c.step.Duration {
			faults = append(faults, e)
			first = min(first, e.At)
		}
	}
	if len(faults) == 0 {
		return nil
	}
	seconds := c.recoverySeconds()
	a := &c.step.Accounting
	var out []Recovery
	for _, e := range faults {
		r := Recovery{AtNs: int64(e.At), Text: e.Text, Consistent: a.Lost == 0 && a.Duplicates == 0}
		end := int64(math.MaxInt64)
		for _, other := range faults {
			if other.At > e.At {
				end = min(end, int64(other.At))
			}
		}
		until := seconds
		for len(until) > 0 && until[len(until)-1].End > end {
			until = until[:len(until)-1]
		}
		x := stats.Recovery(until, int64(first), int64(e.At))
		if !math.IsNaN(x.Level) && !math.IsInf(x.Level, 0) && x.Level > 0 {
			r.LevelNs, r.Recovered, r.AfterNs = int64(x.Level), x.Found, x.After
			r.NextFault = !x.Found && end != math.MaxInt64
		}
		out = append(out, r)
	}
	return out
}

// recoverySeconds are the whole seconds of the schedule, as far as they are
// known. What is due in a second is in all intervals that begin in it; where they
// are longer than a second, each second has its share of the messages, and the p99
// of the interval.
func (c *cut) recoverySeconds() []stats.Second {
	s := c.step
	if f := s.Fine; f != nil {
		return f.recoverySeconds(s.ReceivedPerSecond)
	}
	n := min(int(s.Duration/time.Second), maxSeconds)
	if !s.Complete {
		n = min(n, len(s.ReceivedPerSecond)-1)
	}
	out := make([]stats.Second, 0, max(0, n))
	for i, at := 0, 0; i < n; i++ {
		from, to := time.Duration(i)*time.Second, time.Duration(i+1)*time.Second
		x := stats.Second{Start: int64(from), End: int64(to), P99: math.NaN()}
		for at < len(s.Intervals) && s.Intervals[at].End <= from {
			at++
		}
		var due float64
		var parts []stats.Compact
		var never int64
		for k := at; k < len(s.Intervals) && s.Intervals[k].Start < to; k++ {
			iv := &s.Intervals[k]
			inside := min(iv.End, to) - max(iv.Start, from)
			due += float64(iv.Scheduled) * float64(inside) / float64(iv.End-iv.Start)
			parts = append(parts, iv.Latency[EndToEnd])
			never += iv.Infinite[EndToEnd]
		}
		x.Scheduled = int64(math.Round(due)) * int64(c.groups())
		if i < len(s.ReceivedPerSecond) {
			x.Received = s.ReceivedPerSecond[i]
		}
		if h := stats.Sum(parts...); h.N+never > 0 {
			ns, beyond := h.Quantile(0.99, never)
			if x.P99 = float64(ns); beyond {
				x.P99 = math.Inf(1)
			}
		}
		out = append(out, x)
	}
	return out
}

// recoverySeconds are those that were kept.
func (f *Fine) recoverySeconds(received []int64) []stats.Second {
	var out []stats.Second
	for i := range f.Due {
		x := stats.Second{Start: int64(i) * 1e9, End: int64(i+1) * 1e9, Scheduled: f.Due[i], P99: fromNs(f.P99[i])}
		if i < len(received) {
			x.Received = received[i]
		}
		out = append(out, x)
	}
	return out
}

// Line tells a recovery in words.
func (r Recovery) Line() string {
	at := formatDuration(time.Duration(r.AtNs).Round(time.Millisecond))
	switch {
	case r.LevelNs == 0:
		return fmt.Sprintf("%s at %s: fewer than %d whole seconds lie before it, so no recovery can be told", r.Text, at, stats.MinSecondsBefore)
	case r.NextFault:
		return fmt.Sprintf("%s at %s: not recovered for at least %s, when the next fault struck", r.Text, at, FormatLatency(r.AfterNs))
	case !r.Recovered:
		return fmt.Sprintf("%s at %s: not recovered for at least %s, when the step ended", r.Text, at, FormatLatency(r.AfterNs))
	case r.AfterNs == 0:
		return fmt.Sprintf("%s at %s: did not show", r.Text, at)
	}
	return fmt.Sprintf("%s at %s: recovered after %s", r.Text, at, FormatLatency(r.AfterNs))
}
