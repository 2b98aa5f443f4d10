package ledger

// stragglers are the open entries that left the ring, since acknowledgements
// ran far ahead of them. There are at most as many as may be in flight. The
// zero value is empty.
type stragglers struct {
	open map[int64]Entry // by position
	// order has the positions in the order in which they came, which is that
	// of their intended times: those of open, and of some that are no more.
	order []int64
}

// add takes an entry, whose position is above all that came before.
func (s *stragglers) add(at int64, e Entry) {
	if s.open == nil {
		s.open = map[int64]Entry{}
	}
	s.open[at] = e
	if len(s.order) > 2*len(s.open)+64 {
		kept := s.order[:0]
		for _, at := range s.order {
			if _, ok := s.open[at]; ok {
				kept = append(kept, at)
			}
		}
		s.order = kept
	}
	s.order = append(s.order, at)
}

// take removes the entry at a position.
func (s *stragglers) take(at int64) (Entry, bool) {
	e, ok := s.open[at]
	delete(s.open, at)
	return e, ok
}

// oldest is the entry that was registered first.
func (s *stragglers) oldest() (Entry, bool) {
	for len(s.order) > 0 {
		if e, ok := s.open[s.order[0]]; ok {
			return e, true
		}
		s.order = s.order[1:]
	}
	return Entry{}, false
}
