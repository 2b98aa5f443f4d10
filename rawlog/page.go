package rawlog

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/format"
)

// plainDictionary is what early writers of Parquet call a dictionary (PLAIN in
// its page, RLE_DICTIONARY in the data's).
const plainDictionary format.Encoding = 2

// page is a page that is being decoded into a column.
type page struct {
	leaf   leaf
	codec  format.CompressionCodec
	header *format.PageHeader
	body   []byte // as stored
	first  int    // row at which it begins
	rows   int    // of the row group
	values int    // that it holds
	left   int    // values that were not read

	memory   []byte // decompressed
	encoding format.Encoding
	begun    bool // a value was decoded
	nullable bool // levels say which values are there
	levels   rleDecoder
	data     []byte // of the values that are there, what was not read
	delta    deltaDecoder
	codes    rleDecoder
	text     int32 // the next string of a page without a dictionary
}

// dictionary reads the values that codes point to.
func (p *page) dictionary(r *PartReader, v *Values) (err error) {
	h := p.header.DictionaryPageHeader
	switch {
	case !h.Valid:
		return damaged("a dictionary page has no header")
	case len(v.Dict) > 0 || len(v.dictInts) > 0 || p.first > 0:
		return damaged("a second dictionary, or one behind the data")
	case h.V.Encoding != format.Plain && h.V.Encoding != plainDictionary:
		return unsupported("a dictionary encoded as %v", h.V.Encoding)
	}
	n := int64(h.V.NumValues)
	if n < 0 || n > int64(p.rows) {
		return damaged("a dictionary of %d values for %d rows", n, p.rows)
	}
	if p.leaf.column.Type != String {
		if err := p.bound(n); err != nil {
			return err
		}
	}
	var data []byte
	data, p.memory, err = r.decompress(p.memory, p.codec, p.body, int(p.header.UncompressedPageSize))
	if err != nil {
		return err
	}
	// The least that a value takes is 4 bytes.
	if n > int64(len(data))/4 {
		return damaged("a dictionary of %d values in %d bytes", n, len(data))
	}
	if p.leaf.column.Type == String {
		v.Dict, err = plainStrings(v.Dict, data, int(n))
		v.text += int64(len(data))
		return err
	}
	v.dictInts = resize(v.dictInts, int(n))
	return plainInts(v.dictInts, data, p.leaf.column.Type)
}

func (p *page) dataV1(r *PartReader, v *Values) (err error) {
	h := p.header.DataPageHeader
	if !h.Valid {
		return damaged("a data page has no header")
	}
	if err := p.begin(h.V.NumValues, h.V.Encoding); err != nil {
		return err
	}
	p.data, p.memory, err = r.decompress(p.memory, p.codec, p.body, int(p.header.UncompressedPageSize))
	if err != nil {
		return err
	}
	if p.leaf.optional {
		if h.V.DefinitionLevelEncoding != format.RLE {
			return unsupported("definition levels encoded as %v", h.V.DefinitionLevelEncoding)
		}
		if len(p.data) < 4 {
			return damaged("definition levels are cut off")
		}
		n := int64(binary.LittleEndian.Uint32(p.data))
		data := p.data[4:]
		if n > int64(len(data)) {
			return damaged("definition levels of %d bytes where %d are left", n, len(data))
		}
		if err := p.beginLevels(data[:n]); err != nil {
			return err
		}
		p.data = data[n:]
	}
	return p.beginValues(v)
}

func (p *page) dataV2(r *PartReader, v *Values) (err error) {
	h := p.header.DataPageHeaderV2
	if !h.Valid {
		return damaged("a data page has no header")
	}
	if err := p.begin(h.V.NumValues, h.V.Encoding); err != nil {
		return err
	}
	def, rep := int64(h.V.DefinitionLevelsByteLength), int64(h.V.RepetitionLevelsByteLength)
	if def < 0 || rep != 0 || def > int64(len(p.body)) || def > int64(p.header.UncompressedPageSize) {
		return damaged("levels of %d and %d bytes in a page of %d", rep, def, len(p.body))
	}
	codec := p.codec
	if h.V.IsCompressed.Valid && !h.V.IsCompressed.V {
		codec = format.Uncompressed
	}
	p.data, p.memory, err = r.decompress(p.memory, codec, p.body[def:], int(p.header.UncompressedPageSize)-int(def))
	if err != nil {
		return err
	}
	if p.leaf.optional {
		if err := p.beginLevels(p.body[:def]); err != nil {
			return err
		}
	}
	return p.beginValues(v)
}

func (p *page) begin(values int32, encoding format.Encoding) error {
	if values < 0 || int(values) > p.rows-p.first {
		return damaged("a page of %d values where %d are missing", values, p.rows-p.first)
	}
	p.values, p.left, p.encoding, p.begun, p.nullable = int(values), int(values), encoding, false, false
	if p.leaf.column.Type == String && encoding == format.Plain {
		return nil
	}
	return p.bound(int64(values))
}

// bound refuses a page that decompresses to far more than n values can take, up
// to 8 bytes each: a bomb. Blocks are filled up, and levels stand in front.
func (p *page) bound(n int64) error {
	if size := int64(p.header.UncompressedPageSize); size > 4096+16*n {
		return damaged("a page of %d bytes for %d values", size, n)
	}
	return nil
}

// beginLevels takes what says which values are there.
func (p *page) beginLevels(b []byte) error {
	// One run of ones is the common case.
	if head, rest, ok := uvarint(b); ok && head == uint64(p.values)<<1 && len(rest) == 1 && rest[0] == 1 {
		return nil
	}
	p.nullable = true
	return p.levels.begin(b, 1, p.values)
}

// beginValues refuses what cannot be decoded, before a value is asked for.
func (p *page) beginValues(v *Values) error {
	if p.leaf.column.Type != String {
		switch p.encoding {
		case format.Plain, format.DeltaBinaryPacked, format.RLEDictionary, plainDictionary:
			return nil
		}
		return unsupported("numbers encoded as %v", p.encoding)
	}
	switch p.encoding {
	case format.RLEDictionary, plainDictionary:
		return nil
	case format.Plain:
		p.text = int32(len(v.Dict))
		return nil
	}
	return unsupported("strings encoded as %v", p.encoding)
}
