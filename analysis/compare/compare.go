// Package compare holds runs against each other: by how much a percentile
// differs, how sure that is, what could have been seen at all, and in what else
// the runs differ.
//
// The unit of replication is the run, or the repeat of a step: messages of one
// run share its weather, and thousands of them are still one observation of what
// another start would give. Sides with several are compared by the rank test;
// where there is one run on either side, its own variation over time is all that
// is known, and the result says that it is within these runs only. Nothing is
// called changed that the number of runs cannot show. The package reads digests,
// and refuses to know files, stores and drawing.
package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"queuebench/analysis"
	"queuebench/stats"
)

// Schema is the schema of the JSON that a Result makes.
const Schema = "queuebench.comparison/1"

// Level is the chance of a false alarm, over all tests of a comparison together.
const Level = 0.05

// Power is how often the smallest shift that is named would be found.
const Power = 0.8

// DefaultPercentiles are the family of tests when none are named.
var DefaultPercentiles = []float64{50, 99}

// curvePercentiles are the points of the quantile-ratio curve.
var curvePercentiles = []float64{1, 5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 85, 90, 95, 97.5, 99, 99.5, 99.9, 99.95, 99.99}

// ErrSides: there is nothing to compare.
var ErrSides = errors.New("nothing to compare")

// Side is what stands on one side of a comparison: runs that are replicates of
// each other.
type Side struct {
	Label string
	Runs  []*analysis.Digest
}

// Options say how to compare. The zero value is ready.
type Options struct {
	// View has the warm-up, the latency, and the percentiles that are tested:
	// DefaultPercentiles where it names none.
	View analysis.View
	// IntervalLevel is one minus the level of the intervals of ratios; Level
	// where it is 0.
	IntervalLevel float64
}

// Compare holds each side but the first against the first.
func Compare(sides []Side, o Options) (*Result, error) {
	if len(sides) < 2 {
		return nil, fmt.Errorf("%w: one side, two are needed", ErrSides)
	}
	if o.IntervalLevel == 0 {
		o.IntervalLevel = Level
	}
	family := o.View.Percentiles
	if len(family) == 0 {
		family = DefaultPercentiles
	}
	v := o.View
	v.Percentiles = slices.Compact(slices.Sorted(slices.Values(slices.Concat(family, curvePercentiles))))
	r := &Result{Schema: Schema, Level: Level, Pairs: []Pair{}, Warnings: []string{}}
	for _, p := range family {
		r.Percentiles = append(r.Percentiles, analysis.FormatPercent(p))
	}
	all := make([]*gathered, len(sides))
	for i, s := range sides {
		if len(s.Runs) == 0 {
			return nil, fmt.Errorf("%w: %s has no run", ErrSides, s.Label)
		}
		all[i] = gather(s, v)
		r.Sides = append(r.Sides, all[i].info)
	}
	r.Warnings = append(r.Warnings, warnings(all)...)
	r.compare(all, family, o)
	if !slices.ContainsFunc(r.Pairs, func(p Pair) bool { return len(p.Cells) > 0 }) {
		return nil, fmt.Errorf("%w: no load of %s (%s) is one of the others (%s)", ErrSides,
			sides[0].Label, names(all[0]), names(all[1]))
	}
	return r, nil
}

// compare fills in the pairs and judges them.
func (r *Result) compare(all []*gathered, family []float64, o Options) {
	r.Latency = all[0].kind.String()
	for _, other := range all[1:] {
		r.Pairs = append(r.Pairs, pair(all[0], other, family, o))
	}
	r.judge()
}

// ScalingOf is the throughput of all steps of all sides against one of their
// settings: see analysis.ScalingOf.
func ScalingOf(sides []Side, v analysis.View, setting string) []analysis.Scaling {
	var steps []analysis.StepSummary
	for _, s := range sides {
		for _, d := range s.Runs {
			steps = append(steps, analysis.SummarizePage(d, v, nil).Steps...)
		}
	}
	return analysis.ScalingOf(steps, setting)
}

