package stats

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// A batch counts what its values count one by one, and Add what its counter has.
func TestBatchAgainstRecord(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	for i := range 40 {
		values := samples(r, 1+r.IntN(MaxBatch), false)
		if i%2 == 0 { // near one another, as in a commit
			for k := range values {
				values[k] = 90e6 - int64(k)*4000
			}
		}
		b, ok := NewBatch(values)
		if !ok || b.Min() != slices.Min(values) || b.Max() != slices.Max(values) {
			t.Fatalf("batch of %d values: %v, %d to %d", len(values), ok, b.Min(), b.Max())
		}
		var one, all, sum Counter
		var sparseOne, sparseAll Sparse
		pages := 0
		for _, v := range values {
			if err := one.Record(v); err != nil {
				t.Fatal(err)
			}
			n, err := sparseOne.Record(v)
			if err != nil {
				t.Fatal(err)
			}
			pages += n
		}
		all.RecordBatch(b)
		if got := sparseAll.RecordBatch(b); got != pages || got > MaxBatchPages {
			t.Errorf("%d pages, want %d", got, pages)
		}
		if got, want := sparseAll.Compact(), sparseOne.Compact(); !reflect.DeepEqual(got, want) {
			t.Fatalf("Sparse: %+v, want %+v", got, want)
		}
		for _, v := range []int64{-5, 7, values[0]} {
			if err := sum.Record(v); err != nil {
				t.Fatal(err)
			}
			if err := one.Record(v); err != nil {
				t.Fatal(err)
			}
		}
		sum.Add(&all)
		sum.Add(new(Counter))
		if all.N() != int64(len(values)) {
			t.Errorf("a counter that was added has %d values, want %d", all.N(), len(values))
		}
		want := one.Take()
		if got := sum.Take(); !reflect.DeepEqual(got, want) {
			t.Fatalf("Counter: %+v, want %+v", got, want)
		}
		checkSame(t, "the batch", all.Take(), exact(values))
	}
}

func TestBatchRefuses(t *testing.T) {
	for name, values := range map[string][]int64{
		"none": {}, "a negative one": {1, -1, 3}, "one beyond": {1, MaxValue + 1}, "too many": make([]int64, MaxBatch+1),
	} {
		if _, ok := NewBatch(values); ok {
			t.Errorf("%s: was taken", name)
		}
	}
	if b, ok := NewBatch([]int64{0, MaxValue}); !ok || b.Max() != MaxValue {
		t.Error("the outermost values were refused")
	}
}

func BenchmarkRecordBatch(b *testing.B) {
	var h Counter
	values := make([]int64, MaxBatch)
	for i := range values {
		values[i] = 90e6 - int64(i)*4000
	}
	for b.Loop() {
		batch, _ := NewBatch(values)
		h.RecordBatch(batch)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/MaxBatch, "ns/value")
}
