package logwriter

import (
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"queuebench/rawlog"
)

// partWriter writes a Parquet file: row groups whose columns have one data page
// each, and the footer. It writes the parts of a writer one after the other.
type partWriter struct {
	table *rawlog.Table
	zstd  *zstd.Encoder // shared with other writers

	out    io.Writer
	offset int64  // of buf in the file
	buf    []byte // goes to the file at the end of a row group
	rows   int64
	groups []format.RowGroup
	pages  [][]pageIndex // per row group and column

	chunk  columnChunk
	packed [2][]byte
	codecs []codec // per column
}

const magic = "PAR1"

// newCompressor makes the compressor of all writers of a log. Pages have their
// own checksum. The default window would take 8 MB of memory for each of the
// two, and finds nothing more in packed bits.
func newCompressor() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(128<<10),
		zstd.WithEncoderConcurrency(2), zstd.WithEncoderCRC(false))
}

func newPartWriter(table *rawlog.Table, z *zstd.Encoder) *partWriter {
	return &partWriter{table: table, zstd: z, codecs: make([]codec, len(table.Columns))}
}

// start begins a file.
func (w *partWriter) start(out io.Writer) {
	for i := range w.codecs {
		w.codecs[i].chosen = false
	}
	w.out, w.offset, w.rows = out, 0, 0
	w.groups, w.pages = nil, nil
	w.buf = append(w.buf[:0], magic...)
}

// Write makes room in the file's buffer; it is for Thrift's encoder.
func (w *partWriter) Write(p []byte) (int, error) {
	w.buf = append(w.buf, p...)
	return len(p), nil
}

func (w *partWriter) position() int64 { return w.offset + int64(len(w.buf)) }

func (w *partWriter) flush() error {
	n, err := w.out.Write(w.buf)
	w.offset += int64(n)
	w.buf = w.buf[:0]
	return err
}

// writeGroup writes what the columns took as a row group; last says that it is
// the file's last one.
func writeGroup[T any](w *partWriter, columns []column[T], rows int, last bool) error {
	g := format.RowGroup{NumRows: int64(rows), FileOffset: w.position(), Ordinal: int16(len(w.groups))}
	g.Columns = make([]format.ColumnChunk, len(columns))
	pages := make([]pageIndex, len(columns))
	for i, c := range columns {
		c.flush(&w.chunk)
		w.choose(i, last)
		meta := &g.Columns[i].MetaData
		if err := w.writeChunk(i, rows, meta, &pages[i]); err != nil {
			return err
		}
		g.TotalByteSize += meta.TotalUncompressedSize
		g.TotalCompressedSize += meta.TotalCompressedSize
	}
	w.groups, w.pages = append(w.groups, g), append(w.pages, pages)
	w.rows += int64(rows)
	return w.flush()
}

