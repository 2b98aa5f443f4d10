package hdrlog

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A histogram of any geometry comes with the bounds that the library gives.
func TestAnyGeometryAgainstTheLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, lowest := range []int64{1, 2, 1000, 1024, 5000} {
		for digits := 1; digits <= 5; digits++ {
			h := hdrhistogram.New(lowest, 3_600_000_000_000, digits)
			for range 300 {
				v := lowest + r.Int64N(1<<(1+r.IntN(41)))
				if err := h.RecordValues(v, 1+r.Int64N(5)); err != nil {
					t.Fatal(err)
				}
			}
			text, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
			if err != nil {
				t.Fatal(err)
			}
			if lowest == 1 && digits == 3 {
				continue // ours
			}
			reader := NewReader(bytes.NewReader(fmt.Appendf(nil, "0,1,2,%s\n", text)))
			reader.TakeAnyGeometry()
			_, l, err := reader.Next()
			if err != nil {
				t.Fatalf("lowest %d, %d digits: %v", lowest, digits, err)
			}
			var want []Cell
			for _, b := range h.Distribution() {
				if b.Count > 0 {
					want = append(want, Cell{Low: b.From, High: b.To, Count: b.Count})
				}
			}
			if !slices.Equal(l.Cells, want) {
				t.Errorf("lowest %d, %d digits: %v, the library has %v", lowest, digits, l.Cells, want)
			}
		}
	}
}
