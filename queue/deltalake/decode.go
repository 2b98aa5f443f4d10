package deltalake

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go"

	"queuebench/queue"
)

// decoder reads the rows of data files.
type decoder struct {
	column    string
	retracts  bool // rows with diff −1 are no messages
	stamp     *Stamp
	commitMs  int64 // time of the version that is decoded
	partition int32
}

// decodeValues is how many values are taken from a page at once.
const decodeValues = 512

// decode appends the messages of a file to dst, and counts retractions. The
// payloads may point into body.
func (d *decoder) decode(body []byte, version int64, dst []queue.Delivery) (_ []queue.Delivery, retractions int, err error) {
	defer func() {
		// parquet-go answers some corrupt files with a panic.
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: Parquet: %v", ErrCorrupt, r)
		}
	}()
	if err := checkFooter(body); err != nil {
		return dst, 0, fmt.Errorf("%w: Parquet: %w", ErrCorrupt, err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return dst, 0, fmt.Errorf("%w: Parquet: %w", ErrCorrupt, err)
	}
	first := len(dst)
	err = eachChunk(f, body, d.column, parquet.ByteArray, func(c *chunk) error {
		dst, err = d.payloads(c, version, dst)
		return err
	})
	if err == nil && d.stamp != nil {
		err = d.stamp.stampFile(f, body, d.commitMs, dst[first:])
	}
	if err != nil || !d.retracts {
		return dst, 0, err
	}
	// row is read, keep is written.
	row, keep := first, first
	err = eachChunk(f, body, diffColumn, parquet.Int64, func(c *chunk) error {
		return c.int64s(func(diff int64) {
			if row < len(dst) && diff >= 0 {
				dst[keep] = dst[row]
				keep++
			}
			row++
		})
	})
	if err == nil && row != len(dst) {
		err = fmt.Errorf("%w: the column %q has %d rows, the payload %d", ErrCorrupt, diffColumn, row-first, len(dst)-first)
	}
	return dst[:keep], row - keep, err
}

func (d *decoder) payloads(c *chunk, version int64, dst []queue.Delivery) ([]queue.Delivery, error) {
	before := len(dst)
	add := func(b []byte) {
		dst = append(dst, queue.Delivery{Payload: b, Partition: d.partition, Offset: version})
	}
	err := plainPages(c.body, c.meta, c.optional, func(values []byte, n int) error { return eachByteArray(values, n, add) })
	if !errors.Is(err, errNotPlain) {
		return dst, err
	}
	dst = dst[:before]
	err = c.eachValue(func(v parquet.Value) {
		if v.IsNull() {
			add(nil) // a message without bytes
		} else {
			add(v.ByteArray())
		}
	})
	return dst, err
}

// int64s calls yield for each value.
func (c *chunk) int64s(yield func(int64)) error {
	var all []int64 // so that nothing is yielded twice
	err := plainPages(c.body, c.meta, c.optional, func(values []byte, n int) error {
		if all == nil {
			all = make([]int64, 0, n)
		}
		return eachInt64(values, n, func(v int64) { all = append(all, v) })
	})
	if errors.Is(err, errNotPlain) {
		all = all[:0]
		err = c.eachValue(func(v parquet.Value) { all = append(all, v.Int64()) })
	}
	for _, v := range all {
		yield(v)
	}
	return err
}
