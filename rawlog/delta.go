package rawlog

import (
	"encoding/binary"
	"math"
)

// uvarint and varint read a number at the start of src; n is 0 when it is cut
// off or too long.
func uvarint(src []byte) (v uint64, rest []byte, ok bool) {
	v, n := binary.Uvarint(src)
	if n <= 0 {
		return 0, nil, false
	}
	return v, src[n:], true
}

func varint(src []byte) (v int64, rest []byte, ok bool) {
	v, n := binary.Varint(src)
	if n <= 0 {
		return 0, nil, false
	}
	return v, src[n:], true
}

// deltaDecoder decodes DELTA_BINARY_PACKED values, some at a time. The library's
// decoder is not used since it allocates as many values as the header claims.
// Differences wrap around, so 32-bit values are right in their low 32 bits.
//
// https://parquet.apache.org/docs/file-format/data-pages/encodings/#DELTAENC
type deltaDecoder struct {
	src      []byte // what follows the part at hand
	parts    int    // of a block
	partSize int
	left     int // values
	first    bool
	last     int64

	minDelta int64
	widths   []byte // of the block's parts that are to come
	// The part at hand: values of width bits each in bits from bit on. Parts of
	// width 0 that follow one another are one.
	width  uint
	bits   []byte
	bit    uint
	inPart int // values
}

// begin takes an encoding of values, at most so many.
func (d *deltaDecoder) begin(src []byte, most int) error {
	blockSize, src, ok1 := uvarint(src)
	parts, src, ok2 := uvarint(src)
	total, src, ok3 := uvarint(src)
	first, src, ok4 := varint(src)
	switch {
	case !ok1 || !ok2 || !ok3 || !ok4:
		return damaged("values are cut off")
	case blockSize == 0 || blockSize > 65536 || blockSize%128 != 0 || parts == 0 || blockSize%parts != 0 || blockSize/parts%32 != 0:
		return damaged("blocks of %d values in %d parts", blockSize, parts)
	case total > uint64(most):
		return damaged("%d values in the place of %d", total, most)
	}
	*d = deltaDecoder{src: src, parts: int(parts), partSize: int(blockSize / parts), left: int(total), first: true, last: first}
	return nil
}

// decode decodes the next len(dst) values. Same tells that all are equal; it may
// be false where they are.
func (d *deltaDecoder) decode(dst []int64) (same bool, err error) {
	if len(dst) > d.left {
		return false, damaged("%d values where %d are left", len(dst), d.left)
	}
	d.left -= len(dst)
	same = true
	if d.first && len(dst) > 0 {
		dst[0], dst, d.first = d.last, dst[1:], false
	} else if len(dst) > 0 {
		// The first one differs from the one before as it may.
		if d.inPart == 0 {
			if err := d.nextPart(); err != nil {
				return false, err
			}
		}
		d.unpack(dst[:1])
		dst = dst[1:]
	}
	for len(dst) > 0 {
		if d.inPart == 0 {
			if err := d.nextPart(); err != nil {
				return false, err
			}
		}
		n := min(d.inPart, len(dst))
		same = same && d.width == 0 && d.minDelta == 0
		d.unpack(dst[:n])
		dst = dst[n:]
	}
	return same, nil
}

// nextPart goes to the next part of a block, or of the next block.
func (d *deltaDecoder) nextPart() error {
	if len(d.widths) == 0 {
		minDelta, rest, ok := varint(d.src)
		if !ok || len(rest) < d.parts {
			return damaged("values are cut off")
		}
		d.minDelta, d.widths, d.src = minDelta, rest[:d.parts], rest[d.parts:]
	}
	width := d.widths[0]
	d.widths = d.widths[1:]
	d.inPart = d.partSize
	size := d.partSize * int(width) / 8
	if width > 64 || size > len(d.src) {
		return damaged("%d values of %d bits in %d bytes", d.partSize, width, len(d.src))
	}
	if width == 0 {
		for len(d.widths) > 0 && d.widths[0] == 0 {
			d.widths = d.widths[1:]
			d.inPart += d.partSize
		}
	}
	d.width, d.bit = uint(width), 0
	// Each value is read by loads of eight bytes, which the last ones of a
	// page may not have: these are copied.
	if need := size + 16; width == 0 {
		d.bits = nil
	} else if cap(d.src) >= need {
		d.bits = d.src[:need]
	} else {
		d.bits = append(make([]byte, 0, need), d.src[:size]...)[:need]
	}
	d.src = d.src[size:]
	return nil
}

// unpack adds up the next differences of the part at hand.
func (d *deltaDecoder) unpack(dst []int64) {
	last, minDelta, width := d.last, d.minDelta, d.width
	switch {
	case width == 0:
		for i := range dst {
			last += minDelta
			dst[i] = last
		}
	case width > 56:
		last = unpackWideDeltas(dst, d.bits, d.bit, width, minDelta, last)
	default:
		mask := uint64(1)<<width - 1
		bit, src := d.bit, d.bits
		for i := range dst {
			v := binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7) & mask
			bit += width
			last += minDelta + int64(v)
			dst[i] = last
		}
	}
	d.bit += width * uint(len(dst))
	d.last = last
	d.inPart -= len(dst)
}

// unpackWideDeltas is for widths of which one load may not hold a value.
func unpackWideDeltas(dst []int64, src []byte, bit, width uint, minDelta, last int64) int64 {
	mask := uint64(math.MaxUint64) >> (64 - width)
	for i := range dst {
		b := src[bit>>3:]
		s := bit & 7
		v := binary.LittleEndian.Uint64(b)>>s | uint64(b[8])<<(64-s) // a shift by 64 gives 0
		bit += width
		last += minDelta + int64(v&mask)
		dst[i] = last
	}
	return last
}
