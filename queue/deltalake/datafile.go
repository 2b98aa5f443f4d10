package deltalake

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// encoder writes data files: one row group, pages of version 1, PLAIN, no
// levels, no statistics and no bounds, which nobody who tails a queue would
// read. parquet-go's writer takes each value by itself and keeps bounds, which
// is ten times the work of a copy; its Thrift structures are used.
type encoder struct {
	columns []column
	codec   compress.Codec
	id      format.CompressionCodec
	out     []byte
	ints    []byte // pages of a constant
	meta    format.FileMetaData
	thrift  *thrift.Encoder
}

type column struct {
	name string
	kind format.Type
}

// pageBytes ends a page of payloads with the first that reaches it.
const pageBytes = 1 << 20

const parquetMagic = "PAR1"

func newEncoder(cfg *Config) (*encoder, error) {
	codec, err := cfg.Codec.compress()
	if err != nil {
		return nil, err
	}
	e := &encoder{codec: codec, id: codec.CompressionCodec(), columns: []column{{cfg.Column, format.ByteArray}}}
	if cfg.Schema == Pathway {
		e.columns = append(e.columns, column{timeColumn, format.Int64}, column{diffColumn, format.Int64})
	}
	e.thrift = thrift.NewEncoder(new(thrift.CompactProtocol).NewWriter(e))
	e.meta = format.FileMetaData{
		Version: 1, CreatedBy: "queuebench version 1 (build 0)",
		Schema:    []format.SchemaElement{{Name: "queue", NumChildren: thrift.New(int32(len(e.columns)))}},
		RowGroups: []format.RowGroup{{Columns: make([]format.ColumnChunk, len(e.columns))}},
	}
	for _, c := range e.columns {
		e.meta.Schema = append(e.meta.Schema, format.SchemaElement{Name: c.name, Type: thrift.New(c.kind), RepetitionType: thrift.New(format.Required)})
	}
	return e, nil
}

// Write appends to the file, for the Thrift encoder.
func (e *encoder) Write(b []byte) (int, error) {
	e.out = append(e.out, b...)
	return len(b), nil
}

// encode writes the messages of a sealed batch to its file, in the place of
// what was there. timeMs goes into the column time.
func (e *encoder) encode(b *batch, timeMs int64) error {
	data, pages := b.plain()
	e.out = append(slices.Grow(b.file[:0], len(data)+16*len(e.columns)*len(pages)+1<<10), parquetMagic...)
	group := &e.meta.RowGroups[0]
	group.TotalByteSize, group.TotalCompressedSize, group.NumRows = 0, 0, b.rows
	for i := range e.columns {
		md, err := e.chunk(i, data, pages, timeMs)
		if err != nil {
			return fmt.Errorf("deltalake: encode %d rows: column %q: %w", b.rows, e.columns[i].name, err)
		}
		group.Columns[i] = format.ColumnChunk{MetaData: md}
		group.TotalByteSize += md.TotalUncompressedSize
		group.TotalCompressedSize += md.TotalCompressedSize
	}
	e.meta.NumRows = b.rows
	footer := len(e.out)
	if err := e.thrift.Encode(&e.meta); err != nil {
		return fmt.Errorf("deltalake: encode the footer of %d rows: %w", b.rows, err)
	}
	e.out = binary.LittleEndian.AppendUint32(e.out, uint32(len(e.out)-footer))
	b.file = append(e.out, parquetMagic...)
	e.out = nil
	return nil
}

// chunk writes the pages of a column.
func (e *encoder) chunk(i int, data []byte, pages []pageEnd, timeMs int64) (format.ColumnMetaData, error) {
	c := e.columns[i]
	md := format.ColumnMetaData{
		Type: c.kind, Encoding: []format.Encoding{format.Plain}, PathInSchema: []string{c.name},
		Codec: e.id, DataPageOffset: int64(len(e.out)),
	}
	var from pageEnd
	for _, to := range pages {
		values := data[from.data:to.data]
		switch c.name {
		case timeColumn:
			values = e.constants(to.count-from.count, timeMs&^1)
		case diffColumn:
			values = e.constants(to.count-from.count, 1)
		}
		header, err := e.page(values, to.count-from.count)
		if err != nil {
			return md, err
		}
		md.NumValues += int64(to.count - from.count)
		md.TotalUncompressedSize += int64(header + len(values))
		from = to
	}
	md.TotalCompressedSize = int64(len(e.out)) - md.DataPageOffset
	return md, nil
}

// page writes a page and returns the size of its header.
func (e *encoder) page(values []byte, n int) (header int, err error) {
	stored := values
	if e.id != format.Uncompressed {
		if stored, err = e.codec.Encode(nil, values); err != nil {
			return 0, err
		}
	}
	begin := len(e.out)
	err = e.thrift.Encode(&format.PageHeader{
		Type: format.DataPage, UncompressedPageSize: int32(len(values)), CompressedPageSize: int32(len(stored)),
		DataPageHeader: thrift.New(format.DataPageHeader{
			NumValues: int32(n), Encoding: format.Plain, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
		}),
	})
	header = len(e.out) - begin
	e.out = append(e.out, stored...)
	return header, err
}

// constants is n times a value, PLAIN.
func (e *encoder) constants(n int, value int64) []byte {
	e.ints = slices.Grow(e.ints[:0], 8*n)
	for range n {
		e.ints = binary.LittleEndian.AppendUint64(e.ints, uint64(value))
	}
	return e.ints
}

func (c Codec) compress() (compress.Codec, error) {
	switch c {
	case None:
		return &parquet.Uncompressed, nil
	case Snappy:
		return &parquet.Snappy, nil
	case Zstd:
		return &parquet.Zstd, nil
	}
	return nil, fmt.Errorf("deltalake: unknown codec %q, there are none, snappy and zstd", string(c))
}
