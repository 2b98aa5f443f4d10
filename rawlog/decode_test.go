package rawlog

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
)

// The library's encoders are the independent side.

// decodeDelta decodes all values, some at a time.
func decodeDelta(dst []int64, src []byte) error {
	rng := rand.New(rand.NewPCG(uint64(len(dst)), uint64(len(src))))
	var d deltaDecoder
	if err := d.begin(src, len(dst)); err != nil {
		return err
	}
	for len(dst) > 0 {
		n := 1 + rng.IntN(min(len(dst), 300))
		same, err := d.decode(dst[:n])
		if err != nil {
			return err
		}
		if same && slices.Min(dst[:n]) != slices.Max(dst[:n]) {
			return errors.New("values that differ are told to be the same")
		}
		dst = dst[n:]
	}
	if d.left > 0 {
		return damaged("%d are left", d.left)
	}
	return nil
}

func decodeRLE(dst []int32, src []byte, width uint) ([]byte, error) {
	rng := rand.New(rand.NewPCG(uint64(len(dst)), uint64(len(src))))
	var d rleDecoder
	if err := d.begin(src, width, len(dst)); err != nil {
		return nil, err
	}
	for len(dst) > 0 {
		n := 1 + rng.IntN(min(len(dst), 300))
		same, err := d.decode(dst[:n])
		if err != nil {
			return nil, err
		}
		if same && slices.Min(dst[:n]) != slices.Max(dst[:n]) {
			return nil, errors.New("values that differ are told to be the same")
		}
		dst = dst[n:]
	}
	return d.src, d.ended()
}

func TestDeltaOfEveryWidth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for width := range 65 {
		for _, n := range []int{1, 2, 32, 33, 128, 129, 130, 1000} {
			want := make([]int64, n)
			last := int64(rng.Uint64())
			for i := range want {
				if width > 0 {
					last += int64(rng.Uint64() >> (64 - width))
				}
				want[i] = last
			}
			src, err := new(delta.BinaryPackedEncoding).EncodeInt64(nil, want)
			if err != nil {
				t.Fatal(err)
			}
			for _, padding := range []int{0, 16} { // both ways to read the last block
				b := slices.Concat(src, make([]byte, padding))[:len(src)]
				got := make([]int64, n)
				if err := decodeDelta(got, slices.Clip(b[:len(src):len(src)+padding])); err != nil {
					t.Fatalf("width %d, %d values: %v", width, n, err)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("width %d: %d values differ", width, n)
				}
			}
		}
	}
}

func TestDeltaOfExtremes(t *testing.T) {
	want := []int64{math.MinInt64, math.MaxInt64, 0, math.MinInt64, -1, 1, math.MaxInt64, math.MaxInt64}
	src, err := new(delta.BinaryPackedEncoding).EncodeInt64(nil, want)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]int64, len(want))
	if err := decodeDelta(got, src); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	narrow := []int32{math.MinInt32, math.MaxInt32, 0, math.MinInt32, -1}
	if src, err = new(delta.BinaryPackedEncoding).EncodeInt32(nil, narrow); err != nil {
		t.Fatal(err)
	}
	got = got[:len(narrow)]
	if err := decodeDelta(got, src); err != nil {
		t.Fatal(err)
	}
	for i, v := range narrow {
		if int32(got[i]) != v {
			t.Errorf("value %d is %d, want %d", i, int32(got[i]), v)
		}
	}
}

func TestDeltaRefuses(t *testing.T) {
	good, err := new(delta.BinaryPackedEncoding).EncodeInt64(nil, []int64{1, 5, 9, 1 << 40, 3})
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]int64, 5)
	for n := range good {
		if err := decodeDelta(dst, good[:n:n]); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	if err := decodeDelta(dst[:4], good); !errors.Is(err, ErrDamaged) {
		t.Errorf("more values than rows: %v", err)
	}
	if err := decodeDelta(make([]int64, 6), good); !errors.Is(err, ErrDamaged) {
		t.Errorf("fewer values than rows: %v", err)
	}
	for name, b := range map[string][]byte{
		"a block of no parts":   {128, 1, 0, 5, 2},
		"a block of 2^32":       {128, 128, 128, 128, 16, 4, 5, 2},
		"parts of 8":            {128, 1, 16, 5, 2},
		"values of 65 bits":     {128, 1, 4, 5, 2, 2, 65, 65, 65, 65},
		"an endless number":     slices.Repeat([]byte{255}, 40),
		"a block that is empty": {0, 4, 5, 2},
	} {
		if err := decodeDelta(dst, b); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRLEOfEveryWidth(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	for width := 1; width <= 32; width++ {
		for _, n := range []int{1, 7, 8, 9, 64, 100, 1000} {
			want := make([]int32, n)
			for i := range want {
				want[i] = int32(rng.Uint64() >> (64 - width) & math.MaxInt32)
				if i > 0 && rng.IntN(10) > 0 {
					want[i] = want[i-1] // runs
				}
			}
			src, err := (&rle.Encoding{BitWidth: width}).EncodeInt32(nil, want)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]int32, n)
			rest, err := decodeRLE(got, src, uint(width))
			if err != nil || len(rest) > 0 || !slices.Equal(got, want) {
				t.Fatalf("width %d, %d values: %v, %d bytes left, equal %v", width, n, err, len(rest), slices.Equal(got, want))
			}
		}
	}
}

func FuzzDelta(f *testing.F) {
	for _, v := range [][]int64{{}, {7}, {1, 2, 3}, {math.MinInt64, math.MaxInt64, 0}} {
		src, err := new(delta.BinaryPackedEncoding).EncodeInt64(nil, v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src, uint16(len(v)))
	}
	f.Fuzz(func(t *testing.T, src []byte, n uint16) {
		decodeDelta(make([]int64, n), src)
	})
}

func FuzzRLE(f *testing.F) {
	f.Add([]byte{6, 1}, uint16(3), uint8(1))
	f.Add([]byte{3, 0x55, 2, 1}, uint16(9), uint8(1))
	f.Fuzz(func(t *testing.T, src []byte, n uint16, width uint8) {
		dst := make([]int32, n)
		if _, err := decodeRLE(dst, src, uint(width)); err == nil && width < 32 {
			for i, v := range dst {
				if v>>width != 0 {
					t.Fatalf("value %d is %d, of %d bits", i, v, width)
				}
			}
		}
	})
}

// A text that is not UTF-8 can still be told from others, and be written as JSON.
func TestTextsAreReadable(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "group": "group", "日本語\ufffd": "日本語\ufffd", "\xc9": `\xc9`, "a\xffb\xc3\xa9\xe2\x82": `a\xffbé\xe2\x82`,
	} {
		data := append([]byte{byte(len(text)), 0, 0, 0}, text...)
		got, err := plainStrings(nil, data, 1)
		if err != nil || got[0] != want || !utf8.ValidString(got[0]) {
			t.Errorf("%q is read as %q, %v; want %q", text, got, err, want)
		}
	}
}
