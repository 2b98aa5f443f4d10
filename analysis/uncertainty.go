package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"queuebench/stats"
)

const (
	// resamples is how often a step is drawn again from its blocks: a standard
	// deviation is known to 4 % then.
	resamples = 400
	// resampleSeed makes each summary come out the same.
	resampleSeed = 20_260_102
	// bucketWidth is the width of a digest's buckets, as a share of the value: no
	// percentile is known more finely.
	bucketWidth = 0.004
	// blockTimes is how many autocorrelation times a block lasts at least.
	blockTimes = 2
	// intervalLevel is what share of intervals should hold the percentile of a run
	// without end.
	intervalLevel = 0.95
)

// correlation is the longest autocorrelation time, in pieces, of any of the
// percentiles; ns are these as they are.
func correlation(pieces []stats.Sample, percents []float64, ns []int64) float64 {
	correlated := 1.0
	for i, percent := range percents {
		if percent < 25 || percent > 99 { // rarer values tell too little of how they hang together
			continue
		}
		correlated = max(correlated, stats.QuantileTime(pieces, stats.FromPercent(percent), ns[i]))
	}
	return correlated
}

// samples are the kept intervals' values of a latency.
func (c *cut) samples(k Kind) []stats.Sample {
	pieces := make([]stats.Sample, len(c.kept))
	for i := range c.kept {
		pieces[i] = stats.Sample{Values: c.kept[i].Latency[k], Infinite: c.kept[i].Infinite[k]}
	}
	return pieces
}

// together is for how long the values of each latency hang together, by Kind, ns, 0
// where too little of it is there: for a digest whose intervals will be too long to
// tell.
func (c *cut) together() []int64 {
	out := make([]int64, NumKinds)
	for k := range NumKinds {
		percents, _, ns := c.intervalled(c.summary.Latencies[k.String()])
		if len(percents) > 0 && len(c.kept) >= blockTimes*stats.MinBlocks {
			out[k] = int64(min(float64(c.step.Duration), correlation(c.samples(k), percents, ns)*float64(c.step.Interval)))
		}
	}
	return out
}

// bounds are the intervals under the cut of c, as Fine has them.
func (c *cut) bounds() []int64 {
	var out []int64
	for k := range NumKinds {
		l := c.summary.Latencies[k.String()]
		c.interval(k, &l)
		for _, percent := range DefaultPercentiles {
			p := l.Percentiles[FormatPercent(percent)]
			out = append(out, p.LowNs, p.HighNs)
		}
	}
	return out
}

// keptInterval is an interval that a digest kept, of a cut that is the default one;
// 0 and 0 for none.
func (c *cut) keptInterval(k Kind, percent float64) (low, high int64) {
	f, i := c.step.Fine, slices.Index(DefaultPercentiles, percent)
	at := 2 * (int(k)*len(DefaultPercentiles) + i)
	if f == nil || i < 0 || at+1 >= len(f.Bounds) || f.Bounds[at] > f.Bounds[at+1] {
		return 0, 0
	}
	if usual := (View{}).keptOf(c.step); usual.from != c.warmup || usual.to != c.end {
		return 0, 0
	}
	return f.Bounds[at], f.Bounds[at+1]
}

// StepBlocks are blocks of a step, each at least two autocorrelation times of each
// of the percentiles of a latency, and whole commit intervals, since latency rises
// and falls in one. They are made of its kept intervals; ns are
// the percentiles as they are. Where intervals were added up, these times are those
// that were kept of before. Seen is the share of the variance that blocks of
// that length show. Where there would be fewer than stats.MinBlocks, blocks is
// nil; least is how many intervals a block must have.
func StepBlocks(s *StepDigest, k Kind, pieces []stats.Sample, commit time.Duration, percents []float64, ns []int64) (blocks []stats.Block, seen float64, least int) {
	every, fine, correlated := s.Interval, 1.0, 0.0 // intervals before they were added up, of each
	if f := s.Fine; f != nil && int(k) < len(f.Together) && f.Together[k] > 0 && every > f.Interval {
		fine, correlated = float64(every)/float64(f.Interval), float64(f.Together[k])/float64(f.Interval)
	} else {
		correlated = correlation(pieces, percents, ns)
	}
	least = int(math.Ceil(blockTimes * correlated / fine))
	if every > 0 && commit > every {
		n := int((commit + every - 1) / every)
		least = (least + n - 1) / n * n
	}
	if blocks = stats.Blocks(pieces, least); blocks == nil {
		return nil, 0, least
	}
	return blocks, stats.BlockBias(correlated, fine*float64(len(pieces))/float64(len(blocks))), least
}

