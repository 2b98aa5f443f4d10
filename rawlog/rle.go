package rawlog

import "encoding/binary"

// decodeRLE decodes the hybrid of run lengths and bit packing, which holds
// definition levels and dictionary indexes, into exactly len(dst) values of
// width bits, 0 to 32. It returns what follows them.
//
// https://parquet.apache.org/docs/file-format/data-pages/encodings/#RLE
func decodeRLE(dst []int32, src []byte, width uint) ([]byte, error) {
	if width > 32 {
		return nil, damaged("indexes of %d bits", width)
	}
	for len(dst) > 0 {
		head, rest, ok := uvarint(src)
		if !ok {
			return nil, damaged("a run is cut off")
		}
		src = rest
		if head&1 == 0 {
			n := head >> 1
			size := int(width+7) / 8
			if n == 0 || n > uint64(len(dst)) || size > len(src) {
				return nil, damaged("a run of %d where %d are missing", n, len(dst))
			}
			var b [8]byte
			copy(b[:], src[:size])
			v := binary.LittleEndian.Uint64(b[:])
			if v>>width != 0 {
				return nil, damaged("a run's value has more than %d bits", width)
			}
			for i := range dst[:n] {
				dst[i] = int32(v)
			}
			dst, src = dst[n:], src[size:]
			continue
		}
		groups := head >> 1 // of eight values; what is too many fills the last one up
		if groups == 0 || width > 0 && groups > uint64(len(src))/uint64(width) {
			return nil, damaged("%d packed groups in %d bytes", groups, len(src))
		}
		size := 0
		if width > 0 {
			size = int(groups) * int(width)
		}
		n := len(dst)
		if groups < uint64(n+7)/8 {
			n = int(groups) * 8
		}
		unpackBits(dst[:n], src[:size], width)
		dst, src = dst[n:], src[size:]
	}
	return src, nil
}

func unpackBits(dst []int32, src []byte, width uint) {
	var hold uint64
	var bits uint
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
}
