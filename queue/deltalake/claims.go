package deltalake

import (
	"encoding/binary"
	"errors"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"queuebench/internal/pagecheck"
	"queuebench/internal/thriftwalk"
)

// The decoders of parquet-go allocate what a file claims to hold before they
// look for it: a list as long as its header says, a page as large as its header
// says. A damaged file must not take the process with it, so the claims are
// checked before the decoders see them.

const (
	maxThriftElements = 1 << 18
	// maxPageBytes and maxFileRows bound what one data file makes a reader
	// allocate. Beyond them it is refused, not cut.
	maxPageBytes = 1 << 28
	maxFileRows  = 1 << 24
)

var errClaims = errors.New("it claims more than it holds, or than a reader takes")

// checkFooter follows the footer of a file and checks each length in it.
func checkFooter(body []byte) error {
	if len(body) < 12 || string(body[len(body)-4:]) != "PAR1" {
		return errors.New("it does not end as a Parquet file does")
	}
	size := int64(binary.LittleEndian.Uint32(body[len(body)-8:]))
	if size > int64(len(body)-12) {
		return errClaims
	}
	footer := body[int64(len(body))-8-size : len(body)-8]
	_, err := thriftwalk.Structure(footer, maxThriftElements)
	return err
}

// checkPages follows the page headers of a chunk and checks what they claim.
func checkPages(body []byte, md *format.ColumnMetaData) error {
	begin := md.DataPageOffset
	if o := md.DictionaryPageOffset; o > 0 && o < begin {
		begin = o
	}
	if begin < 4 || begin > int64(len(body)) || md.TotalCompressedSize < 0 || md.TotalCompressedSize > int64(len(body))-begin || md.NumValues < 0 || md.NumValues > maxFileRows {
		return errClaims
	}
	rest := body[begin:][:md.TotalCompressedSize]
	reader := new(thrift.CompactProtocol).NewReaderFromBytes(nil)
	decoder := thrift.NewDecoder(reader)
	left := md.NumValues
	for len(rest) > 0 && left > 0 {
		length, err := thriftwalk.Structure(rest, maxThriftElements)
		if err != nil {
			return err
		}
		var h format.PageHeader
		reader.ResetBytes(rest[:length])
		if err := decoder.Decode(&h); err != nil {
			return err
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
			if d := h.DictionaryPageHeader.V.NumValues; d < 0 || d > maxFileRows {
				return errClaims
			}
		}
		if n < 0 || int64(n) > left || h.CompressedPageSize < 0 || int(h.CompressedPageSize) > len(rest) || h.UncompressedPageSize < 0 || h.UncompressedPageSize > maxPageBytes {
			return errClaims
		}
		if err := checkSize(md.Codec, &h, rest[:h.CompressedPageSize]); err != nil {
			return err
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
