package deltalake

import (
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"
)

// encoder writes data files: pages of version 1, PLAIN, no statistics and no
// bounds, which nobody who tails a queue would read. It is reused, and so is
// all its memory.
type encoder struct {
	w      *parquet.GenericWriter[any]
	schema Schema
	values []parquet.Value
	ints   []parquet.Value
}

// encodeRows and encodeBytes bound the values that are built at once, and so
// the size of a page: a page ends with the first of them that is reached after
// pageBytes.
const (
	encodeRows  = 4096
	encodeBytes = 1 << 20
	pageBytes   = 1 << 20
)

func newEncoder(cfg *Config) (*encoder, error) {
	codec, err := cfg.Codec.compress()
	if err != nil {
		return nil, err
	}
	columns := parquet.Group{cfg.Column: parquet.Leaf(parquet.ByteArrayType)}
	if cfg.Schema == Pathway {
		columns[timeColumn] = parquet.Leaf(parquet.Int64Type)
		columns[diffColumn] = parquet.Leaf(parquet.Int64Type)
	}
	for name, node := range columns {
		columns[name] = parquet.Encoded(parquet.Compressed(parquet.Required(node), codec), &parquet.Plain)
	}
	e := &encoder{schema: cfg.Schema}
	options := []parquet.WriterOption{
		parquet.NewSchema("queue", columns), parquet.DataPageVersion(1), parquet.DataPageStatistics(false),
		parquet.MaxRowsPerRowGroup(math.MaxInt32), parquet.PageBufferSize(pageBytes), parquet.CreatedBy("queuebench", "1", ""),
	}
	for name := range columns {
		// No SkipPageBounds: it writes bounds of zero, by which a reader skips rows.
		options = append(options, parquet.SkipPageStatistics(name))
	}
	e.w = parquet.NewGenericWriter[any](io.Discard, options...)
	return e, nil
}

// encode writes the batch's messages that still have an owner to its file.
// timeMs goes into the column time.
func (e *encoder) encode(b *batch, timeMs int64) error {
	e.w.Reset(&b.file)
	// In the order of their names: data, diff, time.
	columns := e.w.ColumnWriters()
	begin, rows := 0, 0
	for _, r := range b.runs {
		end := begin + int(r.n)
		if !r.dead {
			for from, to := begin, begin; from < end; from = to {
				e.values = e.values[:0]
				for size := 0; to < end && to-from < encodeRows && size < encodeBytes; to++ {
					p := b.payload(to)
					size += len(p)
					e.values = append(e.values, parquet.ByteArrayValue(p))
				}
				if _, err := columns[0].WriteRowValues(e.values); err != nil {
					return err
				}
				if e.schema == Pathway {
					if err := e.constants(columns[1:], to-from, timeMs); err != nil {
						return err
					}
				}
			}
			rows += int(r.n)
		}
		begin = end
	}
	clear(e.values[:cap(e.values)]) // they point into the batch
	if err := e.w.Close(); err != nil {
		return fmt.Errorf("deltalake: encode %d rows: %w", rows, err)
	}
	return nil
}

// constants writes n rows of diff and time.
func (e *encoder) constants(columns []*parquet.ColumnWriter, n int, timeMs int64) error {
	for i, value := range []int64{1, timeMs &^ 1} {
		e.ints = e.ints[:0]
		for range n {
			e.ints = append(e.ints, parquet.Int64Value(value))
		}
		if _, err := columns[i].WriteRowValues(e.ints); err != nil {
			return err
		}
	}
	return nil
}
