package stats

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
)

// A Sparse histogram holds what a Counter does.
func TestSparseIsACounter(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for range 20 {
		var s Sparse
		var c Counter
		pages := 0
		for range 2000 {
			v := int64(1) << r.IntN(51)
			v += r.Int64N(v)
			if r.IntN(3) == 0 {
				v = -v
			}
			made, err := s.Record(v)
			if other := c.Record(v); (err == nil) != (other == nil) {
				t.Fatalf("%d: %v and %v", v, err, other)
			}
			pages += made
		}
		if pages == 0 || pages > 2*NumIndexes>>pageBits {
			t.Errorf("%d pages", pages)
		}
		if got, want := s.Compact(), c.Take(); !reflect.DeepEqual(got, want) {
			t.Fatalf("%d buckets, want %d", len(got.Buckets), len(want.Buckets))
		}
	}
}

func TestSparseRefusesWhatIsBeyondTheRange(t *testing.T) {
	var s Sparse
	for _, v := range []int64{MaxValue + 1, -MaxValue - 1} {
		if _, err := s.Record(v); !errors.Is(err, ErrRange) {
			t.Errorf("%d: %v", v, err)
		}
	}
	if s.N() != 0 || s.Compact().N != 0 {
		t.Errorf("%d values", s.N())
	}
}
