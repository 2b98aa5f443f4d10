// Package inflate ends a decompression that gives far more than any honest file
// would: a bomb.
//
// It knows no format: it counts what is read on both sides of a decompressor.
package inflate

import (
	"errors"
	"fmt"
	"io"
)

const (
	// FreeBytes are decompressed whatever their ratio: 64 MiB, which is memory
	// and time that anybody has.
	FreeBytes = 64 << 20
	// MaxRatio is beyond them the most bytes for each compressed one. Text
	// compresses to a twentieth, logs of zeros to a hundredth; gzip reaches
	// 1,032, zstd 32,000.
	MaxRatio = 300
)

// ErrBomb: it grows beyond FreeBytes and MaxRatio.
var ErrBomb = errors.New("it decompresses to far more than an honest file does (a decompression bomb)")

// Counter counts what a decompressor reads.
type Counter struct {
	r io.Reader
	n int64
}

// NewCounter counts what is read of r.
func NewCounter(r io.Reader) *Counter { return &Counter{r: r} }

// Read is that of the reader behind.
func (c *Counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// N is how many bytes were read so far.
func (c *Counter) N() int64 { return c.n }

// Guard ends what a decompressor of packed gives with ErrBomb when it is one, and
// with an error when it has more than most bytes; most is 0 for no bound.
func Guard(unpacked io.Reader, packed *Counter, most int64) io.Reader {
	return &guard{r: unpacked, packed: packed, most: most, free: FreeBytes}
}

type guard struct {
	r      io.Reader
	packed *Counter
	most   int64
	free   int64
	n      int64
}

func (g *guard) Read(p []byte) (int, error) {
	n, err := g.r.Read(p)
	g.n += int64(n)
	switch {
	case g.most > 0 && g.n > g.most:
		return 0, fmt.Errorf("it decompresses to more than %d MB: %w", g.most>>20, ErrBomb)
	case g.n > g.free && g.n/MaxRatio > g.packed.n:
		return 0, ErrBomb
	}
	return n, err
}