// MayHaveIntervals tells at once whether a step under a view is long enough for
// intervals of its percentiles: whether they hang together so that it is not, only
// what is computed tells.
func MayHaveIntervals(s *StepDigest, v View) bool {
	least := blockTimes * stats.MinBlocks
	if s.Fine != nil && len(s.Fine.Together) > 0 {
		least = stats.MinBlocks
	}
	return !s.imported() && len(v.keptOf(s).intervals) >= least
}

// interval adds to the percentiles of a latency their 95 % intervals: of what
// another stretch of the same run would have given, by a block bootstrap on
// logarithms, corrected for what blocks of that length miss, with Student's t. It
// says nothing of what another run would give. A percentile has none that lacks
// support, falls on a message that never came or is not positive; and none has
// one where there are fewer than 20 blocks, or where the samples reach messages
// that never came.
func (c *cut) interval(k Kind, l *LatencySummary) {
	if c.step.imported() || int(c.blocks) < stats.MinBlocks {
		return
	}
	percents, qs, ns := c.intervalled(*l)
	if len(percents) > 0 && len(c.kept) < stats.MinBlocks { // of longer intervals than they are computed from
		for i, percent := range percents {
			if low, high := c.keptInterval(k, percent); low > 0 && low <= ns[i] && high >= ns[i] {
				p := l.Percentiles[FormatPercent(percent)]
				p.LowNs, p.HighNs = low, high
				l.Percentiles[FormatPercent(percent)] = p
			}
		}
	}
	if len(percents) == 0 || len(c.kept) < stats.MinBlocks {
		return
	}
	blocks, seen, _ := StepBlocks(c.step, k, c.samples(k), c.step.commitInterval, percents, ns)
	if blocks == nil || seen <= 0 {
		return
	}
	n := float64(len(blocks))
	t := stats.StudentQuantile((1+intervalLevel)/2, len(blocks)-1)
	for i, values := range stats.ResampleQuantiles(blocks, qs, resamples, rand.New(rand.NewPCG(resampleSeed, uint64(k)))) {
		if slices.ContainsFunc(values, func(v float64) bool { return !(v > 0) || math.IsInf(v, 0) }) {
			continue
		}
		for j := range values {
			values[j] = math.Log(values[j])
		}
		_, sd, _ := stats.Moments(values)
		// Drawn with replacement, n blocks vary by (n−1)/n of what they should.
		half := t * math.Sqrt(sd*sd*n/(n-1)/seen+bucketWidth*bucketWidth/12)
		key := FormatPercent(percents[i])
		p := l.Percentiles[key]
		p.LowNs, p.HighNs = int64(float64(p.Ns)*math.Exp(-half)), int64(float64(p.Ns)*math.Exp(half))
		l.Percentiles[key] = p
	}
}

// intervalled are the percentiles of a latency that can have an interval: in
// percent, as quantiles, and in ns.
func (c *cut) intervalled(l LatencySummary) (percents, qs []float64, ns []int64) {
	if l.MinNs <= 0 {
		return nil, nil, nil
	}
	for _, percent := range c.view.percentiles() {
		p, there := l.Percentiles[FormatPercent(percent)]
		if there && p.Supported && !p.Beyond && p.Ns > 0 {
			percents, qs, ns = append(percents, percent), append(qs, stats.FromPercent(percent)), append(ns, p.Ns)
		}
	}
	return percents, qs, ns
}

// IntervalText is the interval of a percentile as text; empty where it has none.
func (p Percentile) IntervalText() string {
	if p.HighNs == 0 {
		return ""
	}
	return FormatLatency(p.LowNs) + " … " + FormatLatency(p.HighNs)
}

// IntervalCell is IntervalText for a narrow column: the unit stands once where both
// bounds have the same.
func (p Percentile) IntervalCell() string {
	if p.HighNs == 0 {
		return ""
	}
	low, high := FormatLatency(p.LowNs), FormatLatency(p.HighNs)
	if number, unit, _ := strings.Cut(low, " "); strings.HasSuffix(high, " "+unit) {
		low = number
	}
	return low + "–" + high
}

// IntervalTable has a row per step with the 95 % intervals of the percentiles of
// its main latency; no rows where none has any.
func IntervalTable(s Summary) (header []string, rows [][]string) {
	percents := s.percentiles()
	header = s.stepHeader()
	for _, p := range percents {
		header = append(header, "p"+p)
	}
	any := false
	for i := range s.Steps {
		x := &s.Steps[i]
		row := s.stepCells(i)
		for _, p := range percents {
			text := x.Latencies[x.MainKind().String()].Percentiles[p].IntervalText()
			if text == "" {
				text = Dash
			} else {
				any = true
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	if !any {
		return header, nil
	}
	return header, rows
}
