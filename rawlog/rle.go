package rawlog

import "encoding/binary"

// rleDecoder decodes the hybrid of run lengths and bit packing, which holds
// definition levels and dictionary indexes, some values at a time.
//
// https://parquet.apache.org/docs/file-format/data-pages/encodings/#RLE
type rleDecoder struct {
	src   []byte // what follows the run at hand
	width uint   // of a value, 0 to 32
	left  int    // values that may come

	run   int // values of the run at hand, all of them value
	value int32

	packed int    // values of the packed run at hand
	bytes  []byte // of them
	hold   uint64 // bits of them that were read
	bits   uint
}

// begin takes an encoding of values of width bits, at most so many.
func (d *rleDecoder) begin(src []byte, width uint, most int) error {
	if width > 32 {
		return damaged("indexes of %d bits", width)
	}
	*d = rleDecoder{src: src, width: width, left: most}
	return nil
}

// decode decodes the next len(dst) values. Same tells that all are equal; it may
// be false where they are.
func (d *rleDecoder) decode(dst []int32) (same bool, err error) {
	same = true
	for all, first := dst, true; len(dst) > 0; first = false {
		if d.run == 0 && d.packed == 0 {
			if err := d.next(); err != nil {
				return false, err
			}
		}
		if d.run > 0 {
			n := min(d.run, len(dst))
			for i := range dst[:n] {
				dst[i] = d.value
			}
			same = same && (first || all[0] == d.value)
			d.run -= n
			dst = dst[n:]
			continue
		}
		n := min(d.packed, len(dst))
		d.unpack(dst[:n])
		d.packed -= n
		dst, same = dst[n:], false
	}
	return same, nil
}

// next goes to the next run.
func (d *rleDecoder) next() error {
	head, rest, ok := uvarint(d.src)
	if !ok {
		return damaged("a run is cut off")
	}
	if head&1 == 0 {
		n := head >> 1
		size := int(d.width+7) / 8
		if n == 0 || n > uint64(d.left) || size > len(rest) {
			return damaged("a run of %d where %d are missing", n, d.left)
		}
		var b [8]byte
		copy(b[:], rest[:size])
		v := binary.LittleEndian.Uint64(b[:])
		if v>>d.width != 0 {
			return damaged("a run's value has more than %d bits", d.width)
		}
		d.run, d.value, d.src = int(n), int32(v), rest[size:]
		d.left -= d.run
		return nil
	}
	groups := head >> 1 // of eight values; what is too many fills the last one up
	if groups == 0 || d.width > 0 && groups > uint64(len(rest))/uint64(d.width) {
		return damaged("%d packed groups in %d bytes", groups, len(rest))
	}
	size := 0
	if d.width > 0 {
		size = int(groups) * int(d.width)
	}
	d.packed = d.left
	if groups < uint64(d.left+7)/8 {
		d.packed = int(groups) * 8
	}
	d.left -= d.packed
	d.bytes, d.src = rest[:size], rest[size:]
	d.hold, d.bits = 0, 0
	if d.packed == 0 {
		return damaged("a run where none is missing")
	}
	return nil
}

func (d *rleDecoder) unpack(dst []int32) {
	hold, bits, src, width := d.hold, d.bits, d.bytes, d.width
	mask := uint64(1)<<width - 1
	for i := range dst {
		for bits < width {
			hold |= uint64(src[0]) << bits
			src = src[1:]
			bits += 8
		}
		dst[i] = int32(hold & mask)
		hold >>= width
		bits -= width
	}
	d.hold, d.bits, d.bytes = hold, bits, src
}

// ended refuses a run of which values were not asked for.
func (d *rleDecoder) ended() error {
	if d.run > 0 {
		return damaged("a run of %d values that are too many", d.run)
	}
	return nil
}
