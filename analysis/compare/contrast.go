package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"queuebench/analysis"
	"queuebench/stats"
)

const (
	// resamples is how often a run is drawn again from its blocks: a standard
	// deviation is known to 4 % then.
	resamples = 400
	// seed makes each comparison come out the same.
	seed = 20_260_102
	// resolution is the width of a digest's buckets, as a share of the value:
	// two runs cannot be told apart more finely.
	resolution = 0.004
)

// duel compares a load of two sides.
type duel struct {
	a, b  *load
	kind  analysis.Kind
	level float64 // 1 − level of intervals
	// of single runs:
	within   bool
	whyNot   string // why there is no interval
	df       int
	sdA, sdB map[float64]float64 // of the quantile's logarithm by percent
}

func newDuel(a, b *load, kind analysis.Kind, level float64) *duel {
	d := &duel{a: a, b: b, kind: kind, level: level, within: len(a.steps) == 1 && len(b.steps) == 1}
	if d.within {
		d.resample()
	}
	return d
}

// resample draws both runs again, for all percentiles at once.
func (d *duel) resample() {
	percents, qs := []float64{}, []float64{}
	for key, p := range d.a.steps[0].latency.Percentiles {
		if other := d.b.steps[0].latency.Percentiles[key]; p.Supported && other.Supported && !p.Beyond && !other.Beyond {
			if percent, err := strconv.ParseFloat(key, 64); err == nil {
				percents = append(percents, percent)
			}
		}
	}
	slices.Sort(percents) // maps have no order, and the same must come out
	if len(percents) == 0 {
		d.whyNot = "no percentile of both has enough messages"
		return
	}
	for _, p := range percents {
		qs = append(qs, stats.FromPercent(p))
	}
	d.df = stats.MaxBlocks
	for i, s := range []*step{&d.a.steps[0], &d.b.steps[0]} {
		blocks, seen, why := s.blocks(d.kind, percents)
		if blocks == nil {
			d.whyNot = why
			return
		}
		d.df = min(d.df, len(blocks)-1)
		n := float64(len(blocks))
		sd := map[float64]float64{}
		for k, values := range stats.ResampleQuantiles(blocks, qs, resamples, rand.New(rand.NewPCG(seed, uint64(i)))) {
			for j := range values {
				values[j] = math.Log(values[j])
			}
			_, x, _ := stats.Moments(values)
			// Drawn with replacement, n blocks vary by (n−1)/n of what they should.
			sd[percents[k]] = x * math.Sqrt(n/(n-1)/seen)
		}
		if i == 0 {
			d.sdA = sd
		} else {
			d.sdB = sd
		}
	}
}

// blocks of a run, as analysis.StepBlocks makes them.
func (s *step) blocks(kind analysis.Kind, percents []float64) (blocks []stats.Block, seen float64, why string) {
	var ns []int64
	for _, percent := range percents {
		ns = append(ns, s.latency.Percentiles[analysis.FormatPercent(percent)].Ns)
	}
	pieces := s.pieces(kind)
	blocks, seen, least := analysis.StepBlocks(s.digest, kind, pieces, s.run.Queue.CommitInterval, percents, ns)
	if blocks == nil {
		return nil, 0, fmt.Sprintf("%d blocks of %d intervals of %s in run %s, %d are needed: run longer, or several times",
			len(pieces)/least, least, s.digest.Interval, s.run.Run, stats.MinBlocks)
	}
	return blocks, seen, ""
}

// values are the replicates' percentiles, and as numbers: +Inf where one falls on
// a message that never came.
func (l *load) values(percent float64) (all []analysis.Percentile, ns []float64, why string) {
	key := analysis.FormatPercent(percent)
	for i := range l.steps {
		s := &l.steps[i]
		p, ok := s.latency.Percentiles[key]
		switch {
		case !ok && s.digest.NoEndToEnd != "":
			why = "the clocks cannot be compared"
		case !ok:
			why = "no message after the warm-up"
		case !p.Supported && !p.Beyond:
			why = fmt.Sprintf("too few messages for p%s in run %s", key, s.run.Run)
		}
		all = append(all, p)
		switch {
		case !ok:
			ns = append(ns, math.NaN())
		case p.Beyond:
			ns = append(ns, math.Inf(1))
		default:
			ns = append(ns, float64(p.Ns))
		}
	}
	return all, ns, why
}

