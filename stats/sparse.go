package stats

const pageBits = 10

// Sparse is a histogram that takes as much memory as the range of its values
// asks for: pages of 1,024 buckets, 8 kB each, some ten of them for latencies
// that lie within three decimal powers. It is for many histograms at a time,
// where a Counter would take 352 kB each. The zero value is empty and ready. It
// is not safe for concurrent use.
type Sparse struct {
	pos, neg [NumIndexes >> pageBits]*[1 << pageBits]int64
	t        totals
}

// Record counts v ns and returns how many pages it had to make, 0 or 1. The
// error is ErrRange, and then nothing was counted.
func (s *Sparse) Record(v int64) (pages int, err error) {
	if err := checkRange(v); err != nil {
		return 0, err
	}
	half, m := &s.pos, v
	if v < 0 {
		half, m = &s.neg, -v
	}
	i := magnitudeIndex(m)
	page := half[i>>pageBits]
	if page == nil {
		page = new([1 << pageBits]int64)
		half[i>>pageBits], pages = page, 1
	}
	page[i&(1<<pageBits-1)]++
	s.t.record(v)
	return pages, nil
}

// N is the number of values.
func (s *Sparse) N() int64 { return s.t.n }

// Compact is what s holds.
func (s *Sparse) Compact() Compact {
	out := s.t.compact()
	for p := len(s.neg) - 1; p >= 0; p-- {
		if s.neg[p] == nil {
			continue
		}
		for i := len(s.neg[p]) - 1; i >= 0; i-- {
			if n := s.neg[p][i]; n > 0 {
				out.Buckets = append(out.Buckets, Bucket{Index: -1 - int32(p<<pageBits+i), Count: n})
			}
		}
	}
	for p, page := range s.pos {
		if page == nil {
			continue
		}
		for i, n := range page {
			if n > 0 {
				out.Buckets = append(out.Buckets, Bucket{Index: int32(p<<pageBits + i), Count: n})
			}
		}
	}
	return out
}
