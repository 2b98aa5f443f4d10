package objectstore_test

import (
	"math"
	"testing"

	"queuebench/objectstore"
)

func TestPrices(t *testing.T) {
	// The two examples of docs/delta.md at 10,000 messages a second: P = C = 1.
	for _, c := range []struct {
		commits, polls float64 // per second
		want           float64 // dollars per million messages
	}{{10, 100, 0.014}, {50, 200, 0.060}} {
		n := objectstore.Counts{Put: int64(100 * c.commits), PutIfAbsent: int64(100 * c.commits), Get: int64(100 * c.commits), Miss: int64(100 * c.polls)}
		if got := objectstore.Standard.Of(n); math.Abs(got-c.want) > 0.001 {
			t.Errorf("%v commits and %v polls a second cost $%.4f per million, expected %v", c.commits, c.polls, got, c.want)
		}
	}
	own, err := objectstore.ParsePrices("put=1e-6,get=2e-7")
	if err != nil || math.Abs(own.Of(objectstore.Counts{Put: 1, PutIfAbsent: 2, Get: 3, Miss: 4, Head: 5, List: 6, Delete: 7, Failed: 8})-(3e-6+12*2e-7)) > 1e-12 {
		t.Errorf("own prices: %+v, %v", own, err)
	}
	for _, bad := range []string{"", "glacier", "put", "put=x", "put=-1", "put=2", "put=NaN", "copy=1e-6"} {
		if p, err := objectstore.ParsePrices(bad); err == nil {
			t.Errorf("%q was read as %+v", bad, p)
		}
	}
}

func FuzzParsePrices(f *testing.F) {
	for _, s := range []string{"standard", "express", "put=5e-6,get=4e-7,list=5e-6", "put=-1", "get=NaN", "list=1e400", ",", "put=0,put=0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := objectstore.ParsePrices(text)
		if err != nil {
			return
		}
		// What is taken costs a finite amount that is not negative.
		if c := p.Of(objectstore.Counts{Put: 1, PutIfAbsent: 1, Get: 1, Miss: 1, List: 1, Head: 1, Delete: 1}); !(c >= 0 && c < 1e300) {
			t.Errorf("%q: seven requests cost %v", text, c)
		}
	})
}
