package seqset

import (
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

func TestACompleteSetTakesNoBitmaps(t *testing.T) {
	var s Set
	for seq := range int64(10 * chunkLen) {
		s.Add(seq)
	}
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
