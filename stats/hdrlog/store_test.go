package hdrlog

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"testing"

	"queuebench/stats"
)

// A log that is compressed as a whole is smaller with Store where histograms are
// small, and as small where they are large.
func TestStoreIsNeverMuchLarger(t *testing.T) {
	for _, c := range []struct {
		histograms, buckets int
		most                float64 // of the size without Store
	}{{2000, 30, 0.9}, {300, 400, 1}, {12, 3000, 1.01}} {
		var sizes [2]float64
		for kind := range sizes {
			r := rand.New(rand.NewPCG(7, uint64(c.buckets)))
			e := encoder{stored: kind * storedBelow}
			var packed bytes.Buffer
			z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
			if err != nil {
				t.Fatal(err)
			}
			for range c.histograms {
				var b []stats.Bucket
				for at := int32(20_000); len(b) < c.buckets; at += 1 + int32(r.ExpFloat64()) {
					b = append(b, stats.Bucket{Index: at, Count: 1 + int64(2*r.ExpFloat64())})
				}
				text, err := e.appendTo(nil, b)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := z.Write(append(text, '\n')); err != nil {
					t.Fatal(err)
				}
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			sizes[kind] = float64(packed.Len())
		}
		t.Logf("%d histograms of %d buckets: %.0f bytes, with Store %.0f", c.histograms, c.buckets, sizes[0], sizes[1])
		if sizes[1] > c.most*sizes[0] {
			t.Errorf("%d histograms of %d buckets: %.0f bytes with Store, more than %.2f of %.0f", c.histograms, c.buckets, sizes[1], c.most, sizes[0])
		}
	}
}
