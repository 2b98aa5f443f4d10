package deltalake

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// chunk is a column chunk of a file that is in memory.
type chunk struct {
	body     []byte
	meta     *format.ColumnMetaData
	optional bool
	checked  bool // the body is what was stored
	parquet.ColumnChunk
}

// eachChunk calls yield for the chunks of a column, which stands at the top of
// the schema.
func eachChunk(f *parquet.File, body []byte, column string, kind parquet.Kind, yield func(*chunk) error) error {
	leaf, ok := f.Schema().Lookup(column)
	if !ok || leaf.Node.Repeated() || leaf.Node.Type().Kind() != kind {
		return fmt.Errorf("%w: it has no column %q of type %v", ErrCorrupt, column, kind)
	}
	meta := f.Metadata()
	for i, rg := range f.RowGroups() {
		chunks := rg.ColumnChunks()
		if leaf.ColumnIndex >= len(chunks) || i >= len(meta.RowGroups) || leaf.ColumnIndex >= len(meta.RowGroups[i].Columns) {
			return fmt.Errorf("%w: row group %d has no chunk of column %q", ErrCorrupt, i, column)
		}
		c := &chunk{body: body, meta: &meta.RowGroups[i].Columns[leaf.ColumnIndex].MetaData, optional: leaf.Node.Optional(), ColumnChunk: chunks[leaf.ColumnIndex]}
		if err := yield(c); err != nil {
			return fmt.Errorf("%w: Parquet: column %q: %w", ErrCorrupt, column, err)
		}
	}
	return nil
}

// eachValue calls yield for the values of a chunk. The pages are not released,
// so what the values point to stays as it is.
func (c *chunk) eachValue(yield func(parquet.Value)) error {
	if err := checkPages(c.body, c.meta); err != nil {
		return err
	}
	pages := c.Pages()
	defer pages.Close()
	buf := make([]parquet.Value, decodeValues)
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
			n, err := values.ReadValues(buf)
			for _, v := range buf[:n] {
				yield(v)
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
