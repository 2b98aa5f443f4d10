package rawlog

import (
	"hash/crc32"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// readColumn decodes a column of a row group.
func (r *PartReader) readColumn(v *Values, l leaf, meta *format.ColumnMetaData, rows int) error {
	start := meta.DataPageOffset
	if d := meta.DictionaryPageOffset; d > 0 && d < start {
		start = d
	}
	size := meta.TotalCompressedSize
	switch {
	case meta.NumValues != int64(rows):
		return damaged("%d values for %d rows", meta.NumValues, rows)
	case start < int64(len(magic)) || size < 0 || start > r.data || size > r.data-start:
		return damaged("%d bytes at %d lie outside of the file's data", size, start)
	case meta.Codec != format.Uncompressed && meta.Codec != format.Zstd:
		return unsupported("compression by %v", meta.Codec)
	}
	b, err := readRange(r.obj, r.chunk, start, size)
	if err != nil {
		return err
	}
	if _, inMemory := r.obj.(interface{ Bytes() []byte }); !inMemory {
		r.chunk = b
	}
	v.reset(rows)
	budget := int64(MaxColumnBytes)
	for done := 0; done < rows; {
		var header format.PageHeader
		n, err := decodeThrift(b, &header)
		if err != nil {
			return err
		}
		b = b[n:]
		if header.CompressedPageSize < 0 || int64(header.CompressedPageSize) > int64(len(b)) {
			return damaged("a page of %d bytes where %d are left", header.CompressedPageSize, len(b))
		}
		if n := header.UncompressedPageSize; n < 0 || n > MaxPageBytes {
			return unsupported("a page of %d bytes, the limit is %d", n, MaxPageBytes)
		}
		if budget -= int64(header.UncompressedPageSize); budget < 0 {
			return unsupported("more than %d bytes in a row group", MaxColumnBytes)
		}
		body := b[:header.CompressedPageSize]
		b = b[header.CompressedPageSize:]
		if header.CRC != 0 && !r.unchecked && uint32(header.CRC) != crc32.ChecksumIEEE(body) {
			return damaged("the checksum of a page is wrong")
		}
		p := page{r: r, v: v, leaf: l, codec: meta.Codec, header: &header, body: body, first: done, rows: rows}
		switch header.Type {
		case format.DictionaryPage:
			err = p.dictionary()
		case format.DataPage:
			err = p.dataV1()
		case format.DataPageV2:
			err = p.dataV2()
		default: // index pages hold nothing that is needed
		}
		if err != nil {
			return err
		}
		done += p.values
	}
	if v.Valid != nil && !l.column.Optional {
		return schemaError("it has a null, and may not")
	}
	return nil
}

// reset makes room for a batch.
func (v *Values) reset(rows int) {
	v.Dict, v.dictInts = v.Dict[:0], v.dictInts[:0]
	v.Valid, v.Ints, v.Codes = nil, nil, nil
	if v.Type == String {
		v.codes = resize(v.codes, rows)
		v.Codes = v.codes
	} else {
		v.ints = resize(v.ints, rows)
		v.Ints = v.ints
	}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// decompress returns the page's bytes, which number exactly size.
func (r *PartReader) decompress(codec format.CompressionCodec, body []byte, size int) ([]byte, error) {
	if codec == format.Uncompressed {
		if len(body) != size {
			return nil, damaged("an uncompressed page of %d bytes says that it has %d", len(body), size)
		}
		return body, nil
	}
	if r.zstd == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(MaxPageBytes), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
		r.zstd = d
	}
	// Room behind the page lets the bit unpacking load whole words there.
	r.page = resize(r.page, size+16)
	out, err := r.zstd.DecodeAll(body, r.page[:0:size])
	if err != nil {
		return nil, damaged("decompressing a page: %v", err)
	}
	if len(out) != size {
		return nil, damaged("a page has %d bytes, it says %d", len(out), size)
	}
	if size > 0 && &out[0] != &r.page[0] {
		copy(r.page, out)
	}
	return r.page[:size], nil
}

// allNull makes the values of a column that the file has not.
func (v *Values) allNull(rows int) {
	v.Dict, v.dictInts = v.Dict[:0], v.dictInts[:0]
	v.Ints, v.Codes = nil, nil
	v.mask = resize(v.mask, rows)
	clear(v.mask)
	v.Valid = v.mask
	if v.Column.Type == String {
		v.codes = resize(v.codes, rows)
		v.Codes = v.codes
		for i := range v.Codes {
			v.Codes[i] = -1
		}
		return
	}
	v.ints = resize(v.ints, rows)
	v.Ints = v.ints
	for i := range v.Ints {
		v.Ints[i] = Null
	}
}
