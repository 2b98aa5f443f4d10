// Package hdrlog writes and reads HdrHistogram interval logs (format version
// 1.3, V2 compressed histograms) straight from and to sparse histograms.
//
// It has one geometry, that of package stats: lowest value 1 ns, 3 significant
// digits, 44,032 buckets. A histogram of another geometry is refused by name,
// since its buckets are not ours. The package never makes the dense array of
// 352 kB that the library's codec goes through, which is what makes a digest of
// thousands of intervals cheap; the tests hold it to the library byte for byte
// where that is possible, and value for value everywhere.
package hdrlog

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"queuebench/stats"
)

// The V2 encoding of HdrHistogram: cookies with their word size of 1, which
// stands for LEB128 in ZigZag, and a header of 40 bytes.
const (
	cookie           = 0x1c849303 | 0x10
	compressedCookie = 0x1c849304 | 0x10
	headerSize       = 40
	maxVarint        = 9
	maxPayload       = stats.NumIndexes * maxVarint
)

// ErrGeometry: a histogram whose buckets are not those of package stats.
var ErrGeometry = errors.New("another histogram geometry (want a lowest value of 1 and 3 significant digits)")

// encoder holds what one encoded histogram leaves for the next.
type encoder struct {
	raw    []byte
	zbuf   bytes.Buffer
	z      [2]*zlib.Writer // with and without compression
	stored int             // histograms of fewer bytes are stored without compression
}

// appendTo appends the base64 text of the buckets of one sign, as magnitudes,
// ascending.
func (e *encoder) appendTo(dst []byte, buckets []stats.Bucket) ([]byte, error) {
	e.raw = append(e.raw[:0], make([]byte, headerSize)...)
	next := int32(0)
	for _, b := range buckets {
		switch zeros := b.Index - next; {
		case zeros < 0 || b.Index >= stats.NumIndexes || b.Count <= 0:
			return dst, fmt.Errorf("bucket %d with the count %d cannot be encoded", b.Index, b.Count)
		case zeros == 1:
			e.raw = append(e.raw, 0)
		case zeros > 1:
			e.raw = appendZigZag(e.raw, -int64(zeros))
		}
		e.raw = appendZigZag(e.raw, b.Count)
		next = b.Index + 1
	}
	h := e.raw
	binary.BigEndian.PutUint32(h, cookie)
	binary.BigEndian.PutUint32(h[4:], uint32(len(h)-headerSize))
	binary.BigEndian.PutUint32(h[8:], 0) // normalizing index offset
	binary.BigEndian.PutUint32(h[12:], 3)
	binary.BigEndian.PutUint64(h[16:], 1)
	binary.BigEndian.PutUint64(h[24:], uint64(stats.MaxValue))
	binary.BigEndian.PutUint64(h[32:], math.Float64bits(1)) // conversion ratio

	e.zbuf.Reset()
	e.zbuf.Write(make([]byte, 8))
	kind, level := 0, zlib.BestCompression
	if len(e.raw) < e.stored {
		kind, level = 1, zlib.NoCompression
	}
	z := e.z[kind]
	if z == nil {
		var err error
		if z, err = zlib.NewWriterLevel(&e.zbuf, level); err != nil {
			return dst, err
		}
		e.z[kind] = z
	} else {
		z.Reset(&e.zbuf)
	}
	if _, err := z.Write(e.raw); err != nil {
		return dst, err
	}
	if err := z.Close(); err != nil {
		return dst, err
	}
	out := e.zbuf.Bytes()
	binary.BigEndian.PutUint32(out, compressedCookie)
	binary.BigEndian.PutUint32(out[4:], uint32(len(out)-8))
	return base64.StdEncoding.AppendEncode(dst, out), nil
}

// appendZigZag appends v as LEB128 of its ZigZag form, of at most 9 bytes: the
// ninth holds 8 bits.
func appendZigZag(dst []byte, v int64) []byte {
	u := uint64(v<<1) ^ uint64(v>>63)
	for i := 1; u >= 0x80 && i < maxVarint; i++ {
		dst = append(dst, byte(u)|0x80)
		u >>= 7
	}
	return append(dst, byte(u))
}

// decoder holds what one decoded histogram leaves for the next.
type decoder struct {
	packed []byte
	raw    []byte
	src    bytes.Reader
	z      io.ReadCloser
	any    bool // geometries other than ours are taken
}

// decode returns the buckets of an encoded histogram of our geometry, ascending.
func (d *decoder) decode(text []byte) ([]stats.Bucket, error) {
	b, _, err := d.decodeAny(text)
	return b, err
}

// decodeAny returns the buckets of an encoded histogram, ascending, or its cells
// where its geometry is not ours. Memory is bounded by the geometry, whatever
// the text claims.
func (d *decoder) decodeAny(text []byte) ([]stats.Bucket, []Cell, error) {
	payload, other, err := d.unpack(text)
	switch {
	case err != nil:
		return nil, nil, err
	case other != nil:
		cells, err := parseCells(payload, *other)
		return nil, cells, err
	}
	b, err := parse(payload)
	return b, nil, err
}