// pair compares two sides load by load.
func pair(base, other *gathered, family []float64, o Options) Pair {
	p := Pair{Base: base.info.Label, New: other.info.Label, Cells: []Cell{}, OnlyBase: []string{}, OnlyNew: []string{}}
	for _, key := range base.order {
		a, b := base.loads[key], other.loads[key]
		if b == nil {
			p.OnlyBase = append(p.OnlyBase, a.name)
			continue
		}
		c := Cell{Name: a.name, Rate: a.rate, Variant: a.variant, Base: a.group(), New: b.group(), Rows: []Row{}, Curve: []Point{}, Throughput: a.steps[0].summary.ThroughputName()}
		d := newDuel(a, b, base.kind, o.IntervalLevel)
		for _, percent := range family {
			c.Rows = append(c.Rows, d.row(percent))
		}
		for _, percent := range curvePercentiles {
			if x, ok := d.point(percent); ok {
				c.Curve = append(c.Curve, x)
			}
		}
		c.Notes = notes(p.Base, a, p.New, b)
		p.Cells = append(p.Cells, c)
	}
	for _, key := range other.order {
		if base.loads[key] == nil {
			p.OnlyNew = append(p.OnlyNew, other.loads[key].name)
		}
	}
	p.Differences = differences(base, other)
	return p
}

// rows are all rows of a result, in order.
func (r *Result) rows() (all []*Row) {
	for i := range r.Pairs {
		for j := range r.Pairs[i].Cells {
			for k := range r.Pairs[i].Cells[j].Rows {
				all = append(all, &r.Pairs[i].Cells[j].Rows[k])
			}
		}
	}
	return all
}

// judge adjusts the tests for their number, and gives the verdicts.
func (r *Result) judge() {
	rows := r.rows()
	p := make([]float64, len(rows))
	for i, row := range rows {
		p[i] = float64(row.P)
		if !math.IsNaN(p[i]) {
			r.Family++
		}
	}
	alpha := Level / float64(max(1, r.Family))
	shifts := map[[2]int]float64{}
	for i, adjusted := range stats.Holm(p) {
		row := rows[i]
		row.AdjustedP, row.Detectable = Number(adjusted), Number(math.NaN())
		switch {
		case math.IsNaN(adjusted):
			row.Verdict = NotCompared
			continue
		case adjusted > Level*(1+1e-9):
			row.Verdict = NotShown
		case row.Method == Within:
			row.Verdict = WithinOnly
		default:
			row.Verdict = Changed
		}
		if row.Method == Within {
			needed := stats.StudentQuantile(1-alpha/2, row.df) + stats.NormalQuantile(Power)
			row.Detectable = Number(math.Exp(needed * row.error))
			continue
		}
		size := [2]int{len(row.Base), len(row.New)}
		if _, ok := shifts[size]; !ok {
			shifts[size] = stats.DetectableShift(size[0], size[1], alpha, Power)
		}
		switch spread := row.pooled(); {
		case math.IsInf(shifts[size], 1):
			row.Detectable = Number(math.Inf(1))
		case !math.IsNaN(spread):
			row.Detectable = Number(math.Exp(shifts[size] * spread))
		}
	}
}

// pooled is the spread between runs of both sides together; NaN where it is not
// known.
func (r *Row) pooled() float64 {
	m, n := float64(len(r.Base)-1), float64(len(r.New)-1)
	a, b := float64(r.SpreadBase), float64(r.SpreadNew)
	if m == 0 {
		a = 0
	}
	if n == 0 {
		b = 0
	}
	return math.Sqrt((m*a*a + n*b*b) / (m + n))
}

// RunsNeeded is the number of runs a side must have so that a rank test could
// show anything in a family of this size.
func (r *Result) RunsNeeded() int { return stats.RunsFor(Level / float64(max(1, r.Family))) }
