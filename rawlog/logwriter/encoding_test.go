package logwriter

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
)

// encodeDeltas encodes values that come in pieces.
func encodeDeltas(values []int64, narrow bool, piece int) ([]byte, *deltas) {
	d := &deltas{narrow: narrow}
	for part := range slices.Chunk(values, max(1, piece)) {
		d.add(part)
	}
	return d.appendTo(nil), d
}

// checkDeltas compares an encoding with what the library decodes, and its
// bounds with the values.
func checkDeltas(t *testing.T, values []int64, piece int) {
	t.Helper()
	body, d := encodeDeltas(values, false, piece)
	got, err := new(delta.BinaryPackedEncoding).DecodeInt64(nil, body)
	if err != nil || !slices.Equal(got, values) {
		t.Fatalf("%d values in pieces of %d: %v, or others came back", len(values), piece, err)
	}
	if len(values) > 0 && (d.min != slices.Min(values) || d.max != slices.Max(values)) {
		t.Fatalf("bounds %d and %d, want %d and %d", d.min, d.max, slices.Min(values), slices.Max(values))
	}

	narrow := make([]int64, len(values))
	want := make([]int32, len(values))
	for i, v := range values {
		want[i] = int32(v)
		narrow[i] = int64(want[i])
	}
	body, d = encodeDeltas(narrow, true, piece)
	got32, err := new(delta.BinaryPackedEncoding).DecodeInt32(nil, body)
	if err != nil || !slices.Equal(got32, want) {
		t.Fatalf("%d 32-bit values in pieces of %d: %v, or others came back", len(values), piece, err)
	}
	if len(values) > 0 && (d.min != slices.Min(narrow) || d.max != slices.Max(narrow)) {
		t.Fatalf("bounds %d and %d, want %d and %d", d.min, d.max, slices.Min(narrow), slices.Max(narrow))
	}
}

// shapes are columns as a log has them, and worse.
func shapes(rng *rand.Rand, n int) map[string][]int64 {
	of := func(f func(i int) int64) []int64 {
		v := make([]int64, n)
		for i := range v {
			v[i] = f(i)
		}
		return v
	}
	walk, jump := int64(0), int64(0)
	width := 1 + rng.IntN(64)
	return map[string][]int64{
		"constant":    of(func(int) int64 { return 42 }),
		"counting":    of(func(i int) int64 { return int64(i) }),
		"downwards":   of(func(i int) int64 { return -3 * int64(i) }),
		"large steps": of(func(i int) int64 { return int64(i) * (math.MaxInt64 / 50) }), // wraps around within a block
		"larger yet":  of(func(i int) int64 { return int64(i) * math.MinInt64 }),
		"halves":      of(func(i int) int64 { return int64(i) << 62 }),
		"one jump":    of(func(i int) int64 { jump = max(jump, int64(i/1000)*1e8); return 1e18 + jump }),
		"noise":       of(func(int) int64 { return int64(rng.Uint64()) >> (64 - width) }),
		"times": of(func(i int) int64 {
			walk += int64(rng.ExpFloat64() * 1e5)
			return 1.7e18 + walk
		}),
		"extremes": of(func(int) int64 { return []int64{math.MinInt64, math.MaxInt64, 0, -1, 1}[rng.IntN(5)] }),
		"last one": of(func(i int) int64 { return int64((i + 1) / n) }),
	}
}

func TestDeltasAreWhatTheLibraryDecodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	for _, n := range []int{1, 2, 3, 32, 33, 127, 128, 129, 130, 160, 256, 257, 1000, 5000} {
		for name, values := range shapes(rng, n) {
			t.Run(name, func(t *testing.T) {
				for _, piece := range []int{n, 1, 100, 128, 256} {
					checkDeltas(t, values, piece)
				}
			})
		}
	}
}

