package main

import (
	"math"

	"queuebench/analysis"
	"queuebench/figure"
	"queuebench/internal/columns"
	"queuebench/site"
)

// overlayFigure is a figure of some of the runs.
type overlayFigure struct {
	figure.Figure
	runs []int
}

// overlayFigures are all runs in one figure, and a figure of the runs of each queue
// that has several beside other queues. Where the scale is free, it is logarithmic
// for latencies that are far apart.
func overlayFigures(all []analysis.Summary, labels []string, v analysis.View, free bool) []overlayFigure {
	draw := func(runs []int) overlayFigure {
		var some []analysis.Summary
		var names []string
		for _, i := range runs {
			some, names = append(some, all[i]), append(names, labels[i])
		}
		sum := overlaid(some, names)
		st := figure.Style{LogScale: v.LogScale || free && farApart(sum, v.Kind), Titled: true, Percentiles: v.Percentiles}
		return overlayFigure{figure.LatencyPerRate(sum, v.Kind, st), runs}
	}
	var every []int
	var kinds []string
	of := map[string][]int{}
	for i := range all {
		kind := all[i].Queue.Kind
		if of[kind] == nil {
			kinds = append(kinds, kind)
		}
		every, of[kind] = append(every, i), append(of[kind], i)
	}
	figures := []overlayFigure{draw(every)}
	for _, kind := range kinds {
		if len(of[kind]) == 1 || len(kinds) == 1 {
			continue
		}
		f := draw(of[kind])
		f.Name, f.Title = f.Name+"-"+site.SafeID(kind), f.Title+", "+columns.Clean(kind)
		figures = append(figures, f)
	}
	return figures
}

// widest is the ratio of medians up to which a linear axis shows all of them.
const widest = 20

// farApart says whether the medians of a latency have a ratio above widest.
func farApart(sum analysis.Summary, kind analysis.Kind) bool {
	lo, hi := int64(math.MaxInt64), int64(0)
	for _, s := range sum.Steps {
		if l := s.Latencies[kind.String()]; l.N > 0 {
			if q := l.Percentiles["50"]; !q.Beyond {
				lo, hi = min(lo, max(1, q.Ns)), max(hi, q.Ns)
			}
		}
	}
	return hi > 0 && float64(hi) > widest*float64(lo)
}
