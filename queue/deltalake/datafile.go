package deltalake

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// encoder writes data files: one row group, pages of version 1, PLAIN, no
// levels, no statistics and no bounds, which nobody who tails a queue would
// read. parquet-go's writer takes each value by itself and keeps bounds, which
// is ten times the work of a copy; its Thrift structures are used. Each page has
// its checksum, for stores that keep none of an object.
type encoder struct {
	columns []column
	codec   compress.Codec
	id      format.CompressionCodec
	out     []byte
	ints    []byte // pages of a constant
	inPlace bool   // the file that is being written is where its batch is
	head    []byte // the header of its first page
	meta    format.FileMetaData
	thrift  *thrift.Encoder
}

type column struct {
	name string
	kind format.Type
}

// A page of payloads ends with the first that reaches so many bytes. One that
// is compressed is best kept in the processor's caches; one that is not should
// be the only one, since the file then is where the batch is.
const (
	smallPage = 1 << 20
	largePage = 32 << 20
)

func (e *encoder) pageBytes() int {
	if e.id == format.Uncompressed {
		return largePage
	}
	return smallPage
}

// fileHead is room for what stands before the first values of a file: the
// magic and the header of a page, of at most 36 bytes.
const fileHead = 64

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
	group := &e.meta.RowGroups[0]
	group.TotalByteSize, group.TotalCompressedSize, group.NumRows = 0, 0, b.rows
	if err := e.begin(b, data, pages); err != nil {
		return fmt.Errorf("deltalake: encode %d rows: %w", b.rows, err)
	}
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
	if !e.inPlace {
		b.copied = b.file
	}
	e.out = nil
	return nil
}

// begin begins a file: in the batch itself, if its first column is one page
// there as it will be in the file, so that nothing is copied.
func (e *encoder) begin(b *batch, data []byte, pages []pageEnd) error {
	more := 1 << 10 // for footer and headers
	for _, c := range e.columns[1:] {
		if c.kind == format.Int64 {
			more += 8*int(b.rows) + 64*len(pages)
		}
	}
	e.inPlace = e.id == format.Uncompressed && len(pages) == 1 && b.rows == int64(b.count)
	if !e.inPlace {
		e.out = append(slices.Grow(b.copied[:0], len(data)+64*len(pages)+more), parquetMagic...)
		return nil
	}
	values := len(data) - fileHead
	e.out = e.head[:0]
	if err := e.header(data[fileHead:], values, pages[0].count); err != nil {
		return err
	}
	head := e.out
	from := fileHead - len(parquetMagic) - len(head)
	if from < 0 {
		return fmt.Errorf("the header of a page has %d bytes", len(head))
	}
	b.data = slices.Grow(data, more)
	e.out = b.data[from:]
	copy(e.out[copy(e.out, parquetMagic):], head)
	e.head = head
	return nil
}

// chunk writes the pages of a column.
func (e *encoder) chunk(i int, data []byte, pages []pageEnd, timeMs int64) (format.ColumnMetaData, error) {
	c := e.columns[i]
	md := format.ColumnMetaData{
		Type: c.kind, Encoding: []format.Encoding{format.Plain}, PathInSchema: []string{c.name},
		Codec: e.id, DataPageOffset: int64(len(e.out)),
	}
	if i == 0 && e.inPlace {
		md.DataPageOffset = int64(len(parquetMagic))
		md.NumValues = int64(pages[0].count)
		md.TotalUncompressedSize = int64(len(e.head) + len(data) - fileHead)
		md.TotalCompressedSize = md.TotalUncompressedSize
		return md, nil
	}
	from := pageEnd{data: fileHead}
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
	err = e.header(stored, len(values), n)
	header = len(e.out) - begin
	e.out = append(e.out, stored...)
	return header, err
}

// header writes the header of a page of n values, which lies in the file as stored,
// and decompresses to so many bytes.
func (e *encoder) header(stored []byte, size, n int) error {
	return e.thrift.Encode(&format.PageHeader{
		Type: format.DataPage, UncompressedPageSize: int32(size), CompressedPageSize: int32(len(stored)), CRC: int32(crc32.ChecksumIEEE(stored)),
		DataPageHeader: thrift.New(format.DataPageHeader{
			NumValues: int32(n), Encoding: format.Plain, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
		}),
	})
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
