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

// decodeDelta decodes DELTA_BINARY_PACKED values: src must hold exactly
// len(dst) of them. The library's decoder is not used since it allocates as
// many values as the header claims. Differences wrap around, so 32-bit values
// are right in their low 32 bits.
//
// https://parquet.apache.org/docs/file-format/data-pages/encodings/#DELTAENC
func decodeDelta(dst []int64, src []byte) error {
	blockSize, src, ok1 := uvarint(src)
	miniBlocks, src, ok2 := uvarint(src)
	total, src, ok3 := uvarint(src)
	first, src, ok4 := varint(src)
	switch {
	case !ok1 || !ok2 || !ok3 || !ok4:
		return damaged("values are cut off")
	case blockSize == 0 || blockSize > 65536 || blockSize%128 != 0 || miniBlocks == 0 || blockSize%miniBlocks != 0 || blockSize/miniBlocks%32 != 0:
		return damaged("blocks of %d values in %d parts", blockSize, miniBlocks)
	case total != uint64(len(dst)):
		return damaged("%d values in the place of %d", total, len(dst))
	case total == 0:
		return nil
	}
	miniSize := int(blockSize / miniBlocks)
	dst[0] = first
	last := first
	for dst = dst[1:]; len(dst) > 0; {
		minDelta, rest, ok := varint(src)
		if !ok || uint64(len(rest)) < miniBlocks {
			return damaged("values are cut off")
		}
		widths := rest[:miniBlocks]
		src = rest[miniBlocks:]
		for _, width := range widths {
			n := min(miniSize, len(dst))
			if n == 0 {
				break
			}
			size := miniSize * int(width) / 8
			if width > 64 || size > len(src) {
				return damaged("%d values of %d bits in %d bytes", miniSize, width, len(src))
			}
			last = unpackDeltas(dst[:n], src, uint(width), minDelta, last)
			dst, src = dst[n:], src[size:]
		}
	}
	return nil
}

// unpackDeltas adds up differences of width bits each, whose minimum is apart.
// src holds them all; what lies behind them, up to its capacity, may be read.
func unpackDeltas(dst []int64, src []byte, width uint, minDelta, last int64) int64 {
	if width == 0 {
		for i := range dst {
			last += minDelta
			dst[i] = last
		}
		return last
	}
	// Each value is read by loads of eight bytes, which the last ones of a
	// page may not have: these are copied.
	if need := (len(dst)*int(width)+7)/8 + 16; cap(src) >= need {
		src = src[:need]
	} else {
		src = append(make([]byte, 0, need), src...)[:need]
	}
	if width > 56 {
		return unpackWideDeltas(dst, src, width, minDelta, last)
	}
	mask := uint64(1)<<width - 1
	bit := uint(0)
	for i := range dst {
		v := binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7) & mask
		bit += width
		last += minDelta + int64(v)
		dst[i] = last
	}
	return last
}

// unpackWideDeltas is for widths of which one load may not hold a value.
func unpackWideDeltas(dst []int64, src []byte, width uint, minDelta, last int64) int64 {
	mask := uint64(math.MaxUint64) >> (64 - width)
	bit := uint(0)
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
