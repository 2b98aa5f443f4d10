package seqset

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestAgainstAMap compares a set with Go's own map on numbers that arrive
// nearly in order, with holes and repetitions.
func TestAgainstAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, lose := range []float64{0, 0.001, 0.5, 1} {
		var a, b Set
		inA, inB := map[int64]bool{}, map[int64]bool{}
		add := func(s *Set, m map[int64]bool, seq int64) {
			if fresh := s.Add(seq); fresh == m[seq] {
				t.Fatalf("lose %v: Add(%d) = %v", lose, seq, fresh)
			}
			m[seq] = true
		}
		for seq := range int64(200_000) {
			near := max(0, seq-r.Int64N(50))
			if r.Float64() >= lose {
				add(&a, inA, seq)
			}
			if r.Float64() < 0.01 {
				add(&a, inA, near)
			}
			if r.Float64() >= 0.3 {
				add(&b, inB, seq)
			}
		}
		var without int64
		for seq := range inA {
			if !inB[seq] {
				without++
			}
		}
		if a.Len() != int64(len(inA)) || a.Without(&b) != without {
			t.Errorf("lose %v: Len %d, want %d; Without %d, want %d", lose, a.Len(), len(inA), a.Without(&b), without)
		}
		for seq := range int64(200_100) {
			if a.Has(seq) != inA[seq] {
				t.Fatalf("lose %v: Has(%d) = %v", lose, seq, a.Has(seq))
			}
		}
	}
}

// TestRangesAgainstAMap adds ranges of all sizes, some of which overlap what is
// there, and single numbers between them.
func TestRangesAgainstAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 2 {
		var s Set
		in := map[int64]bool{}
		for range 120 {
			from := r.Int64N(3 * chunkLen)
			if r.IntN(3) == 0 {
				from &^= chunkLen - 1
			}
			to := from + r.Int64N(1+int64(1)<<r.IntN(15))
			if r.IntN(4) == 0 {
				to = (to + chunkLen) &^ (chunkLen - 1)
			}
			free := true
			for seq := from; seq < to; seq++ {
				free = free && !in[seq]
			}
			if added := s.AddRange(from, to); added != free {
				t.Fatalf("AddRange(%d, %d) = %v", from, to, added)
			}
			for seq := from; seq < to && free; seq++ {
				in[seq] = true
			}
			if one := r.Int64N(5 * chunkLen); s.Add(one) == in[one] {
				t.Fatalf("Add(%d) is wrong", one)
			} else {
				in[one] = true
			}
		}
		if s.Len() != int64(len(in)) {
			t.Fatalf("Len %d, want %d", s.Len(), len(in))
		}
		for seq := range int64(6 * chunkLen) {
			if s.Has(seq) != in[seq] {
				t.Fatalf("Has(%d) = %v", seq, s.Has(seq))
			}
		}
	}
}

func TestACompleteSetTakesNoBitmaps(t *testing.T) {
	var s Set
	for seq := range int64(10 * chunkLen) {
		s.Add(seq)
	}
	s.AddRange(10*chunkLen, 12*chunkLen)
	for i, c := range s.chunks {
		if c.bits != nil {
			t.Errorf("chunk %d is complete and has a bitmap", i)
		}
	}
	if s.Add(5) || !s.Has(5) || s.Has(-1) || s.Has(1<<40) {
		t.Error("membership in a complete set is wrong")
	}
}

func BenchmarkAdd(b *testing.B) {
	var s Set
	b.ReportAllocs()
	for i := range b.N {
		s.Add(int64(i))
	}
}

func BenchmarkAddRange(b *testing.B) {
	for _, n := range []int{1, 4, 256} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var s Set
			b.ReportAllocs()
			for i := 0; i < b.N; i += n {
				s.AddRange(int64(i), int64(i+n))
			}
		})
	}
}
