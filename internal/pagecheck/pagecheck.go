// Package pagecheck holds the metadata, the page headers and the compressed pages
// of a Parquet file against what they claim, before a decoder sees them.
//
// The decoders of parquet-go allocate what a header says, and its codecs what the
// compressed bytes ask for: a Snappy block of ten bytes may ask for 4 GiB, zstd,
// gzip and brotli for a thousand times what they have, and a damaged LZ4 block for
// twice as much until there is no more memory. A page that passes takes exactly its claimed size. The package
// decides nothing of how large a page or a file may be: that is the caller's.
package pagecheck

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip" // parquet-go's, which panics at a header that it refuses
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// maxWindow is the memory that a frame of zstd may ask for, whatever its page
// claims: streaming writers ask for 8 MiB before they know its size.
const maxWindow = 64 << 20

// ErrSize: a page that does not decompress to what it claims, such as a
// decompression bomb.
var ErrSize = errors.New("a compressed page is not of the size that its header says")

// Check refuses a page that does not decompress to exactly size bytes, in memory
// of that size at most. What cannot be decompressed is refused, too.
func Check(codec format.CompressionCodec, body []byte, size int) error {
	switch codec {
	case format.Uncompressed:
		return equal(len(body), size)
	case format.Snappy:
		n, err := snappy.DecodedLen(body)
		if err != nil {
			return fmt.Errorf("%w: Snappy: %w", ErrSize, err)
		}
		return equal(n, size)
	case format.Zstd:
		if n, ok := oneFrame(body); ok {
			if n != uint64(size) {
				return fmt.Errorf("%w: %d bytes where it says %d", ErrSize, n, size)
			}
			return nil
		}
		d, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(max(maxWindow, 2*uint64(size))))
		if err != nil {
			return fmt.Errorf("%w: zstd: %w", ErrSize, err)
		}
		defer d.Close()
		return count(d, size)
	case format.Gzip:
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return fmt.Errorf("%w: gzip: %w", ErrSize, err)
		}
		return count(z, size)
	case format.Brotli:
		return count(brotli.NewReader(bytes.NewReader(body)), size)
	case format.Lz4Raw:
		n, err := lz4.UncompressBlock(body, make([]byte, size))
		if err != nil {
			return fmt.Errorf("%w: LZ4: %w", ErrSize, err)
		}
		return equal(n, size)
	}
	return fmt.Errorf("%w: compression by %v is not read", errors.ErrUnsupported, codec)
}

func equal(n, size int) error {
	if n != size {
		return fmt.Errorf("%w: %d bytes where it says %d", ErrSize, n, size)
	}
	return nil
}

// count reads no more than one byte beyond size.
func count(r io.Reader, size int) error {
	n, err := io.Copy(io.Discard, io.LimitReader(r, int64(size)+1))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSize, err)
	}
	return equal(int(n), size)
}

// oneFrame is the size that a single frame of zstd says that it has, which its
// decoder holds it to. What else there is (no size, several frames, damage) is
// for the decoder to find out.
func oneFrame(body []byte) (size uint64, ok bool) {
	var h zstd.Header
	if err := h.Decode(body); err != nil || !h.HasFCS || h.Skippable || h.HeaderSize > len(body) {
		return 0, false
	}
	rest := body[h.HeaderSize:]
	for last := false; !last; {
		if len(rest) < 3 {
			return 0, false
		}
		block := int(rest[0]) | int(rest[1])<<8 | int(rest[2])<<16
		last = block&1 != 0
		length := block >> 3
		if block>>1&3 == 1 { // one byte, repeated
			length = 1
		}
		if length > len(rest)-3 {
			return 0, false
		}
		rest = rest[3+length:]
	}
	if h.HasCheckSum {
		return h.FrameContentSize, len(rest) == 4
	}
	return h.FrameContentSize, len(rest) == 0
}
