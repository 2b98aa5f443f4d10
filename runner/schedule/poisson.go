package schedule

import (
	"fmt"
	"math"
	"sort"
)

// A Poisson process is drawn cell by cell. A cell is cellMean positions long,
// the number of its messages is drawn from the Poisson distribution with that
// mean, and their positions in it are uniform and independent: given their
// number, that is how the arrivals of a Poisson process lie. Cells are
// independent of each other, so each follows from the seed and its number
// alone, and any can be made without those before it. A rate that changes is
// the same process on another curve (time rescaling).
//
// Adding up exponential gaps, the obvious way, was rejected: message i would
// then need all those before it.
const cellMean = 32

// maxMarks bounds the memory of a schedule: 8 bytes for each mark.
const maxMarks = 2048

// cells are the counts of the cells of a schedule.
type cells struct {
	seed uint64
	// cdf is the cumulative distribution of a cell's count, times 2⁶⁴, with the
	// 2⁻⁵³ of a float64; guide has the first count for each leading byte.
	cdf   []uint64
	guide [256]uint8
	// marks are the index of the first message of cell 0, stride, 2·stride, …
	marks  []int64
	stride int64
}

func newCells(seed uint64) *cells {
	c := &cells{seed: seed, stride: 64}
	p, sum := math.Exp(-cellMean), 0.0
	for k := 1; ; k++ {
		sum += p
		if scaled := math.Ldexp(sum, 64); scaled >= 0x1p64 || p < 0x1p-60 && k > cellMean {
			c.cdf = append(c.cdf, math.MaxUint64)
			break
		} else {
			c.cdf = append(c.cdf, uint64(scaled))
		}
		p *= cellMean / float64(k)
	}
	k := 0
	for i := range c.guide {
		for c.cdf[k] <= uint64(i)<<56 {
			k++
		}
		c.guide[i] = uint8(k)
	}
	return c
}

// key is what the randomness of a cell begins with.
func (c *cells) key(cell int64) uint64 { return mix(c.seed + uint64(cell)*golden) }

// count is the number of messages of a cell.
func (c *cells) count(cell int64) int64 {
	u := mix(c.key(cell))
	k := int(c.guide[u>>56])
	for k < len(c.cdf)-1 && c.cdf[k] <= u {
		k++
	}
	return int64(k)
}

// points are the positions in a cell, ascending, in 2⁻⁶⁴ of its length.
func (c *cells) points(cell int64, into []uint64) []uint64 {
	key := c.key(cell)
	into = into[:0]
	for k := range uint64(c.count(cell)) {
		// Insertion: a cell is short.
		u := mix(key + (k+1)*golden)
		into = append(into, u)
		i := len(into) - 1
		for ; i > 0 && into[i-1] > u; i-- {
			into[i] = into[i-1]
		}
		into[i] = u
	}
	return into
}

// mark keeps the index of the first message of a cell, if it is one to keep.
func (c *cells) mark(cell, first int64) {
	if cell%c.stride != 0 {
		return
	}
	if len(c.marks) == maxMarks {
		for i := range maxMarks / 2 {
			c.marks[i] = c.marks[2*i]
		}
		c.marks, c.stride = c.marks[:maxMarks/2], 2*c.stride
		if cell%c.stride != 0 {
			return
		}
	}
	c.marks = append(c.marks, first)
}

// countCells counts the messages that are due before last, at least one more
// than so many if that is not 0, and keeps marks on the way.
func (a *arrivals) countCells(last, messages int64) error {
	whole, _ := a.curve.count(last)
	if expected := whole; messages == 0 && expected > maxRandom || messages > maxRandom {
		return fmt.Errorf("more than %g messages are too many to be drawn: make the step shorter, lower the rate, or use constant arrivals", maxRandom)
	}
	a.cells = newCells(a.seed)
	var first int64
	for cell := int64(0); cell <= whole/cellMean && (messages == 0 || first <= messages); cell++ {
		a.cells.mark(cell, first)
		first += a.cells.count(cell)
	}
	// The last cell can reach beyond the end.
	a.len = first
	r := poissonReader{a: a}
	for a.len > 0 && r.At(a.len-1) >= last {
		a.len--
	}
	return nil
}

// poissonReader holds the points of one cell.
type poissonReader struct {
	a      *arrivals
	near   int
	cell   int64
	first  int64 // index of the first message of the cell
	points []uint64
	loaded bool
}

// At is when message i is due.
func (r *poissonReader) At(i int64) int64 {
	if k := i - r.first; !r.loaded || k < 0 || k >= int64(len(r.points)) {
		r.seek(i)
	}
	u := r.points[i-r.first]
	// The cell's length is 2⁵ positions.
	return r.a.curve.at(r.cell*cellMean+int64(u>>59), u<<5, &r.near)
}

// seek loads the cell of message i.
func (r *poissonReader) seek(i int64) {
	c := r.a.cells
	cell, first := r.cell, r.first
	if distance := i - first; !r.loaded || distance < -cellMean*c.stride || distance > cellMean*c.stride {
		k := sort.Search(len(c.marks), func(k int) bool { return c.marks[k] > i }) - 1
		cell, first = int64(k)*c.stride, c.marks[k]
	}
	for first > i {
		cell--
		first -= c.count(cell)
	}
	for {
		n := c.count(cell)
		if i < first+n {
			break
		}
		cell, first = cell+1, first+n
	}
	r.cell, r.first, r.loaded = cell, first, true
	r.points = c.points(cell, r.points)
}
