package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Sample is a piece of a run: the values in it, and how many messages of it
// never came.
type Sample struct {
	Values   Compact
	Infinite int64
}

// MaxBlocks is the most blocks that Blocks makes: longer ones hold more of what
// hangs together, and more than these tell little more of the spread.
const MaxBlocks = 40

// windowFactor is how many autocorrelation times are summed over (Sokal 1989).
const windowFactor = 5

// AutocorrelationTime is the integrated autocorrelation time of equally spaced
// values, 1 + 2·Σρ(k), in steps from one value to the next; the sum goes over the
// smallest window of at least five such times (Sokal, "Monte Carlo Methods in
// Statistical Mechanics", 1989). It is 1 of values that are independent, or all
// the same, and never less.
func AutocorrelationTime(x []float64) float64 {
	n := len(x)
	mean, _, _ := Moments(x)
	var variance float64
	for _, v := range x {
		variance += (v - mean) * (v - mean)
	}
	if n < 3 || variance == 0 {
		return 1
	}
	tau := 1.0
	for k := 1; k < n; k++ {
		var c float64
		for i := k; i < n; i++ {
			c += (x[i] - mean) * (x[i-k] - mean)
		}
		tau += 2 * c / variance
		if float64(k) >= windowFactor*tau {
			break
		}
	}
	return max(1, tau)
}

// QuantileTime is the autocorrelation time of what a quantile q in (0,1) of a
// run depends on: how many values of each piece lie above v, the run's own
// quantile, beyond the share 1−q that is due.
func QuantileTime(pieces []Sample, q float64, v int64) float64 {
	x := make([]float64, len(pieces))
	for i, p := range pieces {
		n := p.Values.N + p.Infinite
		x[i] = float64(p.Values.CountAbove(v)+p.Infinite) - (1-q)*float64(n)
	}
	return AutocorrelationTime(x)
}

// Blocks adds up neighbouring pieces to blocks of at least so many pieces each,
// as equal as can be, and at most MaxBlocks of them. It is nil where there would
// be fewer than MinBlocks: too few to tell how much the run varies.
func Blocks(pieces []Sample, least int) []Sample {
	n := min(len(pieces)/max(1, least), MaxBlocks)
	if n < MinBlocks {
		return nil
	}
	out := make([]Sample, n)
	for i := range out {
		from, to := i*len(pieces)/n, (i+1)*len(pieces)/n
		parts := make([]Compact, 0, to-from)
		for _, p := range pieces[from:to] {
			parts = append(parts, p.Values)
			out[i].Infinite += p.Infinite
		}
		out[i].Values = Sum(parts...)
	}
	return out
}

// BlockBias is the share of the variance of a mean that blocks of so many pieces
// see, where these have an autocorrelation time: what hangs together across the
// edges of blocks is missing. It is that of a first-order process (Lahiri, 5.2),
// and 1 of pieces that are independent.
func BlockBias(time, pieces float64) float64 {
	time = max(1, time)
	return max(0, 1-(time-1/time)/(2*pieces))
}

// ResampleQuantiles draws so many samples of the blocks, each of as many blocks
// as there are, with replacement (the block bootstrap: Künsch 1989; Lahiri,
// "Resampling Methods for Dependent Data", ch. 2), and returns for each of qs, in
// (0,1), the quantile of each sample in ns: +Inf where it falls on a message
// that never came, NaN where a sample is empty. Within a bucket values are taken
// to lie evenly.
func ResampleQuantiles(blocks []Sample, qs []float64, resamples int, r *rand.Rand) [][]float64 {
	out := make([][]float64, len(qs))
	for i := range out {
		out[i] = make([]float64, resamples)
	}
	dense := newDense(blocks)
	order := make([]int, len(qs)) // ascending, so that one walk finds all
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if qs[a] < qs[b] {
			return -1
		}
		return 1
	})
	weight := make([]int64, len(blocks))
	for k := range resamples {
		clear(weight)
		for range blocks {
			weight[r.IntN(len(blocks))]++
		}
		n, infinite := dense.weigh(weight)
		bucket, seen := 0, int64(0)
		for _, at := range order {
			if n+infinite == 0 {
				out[at][k] = math.NaN()
				continue
			}
			rank := Rank(qs[at], n+infinite)
			if rank > n {
				out[at][k] = math.Inf(1)
				continue
			}
			for seen+dense.sum[bucket] < rank {
				seen += dense.sum[bucket]
				bucket++
			}
			low, high := Bounds(dense.index[bucket])
			part := (float64(rank-seen) - 0.5) / float64(dense.sum[bucket])
			out[at][k] = float64(low) + part*float64(high-low)
		}
	}
	return out
}

// dense has the buckets of all blocks by their position among those in use.
type dense struct {
	index    []int32
	at       [][]int32 // of each block: positions in index
	count    [][]int64
	infinite []int64
	sum      []int64 // weighed
}

func newDense(blocks []Sample) *dense {
	d := &dense{}
	seen := map[int32]int32{}
	for _, b := range blocks {
		for _, c := range b.Values.Buckets {
			if _, ok := seen[c.Index]; !ok {
				seen[c.Index] = 0
				d.index = append(d.index, c.Index)
			}
		}
	}
	slices.Sort(d.index)
	for i, x := range d.index {
		seen[x] = int32(i)
	}
	for _, b := range blocks {
		at, count := make([]int32, 0, len(b.Values.Buckets)), make([]int64, 0, len(b.Values.Buckets))
		for _, c := range b.Values.Buckets {
			at, count = append(at, seen[c.Index]), append(count, c.Count)
		}
		d.at, d.count, d.infinite = append(d.at, at), append(d.count, count), append(d.infinite, b.Infinite)
	}
	d.sum = make([]int64, len(d.index))
	return d
}

// weigh adds up the blocks, each as often as its weight says.
func (d *dense) weigh(weight []int64) (n, infinite int64) {
	clear(d.sum)
	for b, w := range weight {
		if w == 0 {
			continue
		}
		count := d.count[b]
		for i, at := range d.at[b] {
			d.sum[at] += w * count[i]
		}
		infinite += w * d.infinite[b]
	}
	for _, c := range d.sum {
		n += c
	}
	return n, infinite
}
