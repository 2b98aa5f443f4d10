package gate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"queuebench/analysis"
	"queuebench/analysis/compare"
)

// ErrNoBase: regressions are limited, and there is nothing to hold against.
var ErrNoBase = errors.New("no run to hold against")

// regressions holds each percentile that is limited against that of the base, at
// each load that both have. A limit is held where the whole interval of the change
// lies below it, and broken where all of it lies above; the intervals are as wide
// as all of them together need.
func regressions(runs, base []*analysis.Digest, v analysis.View, l Limits) ([]Verdict, error) {
	if len(base) == 0 {
		return nil, ErrNoBase
	}
	sides := []compare.Side{{Label: "base", Runs: base}, {Label: "new", Runs: runs}}
	// The first pass counts the loads.
	first, err := judge(sides, v, l, compare.Level)
	if err != nil {
		return nil, err
	}
	return judge(sides, v, l, compare.Level/float64(max(1, len(first))))
}

func judge(sides []compare.Side, v analysis.View, l Limits, level float64) ([]Verdict, error) {
	var out []Verdict
	for _, g := range l.Regressions {
		v.Kind = analysis.EndToEnd // or what the steps are about
		if g.Metric.HasKind {
			v.Kind = g.Metric.Kind
		}
		v.Percentiles = []float64{g.Metric.Percent}
		r, err := compare.Compare(sides, compare.Options{View: v, IntervalLevel: level})
		if errors.Is(err, compare.ErrSides) {
			x := unsupported(err.Error())
			x.Limit, x.Step = g.String(), "none"
			out = append(out, x)
			continue
		}
		if err != nil {
			return nil, err
		}
		before := len(out)
		for i := range r.Pairs[0].Cells {
			c := &r.Pairs[0].Cells[i]
			if g.Rate > 0 && c.Rate != g.Rate {
				continue
			}
			x := g.cell(c, l.WithinRun)
			x.Limit, x.Step = g.String(), c.Name
			out = append(out, x)
		}
		if len(out) == before {
			x := unsupported("the runs have no load of this rate in common")
			x.Limit, x.Step = g.String(), analysis.FormatRate(g.Rate)+" msg/s"
			out = append(out, x)
		}
	}
	return out, nil
}

// cell judges a load by the interval of its change.
func (g Regression) cell(c *compare.Cell, within bool) Verdict {
	row := &c.Rows[0]
	low, high := float64(row.Low), float64(row.High)
	limit := 1 + g.Share
	v := Verdict{State: Unsupported, Value: row.Ratio, Found: analysis.Dash}
	if !math.IsNaN(float64(row.Ratio)) {
		v.Found = compare.ChangeText(float64(row.Ratio))
	}
	bounded := !math.IsNaN(low) && (low > 0 || !math.IsInf(high, 1))
	if bounded {
		v.Found += " (" + row.Interval() + ")"
	}
	switch {
	case !bounded && row.Why != "":
		v.Why = row.Why
	case !bounded:
		v.Why = "no interval"
	case row.Method == compare.Within && !within:
		v.Why = "one run of each: how much another run would differ is not known; record several, or say that their own variation over time is enough"
	case low > limit:
		v.State = Broken
	case high <= limit:
		v.State = Held
	default:
		v.Why = "the interval holds the limit: more runs would tell"
	}
	if row.Method == compare.Within && v.State != Unsupported {
		v.Why = "within these two runs only"
	}
	for _, u := range unsteady {
		for i, group := range []*compare.Group{&c.Base, &c.New} {
			label := []string{"base", "new"}[i]
			seen := slices.ContainsFunc(group.Replicates, func(r compare.Replicate) bool { return slices.Contains(r.Findings, u.id) })
			if !seen || g.Metric.HasKind && g.Metric.Kind == analysis.SendLag {
				continue
			}
			if v.State == Broken && u.broken && label == "new" {
				v.Why = fmt.Sprintf("%s (%s)", u.why, u.id)
				continue
			}
			v.State, v.Why = Unsupported, fmt.Sprintf("%s: %s (%s)", label, u.why, u.id)
		}
	}
	return v
}
