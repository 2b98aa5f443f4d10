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
	asked, _ := v.warmupOf(s)
	_, warmup := afterWarmup(s, asked)
	out := Series{
		Step: s.Step, Repeat: s.Repeat, Rate: s.Rate, Kind: v.Kind, Warmup: warmup, Duration: s.Duration,
		Percentiles: v.percentiles(), Points: make([]Point, 0, len(s.Intervals)),
	}
	for i := range s.Intervals {
		iv := &s.Intervals[i]
		out.Points = append(out.Points, point(iv.Start, iv.End, iv.Latency[v.Kind], iv.Infinite[v.Kind], out.Percentiles))
	}
	return out
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
