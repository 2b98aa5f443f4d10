package rawlog

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/format"
)

// read decodes the next n values, at most those that are left, to row first of
// the batch: those that are there, and nulls between them.
func (p *page) read(r *PartReader, v *Values, first, n int) error {
	p.left -= n
	present := n
	if p.nullable {
		r.present = resize(r.present, n)
		same, err := p.levels.decode(r.present)
		if err != nil {
			return err
		}
		if same {
			present = n * int(r.present[0])
		} else {
			v.Same = false
			present = 0
			for _, level := range r.present {
				present += int(level)
			}
		}
	}
	if present > 0 {
		if err := p.decode(r, v, first, present); err != nil {
			return err
		}
	}
	switch present {
	case n:
	case 0:
		v.nulls(first, n)
	default:
		v.spread(r.present, first, present)
	}
	if p.left == 0 {
		return p.end()
	}
	return nil
}

// end refuses what is left over at the end of a page.
func (p *page) end() error {
	if p.nullable {
		if err := p.levels.ended(); err != nil {
			return err
		}
		if n := len(p.levels.src); n > 0 {
			return damaged("%d bytes behind the definition levels", n)
		}
	}
	switch {
	case !p.begun: // some writers then leave the header out too
	case p.encoding == format.DeltaBinaryPacked && p.delta.left > 0:
		return damaged("%d values too many", p.delta.left)
	case p.encoding == format.RLEDictionary || p.encoding == plainDictionary:
		return p.codes.ended()
	}
	return nil
}

// decode decodes n values that are there, to row first of the batch and those
// that follow it.
func (p *page) decode(r *PartReader, v *Values, first, n int) error {
	begins := !p.begun
	p.begun = true
	if p.leaf.column.Type == String {
		return p.decodeStrings(v, v.Codes[first:first+n], begins)
	}
	dst := v.Ints[first : first+n]
	typ := p.leaf.column.Type
	switch p.encoding {
	case format.Plain:
		v.Same = false
		size := 8
		if typ == Int32 {
			size = 4
		}
		if err := plainInts(dst, p.data, typ); err != nil {
			return err
		}
		p.data = p.data[size*n:]
	case format.DeltaBinaryPacked:
		if begins {
			if err := p.delta.begin(p.data, p.values); err != nil {
				return err
			}
		}
		same, err := p.delta.decode(dst)
		if err != nil {
			return err
		}
		v.Same = v.Same && same
		if typ == Int32 {
			for i, x := range dst {
				dst[i] = int64(int32(x))
			}
		}
	default:
		r.codes = resize(r.codes, n)
		if err := p.decodeCodes(v, r.codes, len(v.dictInts), begins); err != nil {
			return err
		}
		for i, c := range r.codes {
			dst[i] = v.dictInts[c]
		}
	}
	return nil
}

func (p *page) decodeStrings(v *Values, dst []int32, begins bool) error {
	if p.encoding != format.Plain {
		return p.decodeCodes(v, dst, len(v.Dict), begins)
	}
	// What has no dictionary gets one in which each value is new.
	dict, rest, err := plainStringsOf(v.Dict, p.data, len(dst))
	if err != nil {
		return err
	}
	v.Same = false
	v.text += int64(len(p.data) - len(rest))
	v.Dict, p.data = dict, rest
	for i := range dst {
		dst[i] = p.text
		p.text++
	}
	return nil
}

// decodeCodes decodes indexes of a dictionary of so many values.
func (p *page) decodeCodes(v *Values, dst []int32, values int, begins bool) error {
	if begins {
		if len(p.data) == 0 {
			return damaged("indexes are cut off")
		}
		if err := p.codes.begin(p.data[1:], uint(p.data[0]), p.values); err != nil {
			return err
		}
	}
	same, err := p.codes.decode(dst)
	if err != nil {
		return err
	}
	if !same {
		v.Same = false
	} else {
		dst = dst[:1]
	}
	for _, c := range dst {
		if c < 0 || int(c) >= values {
			return damaged("index %d of a dictionary of %d", c, values)
		}
	}
	return nil
}

// spread moves the values that are there, which stand at first and those after
// it, to their rows, and fills the others with nulls.
func (v *Values) spread(levels []int32, first, present int) {
	v.masked()
	for i := len(levels) - 1; i >= 0; i-- {
		row := first + i
		valid := levels[i] != 0
		v.Valid[row] = valid
		if valid {
			present--
		}
		switch {
		case v.Codes != nil && valid:
			v.Codes[row] = v.Codes[first+present]
		case v.Codes != nil:
			v.Codes[row] = -1
		case valid:
			v.Ints[row] = v.Ints[first+present]
		default:
			v.Ints[row] = Null
		}
	}
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

// plainStrings appends n strings of a dictionary.
func plainStrings(dst []string, data []byte, n int) ([]string, error) {
	dst, _, err := plainStringsOf(dst, data, n)
	return dst, err
}

// plainStringsOf appends n strings, which share the memory of one copy, and
// returns what follows them.
func plainStringsOf(dst []string, data []byte, n int) (all []string, rest []byte, err error) {
	rest = data
	for range n {
		if len(rest) < 4 {
			return nil, nil, damaged("strings are cut off")
		}
		size := int64(binary.LittleEndian.Uint32(rest))
		if size > int64(len(rest)-4) {
			return nil, nil, damaged("a string of %d bytes where %d are left", size, len(rest)-4)
		}
		rest = rest[4+size:]
	}
	text := string(data[:len(data)-len(rest)])
	for range n {
		size := int(binary.LittleEndian.Uint32([]byte(text[:4])))
		dst = append(dst, readable(text[4:4+size]))
		text = text[4+size:]
	}
	return dst, rest, nil
}

// readable is a text in UTF-8, which Parquet's strings and JSON have to be. A byte
// that is none is written as \xNN, so that two names stay two.
func readable(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02x`, text[0])
		} else {
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	return b.String()
}
