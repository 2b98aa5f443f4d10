package figure

import (
	"math"
	"time"

	"queuebench/analysis"
)

// vertex is a point of a line: seconds and ns.
type vertex struct{ x, ns float64 }

// trace is one value over time, ready to be drawn: runs without a gap, and the
// times at which the value lies beyond any height.
type trace struct {
	runs     [][]vertex
	infinite []float64
	// columns is the number of columns that the points were gathered in; 0
	// where each point is drawn.
	columns int
}

// read says what a point has to show: nothing, a value, or a message that
// never came.
type read func(p analysis.Point) (ns float64, state pointState)

type pointState int

const (
	blank pointState = iota
	valued
	infinite
)

func percentileOf(i int) read {
	return func(p analysis.Point) (float64, pointState) {
		switch {
		case p.N == 0 || i >= len(p.Ns):
			return 0, blank
		case p.Ns[i] == -1:
			return 0, infinite
		}
		return float64(p.Ns[i]), valued
	}
}

// extremes says whether a point has a minimum and a maximum: one whose messages
// all got lost has none.
func extremes(p analysis.Point) bool {
	if p.N == 0 {
		return false
	}
	if p.MinNs != 0 || p.MaxNs != 0 {
		return true
	}
	for _, ns := range p.Ns {
		if ns != -1 {
			return true
		}
	}
	return len(p.Ns) == 0
}

func maximum(p analysis.Point) (float64, pointState) {
	if !extremes(p) {
		return 0, blank
	}
	return float64(p.MaxNs), valued
}

func middle(p analysis.Point) float64 { return ((p.Start + p.End) / 2).Seconds() }

// traceOf reads a value from each point. With more points than MaxVertices
// allows, neighbours share a column, of which the lowest and the highest value
// are kept where they were: a peak stays, and nothing is averaged.
func traceOf(points []analysis.Point, value read) trace {
	columns := columnsOf(points, MaxVertices/2)
	t := trace{}
	if len(columns) < len(points) {
		t.columns = len(columns)
	}
	var run []vertex
	var firstWidth time.Duration
	flush := func() {
		if len(run) == 1 {
			// A lone point between two gaps is drawn as wide as its interval.
			half := firstWidth.Seconds() / 2
			v := run[0]
			run = []vertex{{v.x - half, v.ns}, {v.x + half, v.ns}}
		}
		if len(run) > 0 {
			t.runs = append(t.runs, run)
		}
		run = nil
	}
	for _, column := range columns {
		lo, hi := vertex{ns: math.Inf(1)}, vertex{ns: math.Inf(-1)}
		found, gap, inf := false, false, false
		for _, p := range column {
			ns, state := value(p)
			switch state {
			case blank:
				gap = true
				continue
			case infinite:
				if !inf {
					t.infinite = append(t.infinite, middle(p))
				}
				inf, gap = true, true
				continue
			}
			if !found && len(run) == 0 {
				firstWidth = p.End - p.Start
			}
			found = true
			if ns < lo.ns {
				lo = vertex{middle(p), ns}
			}
			if ns > hi.ns {
				hi = vertex{middle(p), ns}
			}
		}
		if gap {
			flush()
		}
		switch {
		case !found:
		case lo.x == hi.x:
			run = append(run, lo)
		case lo.x < hi.x:
			run = append(run, lo, hi)
		default:
			run = append(run, hi, lo)
		}
	}
	flush()
	return t
}

// columnsOf cuts points into at most n runs of neighbours, of equal length.
func columnsOf(points []analysis.Point, n int) [][]analysis.Point {
	per := max(1, (len(points)+n-1)/n)
	var out [][]analysis.Point
	for len(points) > 0 {
		k := min(per, len(points))
		out = append(out, points[:k:k])
		points = points[k:]
	}
	return out
}

// bandVertex is a column of the band between minimum and maximum.
type bandVertex struct{ x, lo, hi float64 }

// bandOf gathers the runs of the band, at most MaxVertices/2 columns.
func bandOf(points []analysis.Point) [][]bandVertex {
	var out [][]bandVertex
	var run []bandVertex
	flush := func() {
		if len(run) > 1 {
			out = append(out, run)
		}
		run = nil
	}
	for _, column := range columnsOf(points, MaxVertices/2) {
		v := bandVertex{lo: math.Inf(1), hi: math.Inf(-1)}
		n, gap := 0, false
		for _, p := range column {
			if !extremes(p) {
				gap = true
				continue
			}
			n++
			v.x += middle(p)
			v.lo, v.hi = min(v.lo, float64(p.MinNs)), max(v.hi, float64(p.MaxNs))
		}
		if gap {
			flush()
		}
		if n > 0 {
			v.x /= float64(n)
			run = append(run, v)
		}
	}
	flush()
	return out
}
