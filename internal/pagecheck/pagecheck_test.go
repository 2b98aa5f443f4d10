package pagecheck

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/format"
)

var codecs = []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Zstd, &parquet.Gzip, &parquet.Brotli, &parquet.Lz4Raw}

// What parquet-go writes passes with its own size and no other.
func TestPagesPassWithTheirOwnSize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 100, 4096, 70_000} {
		raw := make([]byte, n)
		for i := range raw {
			raw[i] = byte(r.IntN(1 + r.IntN(8)))
		}
		for _, c := range codecs {
			body, err := c.Encode(nil, raw)
			if err != nil {
				t.Fatal(err)
			}
			if err := Check(c.CompressionCodec(), body, n); err != nil {
				t.Errorf("%v, %d bytes: %v", c, n, err)
			}
			for _, other := range []int{n - 1, n + 1, 2 * n} {
				if err := Check(c.CompressionCodec(), body, other); !errors.Is(err, ErrSize) {
					t.Errorf("%v, %d bytes as %d: %v", c, n, other, err)
				}
			}
		}
	}
	var streamed bytes.Buffer // as Java's writers do: no size in the frame
	w, err := zstd.NewWriter(&streamed)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(bytes.Repeat([]byte("ab"), 50_000))
	w.Write(bytes.Repeat([]byte("cd"), 50_000))
	w.Close()
	if err := Check(format.Zstd, streamed.Bytes(), 200_000); err != nil {
		t.Error(err)
	}
	if err := Check(format.Zstd, append(streamed.Bytes(), streamed.Bytes()...), 200_000); !errors.Is(err, ErrSize) {
		t.Errorf("two frames: %v", err)
	}
	if err := Check(format.LZO, nil, 0); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}

// A bomb costs neither its size nor twice the claim.
func TestBombsTakeNoMemory(t *testing.T) {
	zeros := make([]byte, 32<<20)
	bombs := map[string]struct {
		codec format.CompressionCodec
		body  []byte
	}{"snappy that claims 4 GiB": {format.Snappy, binary.AppendUvarint(nil, 1<<32-1)}, "damaged LZ4": {format.Lz4Raw, []byte{0xf0, 0xff, 0xff, 0xff}}}
	for _, c := range codecs[2:] {
		body, err := c.Encode(nil, zeros)
		if err != nil {
			t.Fatal(err)
		}
		bombs[c.String()] = struct {
			codec format.CompressionCodec
			body  []byte
		}{c.CompressionCodec(), body}
	}
	frame := bytes.Clone(bombs["ZSTD"].body)
	small, err := parquet.Zstd.Encode(nil, []byte("abc"))
	if err != nil {
		t.Fatal(err)
	}
	bombs["zstd, the second frame"] = struct {
		codec format.CompressionCodec
		body  []byte
	}{format.Zstd, append(small, frame...)}
	for name, b := range bombs {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := Check(b.codec, b.body, 3)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrSize) {
			t.Errorf("%s: %v", name, err)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 24<<20 {
			t.Errorf("%s took %d MB", name, grown>>20)
		}
	}
}

// A page with any one bit changed is refused here or by parquet-go: its gzip panics at
// a header that the standard library takes.
func TestEachBitOfAPage(t *testing.T) {
	const text = "a page of some bytes, some bytes, some bytes"
	for _, c := range codecs {
		body, err := c.Encode(nil, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		passed := 0
		for bit := range 8 * len(body) {
			damaged := bytes.Clone(body)
			damaged[bit/8] ^= 1 << (bit % 8)
			if Check(c.CompressionCodec(), damaged, len(text)) != nil {
				continue
			}
			passed++
			if out, err := c.Decode(nil, damaged); err == nil && len(out) != len(text) {
				t.Errorf("%v, bit %d: %d bytes, %d passed", c, bit, len(out), len(text))
			}
		}
		t.Logf("%v: %d of %d bits pass", c, passed, 8*len(body))
	}
}

// What passes is decompressed by parquet-go to the claimed size, or refused by
// it.
func FuzzCheck(f *testing.F) {
	for i, c := range codecs {
		body, err := c.Encode(nil, []byte("a page of some bytes, some bytes, some bytes"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), body, uint16(44))
		f.Add(uint8(i), body[:len(body)/2], uint16(44))
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte, size uint16) {
		c := codecs[int(which)%len(codecs)]
		if Check(c.CompressionCodec(), body, int(size)) != nil {
			return
		}
		out, err := c.Decode(nil, body)
		if err == nil && len(out) != int(size) {
			t.Errorf("%v: %d bytes, %d passed", c, len(out), size)
		}
	})
}
