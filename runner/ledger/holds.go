package ledger

import "cmp"

// Holds remembers when the queue's client held the sender (a Send that had not
// returned, or no room in flight), to tell how much of a message's lateness was
// the client's doing. The zero value is ready; one goroutine uses it.
type Holds struct {
	spans []span
	first int   // spans before it are forgotten
	total int64 // ns held so far
	limit int   // of spans; 0 for maxSpans
}

// span is a time in which the sender was held for held ns, all of it unless
// neighbours were merged into one.
type span struct {
	from, to int64
	before   int64 // ns held before it
	held     int64
}

// maxSpans bounds the memory where the client holds the sender again and again
// for longer than messages are late: beyond it, neighbours are merged, and what
// was held in them is spread evenly over the merged span.
const maxSpans = 4096

// Add adds a time that ended last.
func (h *Holds) Add(from, to int64) {
	if to <= from {
		return
	}
	if limit := cmp.Or(h.limit, maxSpans); len(h.spans) >= limit {
		h.spans = h.spans[:copy(h.spans, h.spans[h.first:])]
		h.first = 0
		if len(h.spans) > limit/2 {
			h.merge()
		}
	}
	h.spans = append(h.spans, span{from, to, h.total, to - from})
	h.total += to - from
}

// merge makes one span of each two.
func (h *Holds) merge() {
	half := h.spans[:0]
	for i := 0; i < len(h.spans); i += 2 {
		s := h.spans[i]
		if i+1 < len(h.spans) {
			s.to = h.spans[i+1].to
			s.held += h.spans[i+1].held
		}
		half = append(half, s)
	}
	h.spans = half
}

// Since is for how many ns the sender was held from a moment until now. Moments
// ascend from call to call: what lies before is forgotten.
func (h *Holds) Since(moment int64) int64 {
	for h.first < len(h.spans) && h.spans[h.first].to <= moment {
		h.first++
	}
	if h.first == len(h.spans) {
		h.spans, h.first = h.spans[:0], 0
		return 0
	}
	s := &h.spans[h.first]
	held := h.total - s.before
	if moment > s.from {
		held -= int64(float64(s.held) * float64(moment-s.from) / float64(s.to-s.from))
	}
	return held
}
