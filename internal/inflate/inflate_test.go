package inflate

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

// free stands for FreeBytes, which would take long to compress.
const free = 1 << 20

func pack(t *testing.T, n int, fill func(i int) byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	block := make([]byte, n)
	for i := range block {
		block[i] = fill(i)
	}
	if _, err := z.Write(block); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unpack(t *testing.T, packed []byte, most int64) (int64, error) {
	t.Helper()
	c := NewCounter(bytes.NewReader(packed))
	z, err := gzip.NewReader(c)
	if err != nil {
		t.Fatal(err)
	}
	g := Guard(z, c, most).(*guard)
	if g.free != FreeBytes {
		t.Error("not as much is free as is said")
	}
	g.free = free
	return io.Copy(io.Discard, g)
}

func TestBombsEndAndOthersDoNot(t *testing.T) {
	zeros := pack(t, 8*free, func(int) byte { return 0 })
	if n, err := unpack(t, zeros, 0); !errors.Is(err, ErrBomb) || n > 2*free {
		t.Errorf("8 MB of zeros in %d bytes: %d bytes, %v", len(zeros), n, err)
	}
	if n, err := unpack(t, pack(t, free, func(int) byte { return 0 }), 0); n != free || err != nil {
		t.Errorf("as many zeros as are free: %d, %v", n, err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	if n, err := unpack(t, pack(t, 2*free, func(i int) byte { return byte('0' + i%7 + r.IntN(2)) }), 0); n != 2*free || err != nil {
		t.Errorf("what compresses well: %d, %v", n, err)
	}
	if n, err := unpack(t, pack(t, free, func(int) byte { return byte(r.IntN(256)) }), free/2); !errors.Is(err, ErrBomb) || n > free/2 {
		t.Errorf("more than the most: %d, %v", n, err)
	}
}