// contrast compares a percentile.
func (d *duel) contrast(percent float64) (c Contrast, a, b []analysis.Percentile, x, y []float64) {
	nan := Number(math.NaN())
	c = Contrast{Ratio: nan, Low: nan, High: nan, P: nan, SmallestP: nan, SpreadBase: nan, SpreadNew: nan}
	a, x, whyA := d.a.values(percent)
	b, y, whyB := d.b.values(percent)
	switch {
	case whyA != "":
		c.Why = whyA
	case whyB != "":
		c.Why = whyB
	}
	logX, okX := logs(x)
	logY, okY := logs(y)
	if c.Why == "" && (!okX || !okY) {
		c.Why = "a latency that is not positive has no ratio: clocks differ"
	}
	if c.Why != "" {
		return c, a, b, x, y
	}
	if d.within {
		d.withinRun(&c, percent, logX[0], logY[0])
	} else {
		d.ofRuns(&c, logX, logY)
	}
	return c, a, b, x, y
}

// logs are natural logarithms; ok is false where there are none.
func logs(ns []float64) (out []float64, ok bool) {
	ok = true
	for _, v := range ns {
		ok = ok && v > 0 // NaN is not
		out = append(out, math.Log(v))
	}
	return out, ok
}

// ofRuns is the rank test, and the shift of logarithms that belongs to it.
func (d *duel) ofRuns(c *Contrast, x, y []float64) {
	c.Method = RankTest
	c.P = Number(stats.MannWhitney(x, y).P)
	c.SmallestP = Number(stats.SmallestP(len(x), len(y)))
	s := stats.HodgesLehmann(x, y, d.level)
	c.Ratio, c.Low, c.High = Number(math.Exp(s.Estimate)), Number(math.Exp(s.Low)), Number(math.Exp(s.High))
	if !s.Bounded() {
		c.Why = fmt.Sprintf("no interval: %d+%d runs are too few for one of %s", len(x), len(y), levelText(d.level))
	}
	c.SpreadBase, c.SpreadNew = Number(spread(x)), Number(spread(y))
}

// RatioOf is by which ratio positive values of runs differ, new to base, with the
// interval of the rank test of the level 1−alpha; false where a value is not
// positive.
func RatioOf(base, new []float64, alpha float64) (ratio [3]Number, ok bool) {
	x, okX := logs(base)
	y, okY := logs(new)
	if !okX || !okY {
		return ratio, false
	}
	s := stats.HodgesLehmann(x, y, alpha)
	return [3]Number{Number(math.Exp(s.Estimate)), Number(math.Exp(s.Low)), Number(math.Exp(s.High))}, true
}

// spread is the standard deviation; NaN where there is none.
func spread(x []float64) float64 {
	if len(x) < 2 {
		return math.NaN()
	}
	_, sd, _ := stats.Moments(x)
	if math.IsInf(sd, 0) {
		return math.NaN()
	}
	return sd
}

// withinRun has the interval of what another stretch of the same two runs would
// give, from their blocks.
func (d *duel) withinRun(c *Contrast, percent, x, y float64) {
	c.Method, c.SmallestP = Within, 0
	difference := y - x
	switch {
	case math.IsInf(x, 1) && math.IsInf(y, 1):
		c.Why = "both fall on messages that never came"
		return
	case math.IsInf(x, 1) || math.IsInf(y, 1):
		c.Ratio = Number(math.Exp(difference))
		c.Why = "no interval: one falls on messages that never came"
		return
	}
	c.Ratio = Number(math.Exp(difference))
	if d.whyNot != "" {
		c.Why = "no interval: " + d.whyNot
		return
	}
	sdA, sdB := d.sdA[percent], d.sdB[percent]
	variance := sdA*sdA + sdB*sdB + 2*resolution*resolution/12
	if math.IsNaN(variance) || math.IsInf(variance, 0) {
		c.Why = "no interval: it reaches messages that never came"
		return
	}
	c.error, c.df = math.Sqrt(variance), d.df
	half := stats.StudentQuantile(1-d.level/2, d.df) * c.error
	c.Low, c.High = Number(math.Exp(difference-half)), Number(math.Exp(difference+half))
	c.P = Number(2 * (1 - stats.StudentCDF(math.Abs(difference)/c.error, d.df)))
}

// row is a percentile for the table.
func (d *duel) row(percent float64) Row {
	c, a, b, x, y := d.contrast(percent)
	return Row{Percentile: analysis.FormatPercent(percent), Base: a, New: b, BaseNs: known(x), NewNs: known(y), Contrast: c}
}

// known is the median of the values that are known.
func known(values []float64) Number {
	var x []float64
	for _, v := range values {
		if !math.IsNaN(v) {
			x = append(x, v)
		}
	}
	return Number(Middle(x))
}

// point is a quantile of the curve; false where it has no ratio.
func (d *duel) point(percent float64) (Point, bool) {
	c, _, _, x, y := d.contrast(percent)
	p := Point{Percent: percent, BaseNs: known(x), NewNs: known(y), Ratio: c.Ratio, Low: c.Low, High: c.High}
	if c.Method == RankTest && c.Why != "" { // without an interval
		p.Low, p.High = Number(math.NaN()), Number(math.NaN())
	}
	return p, !math.IsNaN(float64(c.Ratio))
}
