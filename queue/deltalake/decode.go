package deltalake

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"queuebench/queue"
)

// decoder reads the rows of data files.
type decoder struct {
	column    string
	retracts  bool // rows with diff −1 are no messages
	stamp     *Stamp
	commitMs  int64 // time of the version that is decoded
	partition int32
	checked   bool // the body was held against a checksum of the whole
	elsewhere bool // some payloads of the last file do not lie in its body
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
	d.elsewhere = false
	err = eachChunk(f, body, d.column, parquet.ByteArray, func(c *chunk) error {
		c.checked = d.checked
		dst, err = d.payloads(c, version, dst)
		return err
	})
	if n := len(dst) - first; err == nil && int64(n) != f.NumRows() {
		err = fmt.Errorf("%w: Parquet: %d rows, the footer says %d", ErrCorrupt, n, f.NumRows())
	}
	if err == nil && d.stamp != nil {
		err = d.stamp.stampFile(f, body, d.commitMs, dst[first:])
	}
	if err != nil || !d.retracts {
		return dst, 0, err
	}
	// row is read, keep is written.
	row, keep := first, first
	err = eachChunk(f, body, diffColumn, parquet.Int64, func(c *chunk) error {
		c.checked = d.checked
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
	d.elsewhere = d.elsewhere || c.meta.Codec != format.Uncompressed
	err := plainPages(c.body, c.meta, c.optional, c.checked, func(values []byte, n int) (err error) {
		dst, err = d.deliveries(values, n, version, dst)
		return err
	})
	if !errors.Is(err, errNotPlain) {
		return dst, err
	}
	dst, d.elsewhere = dst[:before], true
	err = c.eachValue(func(v parquet.Value) {
		m := queue.Delivery{Partition: d.partition, Offset: version}
		if !v.IsNull() { // else a message without bytes
			m.Payload = v.ByteArray()
		}
		dst = append(dst, m)
	})
	return dst, err
}

// deliveries appends the messages of a page: n length-prefixed values.
func (d *decoder) deliveries(values []byte, n int, version int64, dst []queue.Delivery) ([]queue.Delivery, error) {
	if n < 0 || len(values)/4 < n {
		return dst, errNotPlain
	}
	dst = slices.Grow(dst, n)
	page := dst[len(dst) : len(dst)+n]
	for i := range page {
		if len(values) < 4 {
			return dst, errNotPlain
		}
		size := binary.LittleEndian.Uint32(values)
		if uint64(size) > uint64(len(values)-4) {
			return dst, errNotPlain
		}
		page[i] = queue.Delivery{Payload: values[4 : 4+size : 4+size], Partition: d.partition, Offset: version}
		values = values[4+size:]
	}
	return dst[:len(dst)+n], nil
}

// int64s calls yield for each value.
func (c *chunk) int64s(yield func(int64)) error {
	var all []int64 // so that nothing is yielded twice
	err := plainPages(c.body, c.meta, c.optional, c.checked, func(values []byte, n int) error {
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