// unpack returns the payload of an encoded histogram, and its geometry where it
// is not ours.
func (d *decoder) unpack(text []byte) ([]byte, *geometry, error) {
	fail := func(format string, args ...any) ([]byte, *geometry, error) {
		return nil, nil, fmt.Errorf(format, args...)
	}
	var err error
	if len(text) > base64.StdEncoding.EncodedLen(2*maxPayload) {
		return fail("an encoded histogram of %d bytes", len(text))
	}
	if d.packed, err = base64.StdEncoding.AppendDecode(d.packed[:0], text); err != nil {
		return nil, nil, err
	}
	p := d.packed
	if len(p) < 8 {
		return fail("an encoded histogram of %d bytes, cut short", len(p))
	}
	if c := binary.BigEndian.Uint32(p); c&^0xf0 != compressedCookie&^0xf0 {
		return fail("cookie %#x is not that of a compressed V2 histogram", c)
	}
	if n := binary.BigEndian.Uint32(p[4:]); uint64(n) != uint64(len(p)-8) {
		return fail("%d compressed bytes where %d are announced", len(p)-8, n)
	}
	d.src.Reset(p[8:])
	if d.z == nil {
		d.z, err = zlib.NewReader(&d.src)
	} else {
		err = d.z.(zlib.Resetter).Reset(&d.src, nil)
	}
	if err != nil {
		return nil, nil, err
	}
	var h [headerSize]byte
	if _, err := io.ReadFull(d.z, h[:]); err != nil {
		return fail("header: %w", err)
	}
	n, other, err := d.checkHeader(h[:])
	if err != nil {
		return nil, nil, err
	}
	if cap(d.raw) < n {
		d.raw = make([]byte, n)
	}
	d.raw = d.raw[:n]
	if _, err := io.ReadFull(d.z, d.raw); err != nil {
		return fail("payload of %d bytes: %w", n, err)
	}
	// Reading the end verifies the checksum.
	if m, err := d.z.Read(h[:1]); m != 0 || err != io.EOF {
		if err == nil || err == io.EOF {
			err = errors.New("more bytes than announced")
		}
		return nil, nil, err
	}
	return d.raw, other, nil
}

// checkHeader returns the length of the payload, and the geometry where it is
// not ours.
func (d *decoder) checkHeader(h []byte) (int, *geometry, error) {
	if c := binary.BigEndian.Uint32(h); c&^0xf0 != cookie&^0xf0 {
		return 0, nil, fmt.Errorf("cookie %#x is not that of a V2 histogram", c)
	}
	n := binary.BigEndian.Uint32(h[4:])
	digits := binary.BigEndian.Uint32(h[12:])
	lowest := int64(binary.BigEndian.Uint64(h[16:]))
	ratio := math.Float64frombits(binary.BigEndian.Uint64(h[32:]))
	most := uint32(maxPayload)
	var other *geometry
	if digits != 3 || lowest > 1 || lowest < 0 || ratio != 1 {
		if !d.any || digits > 5 || lowest < 0 || ratio != 1 {
			return 0, nil, fmt.Errorf("lowest value %d, %d digits, ratio %g: %w", lowest, digits, ratio, ErrGeometry)
		}
		other = newGeometry(lowest, int(digits))
		most = maxOtherPayload
	}
	if n > most {
		return 0, nil, fmt.Errorf("payload of %d bytes: more than %d", n, most)
	}
	return int(n), other, nil
}

func parse(p []byte) ([]stats.Bucket, error) {
	// Each value ends with a byte below 0x80, or is one of the few of nine bytes.
	ends := 0
	for _, b := range p {
		ends += int(1 - b>>7)
	}
	out := make([]stats.Bucket, 0, min(ends, stats.NumIndexes))
	var index, total int64
	for len(p) > 0 {
		v, n, err := zigZag(p)
		if err != nil {
			return nil, err
		}
		p = p[n:]
		if v < 0 {
			if v < -stats.NumIndexes {
				return nil, fmt.Errorf("%d empty buckets in a row", -v)
			}
			index -= v
			continue
		}
		if v > 0 {
			if index >= stats.NumIndexes {
				return nil, fmt.Errorf("a count in bucket %d: beyond the range of 30 days", index)
			}
			if total > math.MaxInt64-v {
				return nil, errors.New("the counts add up to more than 2^63")
			}
			total += v
			out = append(out, stats.Bucket{Index: int32(index), Count: v})
		}
		index++
	}
	return out, nil
}

func zigZag(p []byte) (v int64, n int, err error) {
	var u uint64
	for i, b := range p {
		if i == maxVarint-1 {
			u |= uint64(b) << (7 * i)
			return int64(u>>1) ^ -int64(u&1), i + 1, nil
		}
		u |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return int64(u>>1) ^ -int64(u&1), i + 1, nil
		}
	}
	return 0, 0, errors.New("the last count is cut short")
}
