package analysis

import (
	"slices"
	"time"

	"queuebench/stats"
)

// Coarsen returns a digest whose steps have about maxIntervals intervals at most:
// neighbours are added up until they do. Nothing but the resolution of time is
// lost. Edges that were cut apart from the grid, and that of the default
// warm-up, stay. Steps that are coarse enough are the same values.
func (d *Digest) Coarsen(maxIntervals int) *Digest {
	out := &Digest{Manifest: d.Manifest, References: d.References, Steps: make([]StepDigest, len(d.Steps))}
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
	keep := []time.Duration{warmup, s.Breakdown.From, s.Breakdown.To}
	for i := 0; i < len(s.Intervals); {
		j := i + 1
		for j < len(s.Intervals) {
			at := s.Intervals[j].Start
			if at%coarse == 0 || at%fine != 0 || slices.Contains(keep, at) {
				break
			}
			j++
		}
		out = append(out, addIntervals(s.Intervals[i:j]))
		i = j
	}
	s.Interval, s.Intervals = coarse, out
	s.Seconds = fewerSeconds(s.Seconds)
}

// maxSecondRows is how many rows of the table seconds a coarse digest has at
// most.
const maxSecondRows = 600

// fewerSeconds joins neighbouring rows until there are no more than
// maxSecondRows: counts are added, a level is that at the end.
func fewerSeconds(rows []Second) []Second {
	k := (len(rows) + maxSecondRows - 1) / maxSecondRows
	if k <= 1 {
		return rows
	}
	var out []Second
	for i := 0; i < len(rows); i += k {
		sum := rows[i]
		for j := i + 1; j < min(i+k, len(rows)); j++ {
			sum.follow(&rows[j])
		}
		out = append(out, sum)
	}
	return out
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
