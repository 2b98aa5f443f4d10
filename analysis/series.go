package analysis

import (
	"time"

	"queuebench/stats"
)

// SeriesOf is the latency v.Kind of a step over time, a point per interval of
// the digest, the warm-up included: Series.Warmup says where it ends.
// Percentiles are per interval, never averaged, and shown whatever the number
// of messages in an interval.
func SeriesOf(s *StepDigest, v View) Series {
	k := v.keptOf(s)
	intervals := s.Intervals
	if v.Interval > s.Interval {
		intervals = grouped(intervals, v.Interval, k.warmup, k.until, k.from, k.to)
	}
	out := Series{
		Step: s.Step, Repeat: s.Repeat, Rate: s.Rate, Load: s.load(), Kind: v.Kind, Warmup: k.warmup, Duration: s.Duration, Window: v.windowOf(k),
		Percentiles: v.percentiles(), Points: make([]Point, 0, len(intervals)), Marks: marksOf(s),
	}
	for i := range intervals {
		iv := &intervals[i]
		p := point(iv.Start, iv.End, iv.Latency[v.Kind], iv.Infinite[v.Kind], out.Percentiles)
		p.Latency = iv.Latency[v.Kind]
		out.Points = append(out.Points, p)
	}
	if v.Kind == EndToEnd {
		out.Slowest = SlowestOf(s, v)
	}
	return out
}

// CumulativeOf is the latency v.Kind from the warm-up on, a point at the end of
// each interval of all that was intended until then: what a run that had been
// stopped there would have shown. The last point is the summary.
func CumulativeOf(s *StepDigest, v View) Series {
	k := v.keptOf(s)
	kept, warmup, end := k.intervals, k.from, k.to
	if v.Interval > s.Interval {
		kept = grouped(kept, v.Interval)
	}
	out := Series{
		Step: s.Step, Repeat: s.Repeat, Rate: s.Rate, Load: s.load(), Kind: v.Kind, Warmup: warmup, Duration: end, Window: v.windowOf(k), Cumulative: true, Marks: marksOf(s),
		Percentiles: v.percentiles(), Points: make([]Point, 0, len(kept)),
	}
	var sum stats.Compact
	var never int64
	for i := range kept {
		sum = stats.Sum(sum, kept[i].Latency[v.Kind])
		never += kept[i].Infinite[v.Kind]
		out.Points = append(out.Points, point(warmup, kept[i].End, sum, never, out.Percentiles))
	}
	return out
}

// ReadableInterval is a length of the points of a series that can be read: the
// smallest of 10, 20, 50, 100 ms, … 1 s that makes at most 100 of them, and 1 s
// for all longer steps. No shorter than the digest's own intervals.
func ReadableInterval(s *StepDigest) time.Duration {
	const most = 100
	for unit := minInterval; unit < time.Second; unit *= 10 {
		for _, m := range []time.Duration{1, 2, 5} {
			if s.Duration <= most*m*unit {
				return max(m*unit, s.Interval)
			}
		}
	}
	return max(time.Second, s.Interval)
}

func point(start, end time.Duration, h stats.Compact, never int64, percentiles []float64) Point {
	p := Point{Start: start, End: end, N: h.N + never, MinNs: h.Min, MaxNs: h.Max, Ns: make([]int64, len(percentiles))}
	if p.N == 0 {
		return p
	}
	for j, percent := range percentiles {
		ns, beyond := h.Quantile(stats.FromPercent(percent), never)
		if beyond {
			ns = -1
		}
		p.Ns[j] = ns
	}
	return p
}
