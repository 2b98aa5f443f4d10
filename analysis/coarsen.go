package analysis

import (
	"time"

	"queuebench/stats"
)

// Coarsen returns a digest whose steps have about maxIntervals intervals at most:
// neighbours are added up until they do. Nothing but the resolution of time is
// lost. Edges that were cut apart from the grid, and that of the default
// warm-up, stay. Steps that are coarse enough are the same values.
func (d *Digest) Coarsen(maxIntervals int) *Digest {
	out := &Digest{Manifest: d.Manifest, Steps: make([]StepDigest, len(d.Steps))}
	for i := range d.Steps {
		out.Steps[i] = d.Steps[i]
		if len(d.Steps[i].Intervals) > maxIntervals && maxIntervals > 0 && d.Steps[i].Interval > 0 {
			out.Steps[i].coarsen(maxIntervals)
		}
	}
	return out
}

func (s *StepDigest) coarsen(most int) {
	fine, coarse := s.Interval, s.Interval
	for k := time.Duration(1); ; k *= 10 {
		found := false
		for _, m := range []time.Duration{1, 2, 5} {
			if coarse = fine * k * m; (s.Duration-1)/coarse < time.Duration(most) {
				found = true
				break
			}
		}
		if found {
			break
		}
	}
	warmup := DefaultWarmup(s.Duration)
	if own, _, has := s.ownWarmup(); has {
		warmup = own
	}
	var out []Interval
	for i := 0; i < len(s.Intervals); {
		j := i + 1
		for j < len(s.Intervals) {
			at := s.Intervals[j].Start
			if at%coarse == 0 || at%fine != 0 || at == warmup {
				break
			}
			j++
		}
		out = append(out, addIntervals(s.Intervals[i:j]))
		i = j
	}
	s.Interval, s.Intervals = coarse, out
}

// addIntervals adds up neighbours.
func addIntervals(parts []Interval) Interval {
	sum := Interval{Start: parts[0].Start, End: parts[len(parts)-1].End}
	for i := range parts {
		sum.Scheduled += parts[i].Scheduled
		sum.Unknown += parts[i].Unknown
		sum.Blocked += parts[i].Blocked
		for k := range NumKinds {
			sum.Infinite[k] += parts[i].Infinite[k]
		}
	}
	h := make([]stats.Compact, len(parts))
	for k := range numSeries {
		for i := range parts {
			h[i] = *parts[i].series(k)
		}
		*sum.series(k) = stats.Sum(h...)
	}
	return sum
}