// writeChunk writes the chunk at hand, a column of a row group, and describes
// it in meta and index.
func (w *partWriter) writeChunk(column, rows int, meta *format.ColumnMetaData, index *pageIndex) error {
	c := &w.chunk
	meta.Type = physicalType(c.column.Type)
	meta.PathInSchema = []string{c.column.Name}
	meta.NumValues = int64(rows)
	meta.Statistics.NullCount = c.nulls
	if c.dictSize > 0 || c.encoding != format.Plain { // a value is there
		meta.Statistics.MinValue, meta.Statistics.MaxValue = append([]byte{}, c.min...), append([]byte{}, c.max...)
	}
	if c.column.Optional {
		meta.Encoding = append(meta.Encoding, format.RLE) // of the levels
	}
	dict, page := c.dict, c.page
	if meta.Codec = w.codecs[column].id; meta.Codec == format.Zstd {
		dict, page = w.compress()
	}

	start, uncompressed := w.position(), 0
	if c.dictSize > 0 {
		meta.DictionaryPageOffset = start
		meta.Encoding = append(meta.Encoding, format.Plain)
		meta.EncodingStats = append(meta.EncodingStats, format.PageEncodingStats{PageType: format.DictionaryPage, Encoding: format.Plain, Count: 1})
		n, err := w.writePage(dict, len(c.dict), format.PageHeader{
			Type:                 format.DictionaryPage,
			DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(c.dictSize), Encoding: format.Plain}),
		})
		if err != nil {
			return err
		}
		uncompressed += n
	}
	meta.DataPageOffset = w.position()
	meta.Encoding = append(meta.Encoding, c.encoding)
	meta.EncodingStats = append(meta.EncodingStats, format.PageEncodingStats{PageType: format.DataPage, Encoding: c.encoding, Count: 1})
	n, err := w.writePage(page, len(c.page), format.PageHeader{
		Type: format.DataPage,
		DataPageHeader: thrift.New(format.DataPageHeader{
			NumValues: int32(rows), Encoding: c.encoding,
			DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
			Statistics: format.Statistics{NullCount: c.nulls},
		}),
	})
	if err != nil {
		return err
	}
	meta.TotalUncompressedSize = int64(uncompressed + n)
	meta.TotalCompressedSize = w.position() - start
	*index = pageIndex{
		offset: meta.DataPageOffset, size: int32(w.position() - meta.DataPageOffset),
		nulls: c.nulls, null: c.nulls == int64(rows), min: meta.Statistics.MinValue, max: meta.Statistics.MaxValue,
	}
	return nil
}

// writePage writes a page's header and its body as it is stored, and returns
// how long they were if nothing were compressed.
func (w *partWriter) writePage(body []byte, size int, h format.PageHeader) (int, error) {
	h.UncompressedPageSize, h.CompressedPageSize = int32(size), int32(len(body))
	h.CRC = int32(crc32.ChecksumIEEE(body))
	start := len(w.buf)
	if err := w.encode(&h); err != nil {
		return 0, err
	}
	header := len(w.buf) - start
	w.buf = append(w.buf, body...)
	return header + size, nil
}

// encode appends a structure of Thrift.
func (w *partWriter) encode(v any) error {
	return thrift.NewEncoder(new(thrift.CompactProtocol).NewWriter(w)).Encode(v)
}

// codec is how a column is compressed in the file at hand: in all row groups
// alike, since there are readers (parquet-go is one) that take it from the
// first.
type codec struct {
	id     format.CompressionCodec
	chosen bool
	skip   int // files for which compression is not tried
}

const (
	// worthBytes is how much a column has before its compression is tried.
	worthBytes = 64
	// skipFiles is for how many files it is not tried again after it saved less
	// than a sixteenth: differences that are noise cost the most time and yield
	// nothing.
	skipFiles = 7
)

// choose chooses by the first row group of a file whether a column is
// compressed in it.
func (w *partWriter) choose(column int, last bool) {
	c := &w.codecs[column]
	if c.chosen {
		return
	}
	c.chosen, c.id = true, format.Zstd
	size := len(w.chunk.dict) + len(w.chunk.page)
	switch {
	case size < worthBytes:
		if last { // otherwise what follows may be larger
			c.id = format.Uncompressed
		}
	case c.skip > 0:
		c.skip--
		c.id = format.Uncompressed
	default:
		if dict, page := w.compress(); len(dict)+len(page) > size-size/16 {
			c.skip = skipFiles
			c.id = format.Uncompressed
		}
	}
}

// compress compresses the pages of the chunk at hand.
func (w *partWriter) compress() (dict, page []byte) {
	w.packed[0] = w.packed[0][:0]
	if len(w.chunk.dict) > 0 {
		w.packed[0] = w.zstd.EncodeAll(w.chunk.dict, w.packed[0])
	}
	w.packed[1] = w.zstd.EncodeAll(w.chunk.page, w.packed[1][:0])
	return w.packed[0], w.packed[1]
}
