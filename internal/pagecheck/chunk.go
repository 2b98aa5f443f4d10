package pagecheck

import (
	"encoding/binary"
	"errors"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"queuebench/internal/thriftwalk"
)

// ErrClaims: a file that claims more than it holds, or than is taken.
var ErrClaims = errors.New("it claims more than it holds, or than a reader takes")

// maxElements bounds the lists in the metadata of a file.
const maxElements = 1 << 18

// Limits are what a column of a row group may claim at most. Beyond them it is
// refused, not cut.
type Limits struct {
	ChunkBytes int64 // of all its pages, as they are stored
	PageBytes  int64 // of a page, decompressed
	PageRows   int64 // of a page, whose nulls take no bytes, and of a dictionary
	Rows       int64 // of the row group
}

// FooterSize is how many bytes the metadata of a file of size bytes takes, by the
// last 8 bytes of it.
func FooterSize(tail []byte, size int64) (int64, error) {
	if size < 12 || len(tail) != 8 || string(tail[4:]) != "PAR1" {
		return 0, errors.New("it does not end as a Parquet file does")
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if n > size-12 {
		return 0, ErrClaims
	}
	return n, nil
}

// Footer follows the metadata of a file and checks each length in it.
func Footer(footer []byte) error {
	_, err := thriftwalk.Structure(footer, maxElements)
	return err
}

// Place is where a chunk lies in a file of size bytes.
func (l Limits) Place(md *format.ColumnMetaData, size int64) (begin, length int64, err error) {
	begin = md.DataPageOffset
	if o := md.DictionaryPageOffset; o > 0 && o < begin {
		begin = o
	}
	length = md.TotalCompressedSize
	if begin < 4 || begin > size || length < 0 || length > size-begin || length > l.ChunkBytes || md.NumValues < 0 || md.NumValues > l.Rows {
		return 0, 0, ErrClaims
	}
	return begin, length, nil
}

// Chunk follows the page headers of a chunk, as it is stored, and checks what
// they claim.
func (l Limits) Chunk(stored []byte, md *format.ColumnMetaData) error {
	reader := new(thrift.CompactProtocol).NewReaderFromBytes(nil)
	decoder := thrift.NewDecoder(reader)
	for left := md.NumValues; len(stored) > 0 && left > 0; {
		length, err := thriftwalk.Structure(stored, maxElements)
		if err != nil {
			return err
		}
		var h format.PageHeader
		reader.ResetBytes(stored[:length])
		if err := decoder.Decode(&h); err != nil {
			return err
		}
		stored = stored[length:]
		n, ok := l.values(&h)
		if !ok || n > left || h.CompressedPageSize < 0 || int(h.CompressedPageSize) > len(stored) || h.UncompressedPageSize < 0 || int64(h.UncompressedPageSize) > l.PageBytes {
			return ErrClaims
		}
		if err := page(md.Codec, &h, stored[:h.CompressedPageSize]); err != nil {
			return err
		}
		stored = stored[h.CompressedPageSize:]
		left -= n
	}
	return nil
}

// values is how many values of the chunk a page holds; a dictionary holds none.
func (l Limits) values(h *format.PageHeader) (n int64, ok bool) {
	switch {
	case h.DataPageHeader.Valid:
		n = int64(h.DataPageHeader.V.NumValues)
	case h.DataPageHeaderV2.Valid:
		n = int64(h.DataPageHeaderV2.V.NumValues)
		levels := int64(h.DataPageHeaderV2.V.DefinitionLevelsByteLength) + int64(h.DataPageHeaderV2.V.RepetitionLevelsByteLength)
		if levels < 0 || levels > int64(h.CompressedPageSize) {
			return 0, false
		}
	case h.DictionaryPageHeader.Valid:
		d := int64(h.DictionaryPageHeader.V.NumValues)
		return 0, d >= 0 && d <= l.PageRows
	}
	return n, n >= 0 && n <= l.PageRows
}

// page holds a page against the size that it claims. Levels of a page of version
// 2 stand before what is compressed.
func page(codec format.CompressionCodec, h *format.PageHeader, body []byte) error {
	size := int(h.UncompressedPageSize)
	if h.DataPageHeaderV2.Valid {
		v := &h.DataPageHeaderV2.V
		levels := int(v.DefinitionLevelsByteLength) + int(v.RepetitionLevelsByteLength)
		if v.IsCompressed.Valid && !v.IsCompressed.V {
			codec = format.Uncompressed
		}
		if size -= levels; size < 0 {
			return ErrClaims
		}
		if body = body[levels:]; len(body) == 0 && size == 0 {
			return nil // nothing but nulls
		}
	}
	return Check(codec, body, size)
}
