package stats

import (
	"math"
	"math/rand/v2"
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
	var variance, largest float64
	for _, v := range x {
		variance += (v - mean) * (v - mean)
		largest = max(largest, math.Abs(v))
	}
	// What is left of values that are all the same is their mean's rounding, which
	// would look as if they hung together for ever.
	if rounding := 1e-9 * largest; n < 3 || variance <= float64(n)*rounding*rounding {
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

// Block is neighbouring pieces that are drawn together.
type Block []Sample

// Blocks takes neighbouring pieces together to blocks of at least so many pieces
// each, as equal as can be, and at most MaxBlocks of them. It is nil where there
// would be fewer than MinBlocks: too few to tell how much the run varies.
func Blocks(pieces []Sample, least int) []Block {
	n := min(len(pieces)/max(1, least), MaxBlocks)
	if n < MinBlocks {
		return nil
	}
	out := make([]Block, n)
	for i := range out {
		out[i] = pieces[i*len(pieces)/n : (i+1)*len(pieces)/n]
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
func ResampleQuantiles(blocks []Block, qs []float64, resamples int, r *rand.Rand) [][]float64 {
	out := make([][]float64, len(qs))
	for i := range out {
		out[i] = make([]float64, resamples)
	}
	c := newCumulated(blocks)
	found := make([]int, len(qs)) // the bucket of each in the sample before: the next is not far
	weight := make([]int64, len(blocks))
	for k := range resamples {
		clear(weight)
		for range blocks {
			weight[r.IntN(len(blocks))]++
		}
		n, infinite := c.upTo(len(c.index), weight), weighed(c.infinite, weight)
		for i, q := range qs {
			if n+infinite == 0 {
				out[i][k] = math.NaN()
				continue
			}
			rank := Rank(q, n+infinite)
			if rank > n {
				out[i][k] = math.Inf(1)
				continue
			}
			at := c.find(rank, weight, found[i])
			found[i] = at
			seen := c.upTo(at, weight)
			low, high := Bounds(c.index[at])
			part := (float64(rank-seen) - 0.5) / float64(c.upTo(at+1, weight)-seen)
			out[i][k] = float64(low) + part*float64(high-low)
		}
	}
	return out
}

// cumulated has how many values of each block lie in the buckets below each of
// those in use. A rank of a weighed sum is searched in it without adding up all
// buckets, which is some ten times as fast.
type cumulated struct {
	index    []int32
	below    []int64 // len(index)+1 rows of a count for each block
	infinite []int64
}

func newCumulated(blocks []Block) *cumulated {
	c := &cumulated{infinite: make([]int64, len(blocks))}
	lowest, highest := int32(math.MaxInt32), int32(math.MinInt32)
	for i, b := range blocks {
		for _, s := range b {
			c.infinite[i] += s.Infinite
			if h := s.Values.Buckets; len(h) > 0 {
				lowest, highest = min(lowest, h[0].Index), max(highest, h[len(h)-1].Index)
			}
		}
	}
	if lowest > highest {
		return c
	}
	row := make([]int32, highest-lowest+1) // of each index: one more than its place among those in use
	for _, b := range blocks {
		for _, s := range b {
			for _, h := range s.Values.Buckets {
				row[h.Index-lowest] = 1
			}
		}
	}
	for i, used := range row {
		if used != 0 {
			c.index = append(c.index, lowest+int32(i))
			row[i] = int32(len(c.index))
		}
	}
	n := len(blocks)
	c.below = make([]int64, (len(c.index)+1)*n)
	for i, b := range blocks {
		for _, s := range b {
			for _, h := range s.Values.Buckets {
				c.below[int(row[h.Index-lowest])*n+i] += h.Count
			}
		}
	}
	for i := n; i < len(c.below); i++ {
		c.below[i] += c.below[i-n]
	}
	return c
}

// upTo is how many values lie in the first i buckets of the blocks, each as often
// as its weight says.
func (c *cumulated) upTo(i int, weight []int64) int64 {
	if len(c.below) == 0 {
		return 0
	}
	n := len(weight)
	return weighed(c.below[i*n:(i+1)*n], weight)
}

// find is the bucket that holds a rank, from 1 to the number of values. It is
// looked for around a guess, in steps that double.
func (c *cumulated) find(rank int64, weight []int64, guess int) int {
	low, high := 0, len(c.index)-1 // it lies between the two, both included
	if c.upTo(guess+1, weight) >= rank {
		high = guess
		for step := 1; step <= guess; step *= 2 {
			if c.upTo(guess+1-step, weight) < rank {
				low = guess + 1 - step
				break
			}
			high = guess - step
		}
	} else {
		low = guess + 1
		for step := 1; guess+1+step <= high; step *= 2 {
			if c.upTo(guess+1+step, weight) >= rank {
				high = guess + step
				break
			}
			low = guess + 1 + step
		}
	}
	for low < high {
		if mid := (low + high) / 2; c.upTo(mid+1, weight) >= rank {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

func weighed(counts, weight []int64) (sum int64) {
	for i, w := range weight {
		sum += w * counts[i]
	}
	return sum
}
