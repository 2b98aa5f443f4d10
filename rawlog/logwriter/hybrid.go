package logwriter

import (
	"encoding/binary"
	"math/bits"
)

// run is a value that comes n times in a row.
type run struct {
	value uint32
	n     int
}

// runs are small numbers, definition levels or indexes of a dictionary, of
// which neighbours are mostly equal.
type runs []run

// add appends n times value.
func (r *runs) add(value uint32, n int) {
	if last := len(*r) - 1; last >= 0 && (*r)[last].value == value {
		(*r)[last].n += n
		return
	}
	*r = append(*r, run{value, n})
}

// packedGroups is how many groups of eight values stand in a packed run at
// most: its head then has one byte.
const packedGroups = 63

// appendTo appends the values in the hybrid of run lengths and bit packing, of
// width bits each, 0 to 32: what repeats eight times and more is a run length,
// the rest is packed in groups of eight.
//
// https://parquet.apache.org/docs/file-format/data-pages/encodings/#RLE
func (r runs) appendTo(dst []byte, width uint) []byte {
	p := packer{width: width}
	for _, x := range r {
		n := x.n
		for n > 0 && p.n%8 != 0 { // what is begun is filled up
			dst = p.add(dst, x.value)
			n--
		}
		if n < 8 {
			for range n {
				dst = p.add(dst, x.value)
			}
			continue
		}
		dst = p.flush(dst)
		dst = binary.AppendUvarint(dst, uint64(n)<<1)
		for b := uint(0); b < width; b += 8 {
			dst = append(dst, byte(x.value>>b))
		}
	}
	return p.flush(dst)
}

// packer is a packed run that is being made.
type packer struct {
	width  uint
	values [8 * packedGroups]uint32
	n      int
}

func (p *packer) add(dst []byte, value uint32) []byte {
	p.values[p.n] = value
	p.n++
	if p.n == len(p.values) {
		return p.flush(dst)
	}
	return dst
}

// flush appends the run; zeros fill up its last group, which readers know not
// to count.
func (p *packer) flush(dst []byte) []byte {
	if p.n == 0 {
		return dst
	}
	groups := (p.n + 7) / 8
	clear(p.values[p.n : 8*groups])
	dst = append(dst, byte(groups<<1|1))
	var hold uint64
	held := uint(0)
	for _, v := range p.values[:8*groups] {
		hold |= uint64(v) << held
		for held += p.width; held >= 8; held -= 8 {
			dst = append(dst, byte(hold))
			hold >>= 8
		}
	}
	p.n = 0
	return dst
}

// indexWidth is how many bits an index of a dictionary of n values takes.
func indexWidth(n int) uint { return uint(bits.Len(uint(max(n, 1) - 1))) }
