package hdrlog

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// Cell is a count of values of a histogram whose geometry is not ours: those from
// Low to High, in the unit of the file.
type Cell struct {
	Low, High int64
	Count     int64
}

const (
	// maxOtherPayload and maxCells bound the memory of a histogram of another
	// geometry; one of 5 digits that is full up to an hour of µs has 1.9 million
	// buckets, most of them empty.
	maxOtherPayload = 4 << 20
	maxCells        = 1 << 20
)

// geometry is how an HdrHistogram lays out its buckets.
type geometry struct {
	unit uint // log2 of the width of the narrowest bucket
	half uint // log2 of half the number of buckets of one power of two
}

// newGeometry is that of a lowest discernible value and a number of significant
// digits, from 0 to 5.
func newGeometry(lowest int64, digits int) *geometry {
	g := &geometry{}
	if lowest > 1 {
		g.unit = uint(bits.Len64(uint64(lowest))) - 1
	}
	largest := uint64(2 * math.Pow10(digits))
	g.half = max(uint(bits.Len64(largest-1)), 1) - 1
	return g
}

// bounds are the lowest and the highest value of a bucket.
func (g geometry) bounds(index int64) (low, high int64, err error) {
	half := int64(1) << g.half
	power := index>>g.half - 1
	sub := index&(half-1) + half
	if power < 0 {
		power, sub = 0, sub-half
	}
	shift := uint(power) + g.unit
	if power > 62 || shift > 62 || bits.Len64(uint64(sub))+int(shift) > 63 {
		return 0, 0, fmt.Errorf("a count in bucket %d: beyond the range of 64 bits", index)
	}
	low = sub << shift
	return low, low + (1<<shift - 1), nil
}

// parseCells reads the payload of a histogram of another geometry.
func parseCells(p []byte, g geometry) ([]Cell, error) {
	var out []Cell
	var index, total int64
	for len(p) > 0 {
		v, n, err := zigZag(p)
		if err != nil {
			return nil, err
		}
		p = p[n:]
		if v < 0 {
			if v < -1<<32 || index > 1<<40 {
				return nil, fmt.Errorf("%d empty buckets in a row", -v)
			}
			index -= v
			continue
		}
		if v > 0 {
			c := Cell{Count: v}
			if c.Low, c.High, err = g.bounds(index); err != nil {
				return nil, err
			}
			if total > math.MaxInt64-v {
				return nil, errors.New("the counts add up to more than 2^63")
			}
			total += v
			if len(out) == maxCells {
				return nil, fmt.Errorf("more than %d buckets with a count", maxCells)
			}
			out = append(out, c)
		}
		index++
	}
	return out, nil
}
