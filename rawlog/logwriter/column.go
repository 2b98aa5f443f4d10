package logwriter

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/format"

	"queuebench/rawlog"
)

// column gathers a field of the rows of a row group, encoded as far as it goes.
type column[T any] interface {
	// take takes at most batchRows rows.
	take(rows []T)
	// size is about how many bytes it will have, before compression.
	size() int
	// flush encodes what was taken into c and begins anew.
	flush(c *columnChunk)
}

// columnChunk is a column of a row group before its compression.
type columnChunk struct {
	column   rawlog.Column
	nulls    int64
	page     []byte // of data: levels and values
	encoding format.Encoding
	dict     []byte // "" for no dictionary
	dictSize int    // values in it
	min, max []byte // nil where no value is
}

// begin puts the levels in front of the page, for an optional column.
func (c *columnChunk) begin(column rawlog.Column, nulls int64, levels runs) {
	c.column, c.nulls = column, nulls
	c.encoding = format.Plain // an empty page, until there are values
	c.page, c.dict, c.dictSize = c.page[:0], c.dict[:0], 0
	c.min, c.max = c.min[:0], c.max[:0]
	if column.Optional {
		c.page = levels.appendTo(append(c.page, 0, 0, 0, 0), 1)
		binary.LittleEndian.PutUint32(c.page, uint32(len(c.page)-4))
	}
}
