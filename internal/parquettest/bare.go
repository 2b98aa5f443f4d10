package parquettest

import (
	"encoding/binary"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"queuebench/internal/thriftwalk"
)

// Bare is a Parquet file with the rows of body whose pages are neither
// compressed nor have a checksum, and that has no statistics and no indexes: what
// a fuzzer alters in it reaches the decoders, and it is small.
func Bare(t testing.TB, body []byte) []byte {
	t.Helper()
	length := int(binary.LittleEndian.Uint32(body[len(body)-8:]))
	meta := new(format.FileMetaData)
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), body[len(body)-8-length:len(body)-8], meta); err != nil {
		t.Fatal(err)
	}
	unsummed(meta)
	out := []byte("PAR1")
	for g := range meta.RowGroups {
		group := &meta.RowGroups[g]
		group.FileOffset = 0
		for c := range group.Columns {
			chunk := &group.Columns[c]
			chunk.OffsetIndexOffset, chunk.OffsetIndexLength, chunk.ColumnIndexOffset, chunk.ColumnIndexLength = 0, 0, 0, 0
			m := &chunk.MetaData
			from := m.DataPageOffset
			if d := m.DictionaryPageOffset; d > 0 && d < from {
				from = d
			}
			pages := body[from : from+m.TotalCompressedSize]
			m.DataPageOffset, m.DictionaryPageOffset = 0, 0
			begin := len(out)
			for len(pages) > 0 {
				page, rest, kind := barePage(t, m.Codec, pages)
				switch at := int64(len(out)); {
				case kind == format.DictionaryPage:
					m.DictionaryPageOffset = at
				case m.DataPageOffset == 0:
					m.DataPageOffset = at
				}
				out, pages = append(out, page...), rest
			}
			size := int64(len(out) - begin)
			m.Codec, m.TotalCompressedSize, m.TotalUncompressedSize = format.Uncompressed, size, size
			m.Statistics, m.EncodingStats = format.Statistics{}, nil
		}
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), meta)
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	return append(out, "PAR1"...)
}

// barePage is the first page of a column as it stands in a bare file, and the
// pages behind it.
func barePage(t testing.TB, codec format.CompressionCodec, pages []byte) (page, rest []byte, kind format.PageType) {
	t.Helper()
	length, err := thriftwalk.Structure(pages, 1<<10)
	if err != nil {
		t.Fatal(err)
	}
	var h format.PageHeader
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), pages[:length], &h); err != nil {
		t.Fatal(err)
	}
	body := pages[length : length+int(h.CompressedPageSize)]
	rest = pages[length+int(h.CompressedPageSize):]
	levels := 0
	packed := codec == format.Zstd
	h.DataPageHeader.V.Statistics = format.Statistics{}
	if v2 := &h.DataPageHeaderV2; v2.Valid {
		levels = int(v2.V.DefinitionLevelsByteLength + v2.V.RepetitionLevelsByteLength)
		packed = packed && (!v2.V.IsCompressed.Valid || v2.V.IsCompressed.V)
		v2.V.IsCompressed.Set(false)
		v2.V.Statistics = format.Statistics{}
	}
	values := body[levels:]
	if packed {
		d, err := zstd.NewReader(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if values, err = d.DecodeAll(values, nil); err != nil {
			t.Fatal(err)
		}
	}
	h.CRC, h.CompressedPageSize = 0, int32(levels+len(values))
	h.UncompressedPageSize = h.CompressedPageSize
	head, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
	if err != nil {
		t.Fatal(err)
	}
	return append(append(head, body[:levels]...), values...), rest, h.Type
}
