package ledger

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The oldest is that of a plain search, and what is kept stays in proportion to
// the most that was open, however long the first one stays.
func TestStragglersAgainstASearch(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, stuck := range []bool{false, true} {
		var s stragglers
		var open []int64
		most := 0
		for at := range int64(20_000) {
			at *= 3
			s.add(at, Entry{Seq: at, Intended: 10 * at})
			open = append(open, at)
			most = max(most, len(open))
			for len(open) > 1 && r.IntN(40) >= 19 {
				k := r.IntN(len(open))
				if stuck && k == 0 {
					k = 1
				}
				if e, ok := s.take(open[k]); !ok || e.Seq != open[k] {
					t.Fatalf("position %d: %+v, %v", open[k], e, ok)
				}
				if _, again := s.take(open[k]); again {
					t.Fatal("a position was taken twice")
				}
				open = slices.Delete(open, k, k+1)
			}
			if e, ok := s.oldest(); !ok || e.Intended != 10*open[0] {
				t.Fatalf("the oldest is %+v, want position %d", e, open[0])
			}
			if len(s.order) > 2*most+65 {
				t.Fatalf("%d positions are kept, and %d were open at most", len(s.order), most)
			}
		}
	}
	var none stragglers
	if _, ok := none.oldest(); ok {
		t.Error("there is an oldest of none")
	}
}