// What never changes or counts up costs five bytes for 128 values, before
// compression.
func TestConstantColumnsCostNearlyNothing(t *testing.T) {
	for name, values := range shapes(rand.New(rand.NewPCG(1, 1)), largeGroup) {
		body, _ := encodeDeltas(values, false, batchRows)
		if name == "constant" || name == "counting" || name == "downwards" {
			if limit := 5*largeGroup/deltaBlock + 20; len(body) > limit {
				t.Errorf("%s: %d bytes, want at most %d", name, len(body), limit)
			}
		}
	}
}

func FuzzDeltas(f *testing.F) {
	f.Add([]byte{}, 1)
	f.Add(bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7, 8}, 300), 100)
	f.Add(bytes.Repeat([]byte{0xff}, 8*129), 128)
	f.Fuzz(func(t *testing.T, data []byte, piece int) {
		values := make([]int64, len(data)/8)
		for i := range values {
			values[i] = int64(binary.LittleEndian.Uint64(data[8*i:]))
		}
		if len(values) > 0 {
			checkDeltas(t, values, min(max(piece, 1), 1000))
		}
	})
}

func TestPackBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 2))
	for width := range uint(65) {
		var v [deltaMini]uint64
		for i := range v {
			v[i] = rng.Uint64() >> (64 - width) // a shift by 64 gives 0
		}
		const guard = 0xa5
		dst := bytes.Repeat([]byte{guard}, int(4*width)+1)
		packBits(dst, &v, width)
		if dst[4*width] != guard {
			t.Fatalf("width %d: more than %d bytes were written", width, 4*width)
		}
		for i, want := range v {
			got := uint64(0)
			for b := range width {
				at := uint(i)*width + b
				got |= uint64(dst[at/8]>>(at%8)&1) << b
			}
			if got != want {
				t.Fatalf("width %d: value %d is %x, want %x", width, i, got, want)
			}
		}
	}
}

// checkRuns compares the hybrid encoding with what the library decodes.
func checkRuns(t *testing.T, values []int32) {
	t.Helper()
	var r runs
	most := int32(0)
	for _, v := range values {
		r.add(uint32(v), 1)
		most = max(most, v)
	}
	width := max(1, bits.Len32(uint32(most)))
	got, err := (&rle.Encoding{BitWidth: width}).DecodeInt32(nil, r.appendTo(nil, uint(width)))
	if err != nil || len(got) < len(values) || !slices.Equal(got[:len(values)], values) || len(got) >= len(values)+8 {
		t.Fatalf("%d values of %d bits came back as %d, %v", len(values), width, len(got), err)
	}
}

func TestRunsAreWhatTheLibraryDecodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 3))
	for range 3000 {
		distinct := int32(1) << rng.IntN(17)
		length := 1 << rng.IntN(11)
		var values []int32
		for n := rng.IntN(3000); len(values) < n; {
			values = append(values, slices.Repeat([]int32{rng.Int32N(distinct)}, 1+rng.IntN(length))...)
		}
		checkRuns(t, values)
	}
}

func FuzzRuns(f *testing.F) {
	f.Add([]byte{1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7})
	f.Add(bytes.Repeat([]byte{0, 1}, 600))
	f.Fuzz(func(t *testing.T, data []byte) {
		values := make([]int32, len(data))
		for i, b := range data {
			values[i] = int32(b)
		}
		checkRuns(t, values)
	})
}

func FuzzTextBounds(f *testing.F) {
	f.Add("short")
	f.Add(strings.Repeat("a", 64) + "b")
	f.Add(strings.Repeat("ä", 100))
	f.Add(strings.Repeat("\x7f", 100))
	f.Add("a" + strings.Repeat("\xff", 100))
	f.Fuzz(func(t *testing.T, s string) {
		lo, hi := lowerBound(s), upperBound(s)
		if lo > s || hi < s || len(lo) > boundBytes || len(hi) > max(boundBytes, len(s)) {
			t.Errorf("bounds of %q are %q and %q", s, lo, hi)
		}
		if utf8.ValidString(s) && (!utf8.ValidString(lo) || !utf8.ValidString(hi)) {
			t.Errorf("bounds of %q are no text: %q and %q", s, lo, hi)
		}
	})
}
