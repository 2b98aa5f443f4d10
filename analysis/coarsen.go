package analysis

import (
	"slices"
	"time"

	"queuebench/stats"
)

// Coarsen returns a digest whose steps have about maxIntervals intervals at most:
// neighbours are added up until they do. Nothing but the resolution of time is
// lost. Edges that were cut apart from the grid, and that of the default
// warm-up, stay, and so do the intervals of a stall, so that what is found in d is
// found in what comes back; Fine has what else that takes. Steps that are coarse
// enough are the same values.
func (d *Digest) Coarsen(maxIntervals int) *Digest { return newCoarsener(d).to(maxIntervals) }

// coarsener makes a digest coarser, from one try to the next.
type coarsener struct {
	d    *Digest
	keep []moments // of each step, and what it loses; nil of one
	fine []*Fine   // that was not looked at yet
}

func newCoarsener(d *Digest) *coarsener {
	return &coarsener{d, make([]moments, len(d.Steps)), make([]*Fine, len(d.Steps))}
}

func (c *coarsener) to(most int) *Digest {
	out := &Digest{Manifest: c.d.Manifest, References: c.d.References, Steps: slices.Clone(c.d.Steps)}
	for i := range out.Steps {
		s := &out.Steps[i]
		if len(s.Intervals) <= most || most <= 0 || s.Interval <= 0 {
			continue
		}
		if c.fine[i] == nil {
			c.keep[i], c.fine[i] = keepMoments(c.d, &c.d.Steps[i]), newCut(c.d, &c.d.Steps[i], View{}, detail{}).keepFine()
		}
		s.coarsen(most, c.keep[i])
		s.Fine = c.fine[i]
	}
	return out
}

func (s *StepDigest) coarsen(most int, keep moments) {
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
	var out []Interval
	for i := 0; i < len(s.Intervals); {
		j := i + 1
		for j < len(s.Intervals) {
			at := s.Intervals[j].Start
			if at%coarse == 0 || at%fine != 0 || slices.Contains(keep.edges, at) {
				break
			}
			j++
		}
		out = append(out, addIntervals(s.Intervals[i:j]))
		i = j
	}
	s.Interval, s.Intervals = coarse, out
	s.Seconds = binnedSeconds(s.Seconds, s.secondsBin(), keep.near)
}

// addIntervals adds up neighbours.
func addIntervals(parts []Interval) Interval {
	if len(parts) == 1 {
		return parts[0]
	}
	sum := Interval{Start: parts[0].Start, End: parts[len(parts)-1].End}
	for i := range parts {
		sum.Scheduled += parts[i].Scheduled
		sum.Parts += parts[i].busy()
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

// busy is how many intervals of the grid before have a message of this one.
func (iv *Interval) busy() int64 {
	if iv.Parts > 0 {
		return iv.Parts
	}
	return min(1, iv.Scheduled)
}
