package rawlog

import (
	"hash/crc32"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// chunk is a column of a row group, which is decoded page after page as far as
// rows are asked for. Its memory is used again for the next one.
type chunk struct {
	leaf   leaf
	codec  format.CompressionCodec
	rows   int    // of the row group
	begun  int    // rows whose page was begun
	budget int64  // bytes that pages may still have
	rest   []byte // pages that were not begun, as stored
	stored []byte // memory of the chunk
	page   page   // the one at hand
}

// open reads a column of a row group as it is stored.
func (c *chunk) open(r *PartReader, l leaf, at *place, rows int) error {
	start, size := at.start, at.size
	switch {
	case at.values != int64(rows):
		return damaged("%d values for %d rows", at.values, rows)
	case start < int64(len(magic)) || size < 0 || start > r.data || size > r.data-start:
		return damaged("%d bytes at %d lie outside of the file's data", size, start)
	case at.codec != format.Uncompressed && at.codec != format.Zstd:
		return unsupported("compression by %v", at.codec)
	}
	b, err := readRange(r.obj, c.stored, start, size)
	if err != nil {
		return err
	}
	if _, inMemory := r.obj.(interface{ Bytes() []byte }); !inMemory {
		c.stored = b
	}
	c.leaf, c.codec, c.rows, c.begun, c.budget, c.rest = l, at.codec, rows, 0, MaxColumnBytes, b
	c.page.left = 0
	return nil
}

// read decodes the next rows into v.
func (c *chunk) read(r *PartReader, v *Values, rows int) error {
	v.reset(rows)
	v.Same = true
	for first := 0; first < rows; {
		for c.page.left == 0 {
			if err := c.nextPage(r, v); err != nil {
				return err
			}
		}
		n := min(c.page.left, rows-first)
		if err := c.page.read(r, v, first, n); err != nil {
			return err
		}
		if first > 0 || n < rows {
			v.Same = false // of two pages
		}
		first += n
	}
	if v.Valid != nil && !c.leaf.column.Optional {
		return schemaError("it has a null, and may not")
	}
	return nil
}

// nextPage begins a page.
func (c *chunk) nextPage(r *PartReader, v *Values) error {
	var header format.PageHeader
	n, err := decodeThrift(c.rest, &header)
	if err != nil {
		return err
	}
	b := c.rest[n:]
	if header.CompressedPageSize < 0 || int64(header.CompressedPageSize) > int64(len(b)) {
		return damaged("a page of %d bytes where %d are left", header.CompressedPageSize, len(b))
	}
	if n := header.UncompressedPageSize; n < 0 || n > MaxPageBytes {
		return unsupported("a page of %d bytes, the limit is %d", n, MaxPageBytes)
	}
	if c.budget -= int64(header.UncompressedPageSize); c.budget < 0 {
		return unsupported("more than %d bytes in a row group", MaxColumnBytes)
	}
	body := b[:header.CompressedPageSize]
	c.rest = b[header.CompressedPageSize:]
	if header.CRC != 0 && !r.unchecked && uint32(header.CRC) != crc32.ChecksumIEEE(body) {
		return damaged("the checksum of a page is wrong")
	}
	p := &c.page
	p.leaf, p.codec, p.header, p.body, p.first, p.rows = c.leaf, c.codec, &header, body, c.begun, c.rows
	p.values, p.left = 0, 0
	switch header.Type {
	case format.DictionaryPage:
		err = p.dictionary(r, v)
	case format.DataPage:
		err = p.dataV1(r, v)
	case format.DataPageV2:
		err = p.dataV2(r, v)
	default: // index pages hold nothing that is needed
	}
	p.header, p.body = nil, nil
	c.begun += p.values
	return err
}

// forget drops the dictionary of the row group before.
func (v *Values) forget() {
	clear(v.Dict) // and what its strings share
	v.Dict, v.dictInts, v.text = v.Dict[:0], v.dictInts[:0], 0
}

// reset makes room for a batch.
func (v *Values) reset(rows int) {
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

// decompress returns the page's bytes, which number exactly size, in buf if they
// fit.
func (r *PartReader) decompress(buf []byte, codec format.CompressionCodec, body []byte, size int) (page, memory []byte, err error) {
	if codec == format.Uncompressed {
		if len(body) != size {
			return nil, buf, damaged("an uncompressed page of %d bytes says that it has %d", len(body), size)
		}
		return body, buf, nil
	}
	if r.zstd == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(MaxPageBytes), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, buf, err
		}
		r.zstd = d
	}
	// Room behind the page lets the bit unpacking load whole words there.
	buf = resize(buf, size+16)
	out, err := r.zstd.DecodeAll(body, buf[:0:size])
	if err != nil {
		return nil, buf, damaged("decompressing a page: %v", err)
	}
	if len(out) != size {
		return nil, buf, damaged("a page has %d bytes, it says %d", len(out), size)
	}
	if size > 0 && &out[0] != &buf[0] {
		copy(buf, out)
	}
	return buf[:size], buf, nil
}

// allNull makes the values of a column that the file has not.
func (v *Values) allNull(rows int) {
	v.forget()
	v.reset(rows)
	v.nulls(0, rows)
	v.Same = true
}

// nulls makes rows null.
func (v *Values) nulls(first, n int) {
	v.masked()
	clear(v.Valid[first : first+n])
	if v.Codes != nil {
		for i := range v.Codes[first : first+n] {
			v.Codes[first+i] = -1
		}
		return
	}
	ints := v.Ints[first : first+n]
	for i := range ints {
		ints[i] = Null
	}
}

// masked makes Valid, so far true.
func (v *Values) masked() {
	if v.Valid != nil {
		return
	}
	v.mask = resize(v.mask, max(len(v.Ints), len(v.Codes)))
	for i := range v.mask {
		v.mask[i] = true
	}
	v.Valid = v.mask
}
