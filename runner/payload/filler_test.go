package payload

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"queuebench/queue"
	"queuebench/runner/envelope"
)

// compressed is what zstd makes of bytes, as a share of them.
func compressed(t *testing.T, b []byte) float64 {
	t.Helper()
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	return float64(len(enc.EncodeAll(b, nil))) / float64(len(b))
}

func TestFillerIsSeededAndDoesNotCompress(t *testing.T) {
	for _, size := range []int{100, 1000, 200_000} {
		f, same, other := NewFiller(1), NewFiller(1), NewFiller(2)
		var all []byte
		for seq := range int64(500_000 / size) {
			p, q, o := make([]byte, size), make([]byte, size), make([]byte, size)
			f.Fill(p, 5, seq)
			same.Fill(q, 5, seq)
			other.Fill(o, 5, seq)
			if !bytes.Equal(p, q) || bytes.Equal(p, o) {
				t.Fatalf("size %d, message %d: bytes do not follow the seed", size, seq)
			}
			if bytes.Count(p[:envelope.Size], []byte{0}) != envelope.Size {
				t.Fatalf("size %d: the identity was written over", size)
			}
			all = append(all, p[envelope.Size:]...)
		}
		if got := compressed(t, all); got < 0.99 {
			t.Errorf("size %d: compresses to %.3f", size, got)
		}
	}
}

// The bodies of a batch of messages compress to what is asked for, by a strong
// compressor and by a quick one.
func TestCompressibilityIsWhatACompressorTakesAway(t *testing.T) {
	for _, size := range []int{100, 1000, 200_000} {
		for _, c := range []float64{0, 0.25, 0.5, 0.9, 1} {
			t.Run(fmt.Sprintf("%d/%v", size, c), func(t *testing.T) {
				spec := Fixed(size)
				spec.Compressibility = c
				src := source(t, spec, 1, 1)
				var bodies []byte
				for seq := range int64(500_000 / size) {
					bodies = append(bodies, message(t, src, seq).Payload[envelope.Size:]...)
				}
				// What it costs to say where zeros begin and end, and that the
				// longest match of snappy is 64 bytes, for 3.
				limit := map[string]float64{"zstd": 0.02, "snappy": 0.02 + 0.06*c}
				if size == 100 {
					limit["zstd"], limit["snappy"] = 0.08, 0.10
				}
				for name, got := range map[string]float64{
					"zstd":   compressed(t, bodies),
					"snappy": float64(len(s2.EncodeSnappy(nil, bodies))) / float64(len(bodies)),
				} {
					if want := 1 - c; math.Abs(got-want) > limit[name] {
						t.Errorf("%s: bodies of %d bytes compress to %.3f, want %.3f", name, size, got, want)
					}
				}
			})
		}
	}
}

func BenchmarkFiller100(b *testing.B) {
	f, p := NewFiller(1), make([]byte, 100)
	for i := range b.N {
		f.Fill(p, 1, int64(i))
	}
}

// BenchmarkFill is what making a message takes; encode and fill of fixed sizes
// is the floor.
func BenchmarkFill(b *testing.B) {
	b.Run("floor", func(b *testing.B) {
		f, p := NewFiller(1), make([]byte, 100)
		head := envelope.NewHead(envelope.Data, 1, 2)
		for i := range b.N {
			head.Encode(p, int64(i))
			f.Fill(p, 1, int64(i))
		}
	})
	sizes := func(text string) Spec {
		s, err := ParseSizes(text)
		if err != nil {
			b.Fatal(err)
		}
		return Spec{Sizes: s}
	}
	with := func(s Spec, change func(*Spec)) Spec { change(&s); return s }
	for _, k := range []struct {
		name string
		spec Spec
	}{
		{"fixed", Fixed(100)},
		{"compressible", with(Fixed(100), func(s *Spec) { s.Compressibility = 0.5 })},
		{"uniform", sizes("uniform:50..150")},
		{"lognormal", sizes("lognormal:mean=100,p99=300")},
		{"weighted", sizes("50:50%,150:50%")},
		{"keys-uniform", with(Fixed(100), func(s *Spec) { s.Keys = Keys{N: 1000, Distribution: UniformKeys} })},
		{"keys-zipf", with(Fixed(100), func(s *Spec) { s.Keys = Keys{N: 1000, Distribution: ZipfKeys, S: 0.99} })},
		{"headers", with(Fixed(100), func(s *Spec) { s.Headers = []queue.Header{{Name: "a", Value: []byte("b")}} })},
		{"lines", with(Spec{}, func(s *Spec) {
			s.Lines = lines(b, bytes.Repeat([]byte("a line of some eighty-four bytes, which is as long as the body of 100 bytes is....\n"), 10_000))
		})},
	} {
		b.Run(k.name, func(b *testing.B) {
			src := source(b, k.spec, 0, 1)
			m := make([]queue.Message, src.Most())
			b.ReportAllocs()
			b.ResetTimer()
			at := 0
			for i := range b.N {
				if at == len(m) || !src.Fill(&m[at], int64(i)) {
					if src.Err() != nil {
						b.Fatal(src.Err())
					}
					src.Next()
					at = 0
					src.Fill(&m[at], int64(i))
				}
				at++
			}
		})
	}
}
