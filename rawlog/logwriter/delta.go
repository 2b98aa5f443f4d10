package logwriter

import (
	"encoding/binary"
	"math/bits"
)

// A block of DELTA_BINARY_PACKED has 128 values in four parts of 32, as most
// writers have it: each part has its own width in bits.
const (
	deltaBlock = 128
	deltaMini  = 32
	deltaMinis = deltaBlock / deltaMini
)

// deltas encodes numbers as DELTA_BINARY_PACKED while they come in. What is
// kept of them is their encoding, the block at hand and their bounds.
//
// https://parquet.apache.org/docs/file-format/data-pages/encodings/#DELTAENC
type deltas struct {
	narrow bool // 32-bit numbers: their differences wrap around at 32 bits

	count    int
	first    int64
	last     int64 // before block
	min, max int64 // of all but those in block
	out      []byte
	block    [deltaBlock]int64
	pending  int // values in block
}

func (d *deltas) reset() { d.count, d.pending, d.out = 0, 0, d.out[:0] }

// add encodes what makes whole blocks and keeps the rest.
func (d *deltas) add(values []int64) {
	if len(values) == 0 {
		return
	}
	if d.count == 0 {
		d.first, d.last = values[0], values[0]
		d.min, d.max = values[0], values[0]
		values = values[1:]
		d.count = 1
	}
	d.count += len(values)
	if d.pending > 0 {
		n := copy(d.block[d.pending:], values)
		d.pending += n
		values = values[n:]
		if d.pending < deltaBlock {
			return
		}
		d.encode(&d.block)
		d.pending = 0
	}
	for len(values) >= deltaBlock {
		d.encode((*[deltaBlock]int64)(values))
		values = values[deltaBlock:]
	}
	d.pending = copy(d.block[:], values)
}

// encode encodes a whole block.
func (d *deltas) encode(v *[deltaBlock]int64) {
	if d.constant(v) {
		return
	}
	var diff [deltaBlock]int64
	last, lo, hi := d.last, d.min, d.max
	least := v[0] - last
	if d.narrow {
		least = int64(int32(least))
		for i, x := range v {
			diff[i] = int64(int32(x - last))
			least = min(least, diff[i])
			lo, hi = min(lo, x), max(hi, x)
			last = x
		}
	} else {
		for i, x := range v {
			diff[i] = x - last
			least = min(least, diff[i])
			lo, hi = min(lo, x), max(hi, x)
			last = x
		}
	}
	d.last, d.min, d.max = last, lo, hi
	d.pack(&diff, least, deltaBlock)
}

// constant encodes a block whose differences are all the same, and says whether
// it was one: most columns of a log are constant or count up.
func (d *deltas) constant(v *[deltaBlock]int64) bool {
	step := v[0] - d.last
	for from := 1; from < deltaBlock; from += deltaMini {
		other, last := int64(0), v[from-1]
		for _, x := range v[from:min(from+deltaMini, deltaBlock)] {
			other |= (x - last) ^ step
			last = x
		}
		if other != 0 {
			return false
		}
	}
	// A larger step might wrap around within the block, and the bounds then lie
	// inside of it.
	const safe = 1 << 55
	end := v[deltaBlock-1]
	if step < -safe || step > safe || (end < v[0]) != (step < 0) {
		return false
	}
	d.last = end
	d.min, d.max = min(d.min, v[0], end), max(d.max, v[0], end)
	if d.narrow {
		step = int64(int32(step))
	}
	d.out = binary.AppendVarint(d.out, step)
	d.out = append(d.out, 0, 0, 0, 0)
	return true
}

// pack appends a block of n differences, of which least is the smallest. What
// follows them in diff is overwritten.
func (d *deltas) pack(diff *[deltaBlock]int64, least int64, n int) {
	mask := ^uint64(0)
	if d.narrow {
		mask = 1<<32 - 1
	}
	var packed [deltaBlock]uint64
	var widths [deltaMinis]byte
	size := 0
	for m := range widths {
		from := m * deltaMini
		part := (*[deltaMini]uint64)(packed[from:])
		all := uint64(0)
		if from+deltaMini <= n {
			for i, x := range (*[deltaMini]int64)(diff[from:]) {
				part[i] = uint64(x-least) & mask
				all |= part[i]
			}
		} else {
			for i := from; i < n; i++ {
				part[i-from] = uint64(diff[i]-least) & mask
				all |= part[i-from]
			}
		}
		widths[m] = byte(bits.Len64(all))
		size += deltaMini / 8 * int(widths[m])
	}
	d.out = binary.AppendVarint(d.out, least)
	d.out = append(d.out, widths[:]...)
	at := len(d.out)
	d.out = grow(d.out, size)
	for m, width := range widths {
		packBits(d.out[at:], (*[deltaMini]uint64)(packed[m*deltaMini:]), uint(width))
		at += deltaMini / 8 * int(width)
	}
}

// appendTo appends the numbers' encoding. add may not be called after it.
func (d *deltas) appendTo(dst []byte) []byte {
	if n := d.pending; n > 0 {
		var diff [deltaBlock]int64
		last := d.last
		least := int64(0)
		for i, x := range d.block[:n] {
			diff[i] = x - last
			if d.narrow {
				diff[i] = int64(int32(diff[i]))
			}
			if i == 0 {
				least = diff[0]
			}
			least = min(least, diff[i])
			d.min, d.max = min(d.min, x), max(d.max, x)
			last = x
		}
		d.last, d.pending = last, 0
		d.pack(&diff, least, n)
	}
	dst = binary.AppendUvarint(dst, deltaBlock)
	dst = binary.AppendUvarint(dst, deltaMinis)
	dst = binary.AppendUvarint(dst, uint64(d.count))
	dst = binary.AppendVarint(dst, d.first)
	return append(dst, d.out...)
}

// packBits writes 32 numbers of width bits, 0 to 64, to the first 4·width bytes
// of dst, the lowest bits first.
func packBits(dst []byte, v *[deltaMini]uint64, width uint) {
	if width == 0 {
		return
	}
	// Two or four numbers that fit into a word are joined first.
	var joined [deltaMini]uint64
	words := joined[:]
	switch {
	case width <= 16:
		words = words[:deltaMini/4]
		for i := range words {
			q := (*[4]uint64)(v[4*i:])
			words[i] = q[0] | q[1]<<(width&63) | q[2]<<(2*width&63) | q[3]<<(3*width&63)
		}
		width *= 4
	case width <= 32:
		words = words[:deltaMini/2]
		for i := range words {
			p := (*[2]uint64)(v[2*i:])
			words[i] = p[0] | p[1]<<(width&63)
		}
		width *= 2
	default:
		words = v[:]
	}
	var hold uint64
	held := uint(0)
	for _, x := range words {
		hold |= x << (held & 63)
		held += width
		if held >= 64 {
			binary.LittleEndian.PutUint64(dst, hold)
			dst = dst[8:]
			held -= 64
			hold = x >> (width - held) // by 64: 0
		}
	}
	if held > 0 { // half a word
		binary.LittleEndian.PutUint32(dst, uint32(hold))
	}
}

// grow makes dst n bytes longer; what they hold is not defined.
func grow(dst []byte, n int) []byte {
	if len(dst)+n <= cap(dst) {
		return dst[:len(dst)+n]
	}
	bigger := make([]byte, len(dst)+n, 2*(len(dst)+n)+1024)
	copy(bigger, dst)
	return bigger
}
