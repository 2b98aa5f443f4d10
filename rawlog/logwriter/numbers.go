package logwriter

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/format"

	"queuebench/rawlog"
)

// batchRows is how many rows a column takes at a time: some 20 kB, which stay
// in the nearest cache while all columns take their field of them.
const batchRows = 256

// numbers is a column of int64 or int32.
type numbers[T any] struct {
	column rawlog.Column
	null   int64 // of an optional one: the number that stands for null
	fill   func(dst []int64, rows []T)

	scratch [batchRows]int64
	levels  runs // 1 where a value is there
	nulls   int64
	deltas  deltas
}

func newNumbers[T any](column rawlog.Column, null int64, fill func(dst []int64, rows []T)) *numbers[T] {
	return &numbers[T]{column: column, null: null, fill: fill, deltas: deltas{narrow: column.Type == rawlog.Int32}}
}

func (n *numbers[T]) take(rows []T) {
	values := n.scratch[:len(rows)]
	n.fill(values, rows)
	if n.column.Optional {
		values = n.present(values)
	}
	n.deltas.add(values)
}

// present notes which values are null and returns the others.
func (n *numbers[T]) present(values []int64) []int64 {
	nulls := 0
	for _, v := range values {
		if v == n.null {
			nulls++
		}
	}
	n.nulls += int64(nulls)
	switch nulls {
	case 0:
		n.levels.add(1, len(values))
		return values
	case len(values):
		n.levels.add(0, nulls)
		return nil
	}
	kept := values[:0]
	for _, v := range values {
		if v == n.null {
			n.levels.add(0, 1)
			continue
		}
		n.levels.add(1, 1)
		kept = append(kept, v)
	}
	return kept
}

func (n *numbers[T]) size() int { return len(n.deltas.out) }

func (n *numbers[T]) flush(c *columnChunk) {
	c.begin(n.column, n.nulls, n.levels)
	if n.deltas.count > 0 { // not every reader takes a delta encoding of nothing
		c.page = n.deltas.appendTo(c.page)
		c.encoding = format.DeltaBinaryPacked
		c.min, c.max = n.appendBound(c.min, n.deltas.min), n.appendBound(c.max, n.deltas.max)
	}
	n.deltas.reset()
	n.levels, n.nulls = n.levels[:0], 0
}

func (n *numbers[T]) appendBound(dst []byte, v int64) []byte {
	if n.column.Type == rawlog.Int32 {
		return binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(v))
}
