package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"queuebench/internal/pagecheck"
	"queuebench/internal/thriftwalk"
)

const (
	maxThriftElements = 1 << 18
	maxFooterBytes    = 16 << 20
	// maxChunkBytes bounds a column of a row group as it is stored, maxPageBytes
	// a page of it when decompressed. Beyond them a file is refused, not cut.
	maxChunkBytes = 64 << 20
	maxPageBytes  = 16 << 20
	maxGroupRows  = 1 << 24
	// maxPageRows bounds a page, whose nulls take no bytes.
	maxPageRows = 1 << 21
)

var (
	errDamaged = errors.New("the file is damaged")
	errClaims  = fmt.Errorf("%w: it claims more than it holds, or than is taken", errDamaged)
)

func readAt(r io.ReaderAt, offset, n int64) ([]byte, error) {
	b := make([]byte, n)
	if _, err := r.ReadAt(b, offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b, nil
}

// checkFooter follows the footer of a file and checks each length in it.
func checkFooter(r io.ReaderAt, size int64) error {
	if size < 12 {
		return errClaims
	}
	tail, err := readAt(r, size-8, 8)
	if err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if string(tail[4:]) != "PAR1" {
		return fmt.Errorf("%w: its footer is missing", errDamaged)
	}
	if n > size-12 || n > maxFooterBytes {
		return errClaims
	}
	footer, err := readAt(r, size-8-n, n)
	if err != nil {
		return err
	}
	if _, err := thriftwalk.Structure(footer, maxThriftElements); err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return nil
}

// checkPages follows the page headers of a chunk and checks what they claim.
func checkPages(r io.ReaderAt, size int64, md *format.ColumnMetaData) error {
	begin := md.DataPageOffset
	if o := md.DictionaryPageOffset; o > 0 && o < begin {
		begin = o
	}
	if begin < 4 || begin > size || md.TotalCompressedSize < 0 || md.TotalCompressedSize > size-begin || md.TotalCompressedSize > maxChunkBytes || md.NumValues < 0 || md.NumValues > maxGroupRows {
		return errClaims
	}
	rest, err := readAt(r, begin, md.TotalCompressedSize)
	if err != nil {
		return err
	}
	reader := new(thrift.CompactProtocol).NewReaderFromBytes(nil)
	decoder := thrift.NewDecoder(reader)
	for left := md.NumValues; len(rest) > 0 && left > 0; {
		length, err := thriftwalk.Structure(rest, maxThriftElements)
		if err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
		var h format.PageHeader
		reader.ResetBytes(rest[:length])
		if err := decoder.Decode(&h); err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
		rest = rest[length:]
		var n int32
		switch {
		case h.DataPageHeader.Valid:
			n = h.DataPageHeader.V.NumValues
		case h.DataPageHeaderV2.Valid:
			n = h.DataPageHeaderV2.V.NumValues
			levels := int64(h.DataPageHeaderV2.V.DefinitionLevelsByteLength) + int64(h.DataPageHeaderV2.V.RepetitionLevelsByteLength)
			if levels < 0 || levels > int64(h.CompressedPageSize) {
				return errClaims
			}
		case h.DictionaryPageHeader.Valid:
			if d := h.DictionaryPageHeader.V.NumValues; d < 0 || d > maxPageRows {
				return errClaims
			}
		}
		if n < 0 || int64(n) > left || n > maxPageRows || h.CompressedPageSize < 0 || int(h.CompressedPageSize) > len(rest) || h.UncompressedPageSize < 0 || h.UncompressedPageSize > maxPageBytes {
			return errClaims
		}
		if err := checkSize(md.Codec, &h, rest[:h.CompressedPageSize]); err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
		rest = rest[h.CompressedPageSize:]
		left -= int64(n)
	}
	return nil
}

// checkSize holds a page against the size that it claims. Levels of a page of
// version 2 stand before what is compressed.
func checkSize(codec format.CompressionCodec, h *format.PageHeader, page []byte) error {
	size := int(h.UncompressedPageSize)
	if h.DataPageHeaderV2.Valid {
		v := &h.DataPageHeaderV2.V
		levels := int(v.DefinitionLevelsByteLength) + int(v.RepetitionLevelsByteLength)
		if v.IsCompressed.Valid && !v.IsCompressed.V {
			codec = format.Uncompressed
		}
		if size -= levels; size < 0 {
			return errClaims
		}
		if page = page[levels:]; len(page) == 0 && size == 0 {
			return nil // nothing but nulls
		}
	}
	return pagecheck.Check(codec, page, size)
}
