package deltalake

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"queuebench/queue"
)

// decoder reads the rows of data files.
type decoder struct {
	column    string
	retracts  bool // rows with diff −1 are no messages
	partition int32
}

// decodeValues is how many values are taken from a page at once.
const decodeValues = 512

// decode appends the messages of a file to dst, and counts retractions. The
// payloads lie in memory that nobody else uses.
func (d *decoder) decode(body []byte, version int64, dst []queue.Delivery) (_ []queue.Delivery, retractions int, err error) {
	defer func() {
		// parquet-go answers some corrupt files with a panic.
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: Parquet: %v", ErrCorrupt, r)
		}
	}()
	f, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return dst, 0, fmt.Errorf("%w: Parquet: %w", ErrCorrupt, err)
	}
	payload, ok := f.Schema().Lookup(d.column)
	if !ok || payload.Node.Type().Kind() != parquet.ByteArray {
		return dst, 0, fmt.Errorf("%w: it has no column %q of type BYTE_ARRAY", ErrCorrupt, d.column)
	}
	first := len(dst)
	for _, rg := range f.RowGroups() {
		if dst, err = d.payloads(rg.ColumnChunks()[payload.ColumnIndex], version, dst); err != nil {
			return dst, 0, fmt.Errorf("%w: Parquet: column %q: %w", ErrCorrupt, d.column, err)
		}
	}
	if !d.retracts {
		return dst, 0, nil
	}
	diff, ok := f.Schema().Lookup(diffColumn)
	if !ok || diff.Node.Type().Kind() != parquet.Int64 {
		return dst, 0, fmt.Errorf("%w: it has no column %q of type INT64", ErrCorrupt, diffColumn)
	}
	// row is read, keep is written.
	row, keep := first, first
	for _, rg := range f.RowGroups() {
		err := eachPage(rg.ColumnChunks()[diff.ColumnIndex], func(v parquet.Value) error {
			if row == len(dst) {
				return errors.New("more rows than the payload has")
			}
			if v.Int64() >= 0 {
				dst[keep] = dst[row]
				keep++
			}
			row++
			return nil
		})
		if err != nil {
			return dst, 0, fmt.Errorf("%w: Parquet: column %q: %w", ErrCorrupt, diffColumn, err)
		}
	}
	if row != len(dst) {
		return dst, 0, fmt.Errorf("%w: the column %q has %d rows, the payload %d", ErrCorrupt, diffColumn, row-first, len(dst)-first)
	}
	return dst[:keep], row - keep, nil
}

func (d *decoder) payloads(chunk parquet.ColumnChunk, version int64, dst []queue.Delivery) ([]queue.Delivery, error) {
	err := eachPage(chunk, func(v parquet.Value) error {
		var b []byte // a null is a message without bytes
		if !v.IsNull() {
			b = v.ByteArray()
		}
		dst = append(dst, queue.Delivery{Payload: b, Partition: d.partition, Offset: version})
		return nil
	})
	return dst, err
}

// eachPage calls yield for the values of a column chunk. The pages are not
// released, so what the values point to stays as it is.
func eachPage(chunk parquet.ColumnChunk, yield func(parquet.Value) error) error {
	pages := chunk.Pages()
	defer pages.Close()
	var buf [decodeValues]parquet.Value
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		values := page.Values()
		for {
			n, err := values.ReadValues(buf[:])
			for _, v := range buf[:n] {
				if err := yield(v); err != nil {
					return err
				}
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
		}
	}
}
