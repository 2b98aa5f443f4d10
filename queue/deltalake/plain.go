package deltalake

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"queuebench/internal/pagecheck"
)

// errNotPlain says that a column chunk is none of those that plainPages reads.
// parquet-go reads it then.
var errNotPlain = errors.New("not a PLAIN chunk without nulls")

// errPageChecksum: a byte of a page is not what was written.
var errPageChecksum = errors.New("the checksum of a page is wrong")

// plainPages calls yield with the values of each page of a column chunk, as
// they lie in the file: PLAIN, n of them. Payloads that are not compressed are
// thus never copied, which is a third of the time of parquet-go's page API and
// none of its memory. What has a dictionary, nulls, another encoding or other
// pages than data is errNotPlain, and so is whatever does not add up. A page that is
// not what its checksum says is an error for good, unless checked says that the
// whole body is what it should be.
func plainPages(body []byte, md *format.ColumnMetaData, optional, checked bool, yield func(values []byte, n int) error) error {
	if md.DictionaryPageOffset != 0 || md.DataPageOffset < 4 || md.DataPageOffset > int64(len(body)) ||
		md.TotalCompressedSize < 0 || md.TotalCompressedSize > int64(len(body))-md.DataPageOffset || md.NumValues > maxFileRows {
		return errNotPlain
	}
	rest := body[md.DataPageOffset:][:md.TotalCompressedSize]
	codec := parquet.LookupCompressionCodec(md.Codec)
	reader := new(thrift.CompactProtocol).NewReaderFromBytes(nil)
	decoder := thrift.NewDecoder(reader)
	left := md.NumValues
	for left > 0 {
		var h format.PageHeader
		reader.ResetBytes(rest)
		if err := decoder.Decode(&h); err != nil {
			return errNotPlain
		}
		rest = rest[reader.BytesRead():]
		size := int(h.CompressedPageSize)
		data := h.DataPageHeader.V
		n := int64(data.NumValues)
		if h.Type != format.DataPage || !h.DataPageHeader.Valid || data.Encoding != format.Plain || n < 0 || n > left || size < 0 || size > len(rest) {
			return errNotPlain
		}
		page := rest[:size:size]
		rest = rest[size:]
		// 0 is none: so rarely is it one.
		if h.CRC != 0 && !checked && uint32(h.CRC) != crc32.ChecksumIEEE(page) {
			return errPageChecksum
		}
		if h.UncompressedPageSize < 0 || h.UncompressedPageSize > maxPageBytes {
			return errNotPlain
		}
		if md.Codec != format.Uncompressed {
			if pagecheck.Check(md.Codec, page, int(h.UncompressedPageSize)) != nil {
				return errNotPlain // and the other way says why
			}
			var err error
			if page, err = codec.Decode(nil, page); err != nil {
				return errNotPlain
			}
		}
		if len(page) != int(h.UncompressedPageSize) {
			return errNotPlain
		}
		if optional {
			var ok bool
			if page, ok = withoutLevels(page, n, data.DefinitionLevelEncoding); !ok {
				return errNotPlain
			}
		}
		if err := yield(page, int(n)); err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// withoutLevels cuts the definition levels off a page of an optional column,
// if they are a single run of ones: no value is null. That is all that a
// writer without nulls has reason to write.
func withoutLevels(page []byte, n int64, e format.Encoding) ([]byte, bool) {
	if e != format.RLE || len(page) < 4 {
		return nil, false
	}
	size := binary.LittleEndian.Uint32(page)
	page = page[4:]
	if uint64(size) > uint64(len(page)) {
		return nil, false
	}
	levels := page[:size]
	header, k := binary.Uvarint(levels)
	if k <= 0 || header != uint64(n)<<1 || len(levels) != k+1 || levels[k] != 1 {
		return nil, false
	}
	return page[size:], true
}

// eachInt64 calls yield for n values.
func eachInt64(values []byte, n int, yield func(int64)) error {
	if len(values) < 8*n {
		return errNotPlain
	}
	for i := range n {
		yield(int64(binary.LittleEndian.Uint64(values[8*i:])))
	}
	return nil
}
