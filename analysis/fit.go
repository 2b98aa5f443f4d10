package analysis

import (
	"compress/gzip"
	"fmt"
	"io"
)

// PageBytes is what a digest that a page carries may have, compressed: with the
// analyzer it leaves room for the figures of ten rates in a report of 4 MB.
const PageBytes = 640_000

// DigestBytes is what `analyze digest` writes at most, compressed, as long as no
// interval becomes coarser than a twelfth of a step.
const DigestBytes = 1_000_000

// fitIntervals are how many intervals a step may have, from one try to the next.
var fitIntervals = []int{200, 150, 100, 75, 50, 30, 20, 12}

// PackDigest writes d as gzip, the same bytes each time.
func PackDigest(w io.Writer, d *Digest) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := WriteDigest(z, d); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("compressing the digest of run %s: %w", d.Manifest.Run, err)
	}
	return nil
}

type byteCount int

func (n *byteCount) Write(p []byte) (int, error) {
	*n += byteCount(len(p))
	return len(p), nil
}

// Fit returns d, or the finest coarser digest that PackDigest writes in at most
// so many bytes. It loses resolution in time, as Coarsen does, and adding up
// intervals can move a percentile to the next bucket of a digest, within its
// error of 0.2 %. Where even twelve intervals a step are more, that is what comes back. Steps
// have their resolution in Interval, and a summary says it.
func (d *Digest) Fit(bytes int) (*Digest, error) {
	out, coarser := d, newCoarsener(d)
	for _, most := range append([]int{0}, fitIntervals...) {
		if most > 0 {
			next := coarser.to(most)
			if same(next, out) {
				continue
			}
			out = next
		}
		var n byteCount
		if err := PackDigest(&n, out); err != nil {
			return nil, err
		}
		if int(n) <= bytes {
			break
		}
	}
	return out, nil
}

// same tells two digests of one run whose steps have the same intervals.
func same(a, b *Digest) bool {
	for i := range a.Steps {
		if len(a.Steps[i].Intervals) != len(b.Steps[i].Intervals) {
			return false
		}
	}
	return true
}
