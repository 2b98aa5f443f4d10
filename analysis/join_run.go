package analysis

import (
	"math"
	"slices"
)

// run feeds all rows to the join, in the order of their times as far as the
// streams have it: sent by intended time, received by received time, so that
// what is held at a time is what was in flight at that time. Deliveries of
// several consumers are in exact order, since only the first of a message
// counts.
func (j *joiner) run(sent []*sentStream, received []*receivedStream) error {
	sent, received = slices.Clone(sent), slices.Clone(received)
	slack := int64(j.step.Interval)
	j.sending.memory, j.receiving.memory = j.memory, j.memory
	for j.err == nil && len(sent)+len(received) > 0 {
		if j.memory.over() {
			return j.memory.tooMuch("what was counted of a step, with what is in flight,")
		}
		s, nextSent := earliest(sent)
		r, nextReceived := earliest(received)
		if s >= 0 && (r < 0 || sent[s].head() <= received[r].head()) {
			limit := nextSent
			if r >= 0 {
				limit = min(limit, received[r].head())
			}
			if limit < math.MaxInt64-slack {
				limit += slack
			}
			sent[s].advance(j, limit)
			more, err := sent[s].load()
			if err != nil {
				return err
			}
			if !more {
				sent = slices.Delete(sent, s, s+1)
			}
			continue
		}
		limit := nextReceived
		if s >= 0 {
			limit = min(limit, sent[s].head())
		}
		received[r].advance(j, limit)
		more, err := received[r].load()
		if err != nil {
			return err
		}
		if !more {
			received = slices.Delete(received, r, r+1)
		}
	}
	if j.err != nil {
		return j.err
	}
	j.finish()
	return nil
}

// earliest is the stream whose next row is the earliest, −1 for none, and the
// time of the one after it.
func earliest[S interface{ head() int64 }](streams []S) (index int, next int64) {
	index, next = -1, math.MaxInt64
	first := int64(math.MaxInt64)
	for i, s := range streams {
		switch t := s.head(); {
		case index < 0 || t < first:
			if index >= 0 {
				next = first
			}
			index, first = i, t
		case t < next:
			next = t
		}
	}
	return index, next
}
