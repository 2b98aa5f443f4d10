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
	r      *PartReader
	v      *Values
	leaf   leaf
	codec  format.CompressionCodec
	header *format.PageHeader
	body   []byte
	first  int // row at which it begins
	rows   int // of the row group
	values int // that it held
}

// dictionary reads the values that codes point to.
func (p *page) dictionary() error {
	h := p.header.DictionaryPageHeader
	switch {
	case !h.Valid:
		return damaged("a dictionary page has no header")
	case len(p.v.Dict) > 0 || len(p.v.dictInts) > 0 || p.first > 0:
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
	data, err := p.r.decompress(p.codec, p.body, int(p.header.UncompressedPageSize))
	if err != nil {
		return err
	}
	// The least that a value takes is 4 bytes.
	if n > int64(len(data))/4 {
		return damaged("a dictionary of %d values in %d bytes", n, len(data))
	}
	if p.leaf.column.Type == String {
		p.v.Dict, err = plainStrings(p.v.Dict, data, int(n))
		return err
	}
	p.v.dictInts = resize(p.v.dictInts, int(n))
	return plainInts(p.v.dictInts, data, p.leaf.column.Type)
}

func (p *page) dataV1() error {
	h := p.header.DataPageHeader
	if !h.Valid {
		return damaged("a data page has no header")
	}
	if err := p.begin(h.V.NumValues, h.V.Encoding); err != nil {
		return err
	}
	data, err := p.r.decompress(p.codec, p.body, int(p.header.UncompressedPageSize))
	if err != nil {
		return err
	}
	present := p.values
	if p.leaf.optional {
		if h.V.DefinitionLevelEncoding != format.RLE {
			return unsupported("definition levels encoded as %v", h.V.DefinitionLevelEncoding)
		}
		if len(data) < 4 {
			return damaged("definition levels are cut off")
		}
		n := int64(binary.LittleEndian.Uint32(data))
		data = data[4:]
		if n > int64(len(data)) {
			return damaged("definition levels of %d bytes where %d are left", n, len(data))
		}
		if present, err = p.levels(data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return p.decode(h.V.Encoding, data, present)
}

func (p *page) dataV2() error {
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
	data, err := p.r.decompress(codec, p.body[def:], int(p.header.UncompressedPageSize)-int(def))
	if err != nil {
		return err
	}
	present := p.values
	if p.leaf.optional {
		if present, err = p.levels(p.body[:def]); err != nil {
			return err
		}
	}
	return p.decode(h.V.Encoding, data, present)
}

func (p *page) begin(values int32, encoding format.Encoding) error {
	if values < 0 || int(values) > p.rows-p.first {
		return damaged("a page of %d values where %d are missing", values, p.rows-p.first)
	}
	p.values = int(values)
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

// levels reads which values are there, and counts them. r.present keeps it.
func (p *page) levels(b []byte) (present int, err error) {
	// One run of ones is the common case.
	if head, rest, ok := uvarint(b); ok && head == uint64(p.values)<<1 && len(rest) == 1 && rest[0] == 1 {
		return p.values, nil
	}
	p.r.present = resize(p.r.present, p.values)
	rest, err := decodeRLE(p.r.present, b, 1)
	if err != nil {
		return 0, err
	}
	if len(rest) > 0 {
		return 0, damaged("%d bytes behind the definition levels", len(rest))
	}
	for _, level := range p.r.present {
		present += int(level)
	}
	return present, nil
}

// decode decodes the values that are there and puts nulls between them.
func (p *page) decode(encoding format.Encoding, data []byte, present int) error {
	var err error
	if p.leaf.column.Type == String {
		err = p.decodeStrings(encoding, data, present)
	} else {
		err = p.decodeInts(encoding, data, present)
	}
	if err != nil || present == p.values {
		return err
	}
	p.spread(present)
	return nil
}

func (p *page) decodeInts(encoding format.Encoding, data []byte, present int) error {
	dst := p.v.Ints[p.first : p.first+present]
	typ := p.leaf.column.Type
	switch encoding {
	case format.Plain:
		return plainInts(dst, data, typ)
	case format.DeltaBinaryPacked:
		if present == 0 {
			return nil // some writers then leave the header out too
		}
		if err := decodeDelta(dst, data); err != nil {
			return err
		}
		if typ == Int32 {
			for i, v := range dst {
				dst[i] = int64(int32(v))
			}
		}
		return nil
	case format.RLEDictionary, plainDictionary:
		p.r.codes = resize(p.r.codes, present)
		if err := decodeCodes(p.r.codes, data, len(p.v.dictInts)); err != nil {
			return err
		}
		for i, c := range p.r.codes {
			dst[i] = p.v.dictInts[c]
		}
		return nil
	}
	return unsupported("numbers encoded as %v", encoding)
}

func (p *page) decodeStrings(encoding format.Encoding, data []byte, present int) error {
	dst := p.v.Codes[p.first : p.first+present]
	switch encoding {
	case format.Plain:
		// What has no dictionary gets one in which each value is new.
		from := len(p.v.Dict)
		dict, err := plainStrings(p.v.Dict, data, present)
		if err != nil {
			return err
		}
		p.v.Dict = dict
		for i := range dst {
			dst[i] = int32(from + i)
		}
		return nil
	case format.RLEDictionary, plainDictionary:
		return decodeCodes(dst, data, len(p.v.Dict))
	}
	return unsupported("strings encoded as %v", encoding)
}

// spread moves the values of the page, which stand at its beginning, to their
// rows, and fills the others with nulls.
func (p *page) spread(present int) {
	if p.v.Valid == nil {
		p.v.mask = resize(p.v.mask, p.rows)
		for i := range p.v.mask {
			p.v.mask[i] = true // until a page says otherwise
		}
		p.v.Valid = p.v.mask
	}
	for i := p.values - 1; i >= 0; i-- {
		row := p.first + i
		valid := p.r.present[i] != 0
		p.v.Valid[row] = valid
		if valid {
			present--
		}
		switch {
		case p.v.Codes != nil && valid:
			p.v.Codes[row] = p.v.Codes[p.first+present]
		case p.v.Codes != nil:
			p.v.Codes[row] = -1
		case valid:
			p.v.Ints[row] = p.v.Ints[p.first+present]
		default:
			p.v.Ints[row] = Null
		}
	}
}

// decodeCodes decodes indexes of a dictionary of n values.
func decodeCodes(dst []int32, data []byte, n int) error {
	if len(dst) == 0 {
		return nil
	}
	if len(data) == 0 {
		return damaged("indexes are cut off")
	}
	width := uint(data[0])
	if _, err := decodeRLE(dst, data[1:], width); err != nil {
		return err
	}
	for _, c := range dst {
		if c < 0 || int(c) >= n {
			return damaged("index %d of a dictionary of %d", c, n)
		}
	}
	return nil
}

func plainInts(dst []int64, data []byte, typ Type) error {
	size := 8
	if typ == Int32 {
		size = 4
	}
	if len(data) < size*len(dst) {
		return damaged("%d numbers in %d bytes", len(dst), len(data))
	}
	for i := range dst {
		if typ == Int32 {
			dst[i] = int64(int32(binary.LittleEndian.Uint32(data[4*i:])))
		} else {
			dst[i] = int64(binary.LittleEndian.Uint64(data[8*i:]))
		}
	}
	return nil
}

// plainStrings appends n strings. They share the memory of one copy of data.
func plainStrings(dst []string, data []byte, n int) ([]string, error) {
	text := string(data)
	for range n {
		if len(text) < 4 {
			return nil, damaged("strings are cut off")
		}
		size := int64(binary.LittleEndian.Uint32([]byte(text[:4])))
		text = text[4:]
		if size > int64(len(text)) {
			return nil, damaged("a string of %d bytes where %d are left", size, len(text))
		}
		dst = append(dst, text[:size])
		text = text[size:]
	}
	return dst, nil
}
