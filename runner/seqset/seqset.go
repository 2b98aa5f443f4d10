// Package seqset holds sets of sequence numbers that arrive nearly in order,
// in memory that is bounded by the numbers' range and not by their disorder.
//
// A set is cut into chunks of 65,536 numbers. A chunk that is complete takes
// no memory of its own, one with holes is a bitmap of 8 KiB: a set of 75
// million takes a few kilobytes where nothing is missing and 9.4 MB at worst.
// (A list of intervals would take 16 bytes for each hole.)
package seqset

import "math/bits"

const (
	chunkBits = 16
	chunkLen  = 1 << chunkBits
	words     = chunkLen / 64
)

type chunk struct {
	count int
	bits  *[words]uint64 // nil when count is 0 or chunkLen
}

// Set is a set of numbers from 0. The zero value is empty. One goroutine uses
// it at a time.
type Set struct {
	chunks []chunk
	n      int64
	spare  *[words]uint64 // of the chunk that was completed last
}

// Len is the number of members.
func (s *Set) Len() int64 { return s.n }

// Has tells whether seq is a member.
func (s *Set) Has(seq int64) bool {
	at := seq >> chunkBits
	if seq < 0 || at >= int64(len(s.chunks)) {
		return false
	}
	c := &s.chunks[at]
	if c.bits == nil {
		return c.count == chunkLen
	}
	return c.bits[seq%chunkLen/64]>>(seq%64)&1 == 1
}

// Add adds seq, which is not negative, and tells whether it is new. The caller
// bounds seq: memory grows with the largest.
func (s *Set) Add(seq int64) bool {
	at := int(seq >> chunkBits)
	if at >= len(s.chunks) {
		s.chunks = append(s.chunks, make([]chunk, at+1-len(s.chunks))...)
	}
	c := &s.chunks[at]
	if c.bits == nil {
		if c.count == chunkLen {
			return false
		}
		c.bits = s.blank()
	}
	word, mask := &c.bits[seq%chunkLen/64], uint64(1)<<(seq%64)
	if *word&mask != 0 {
		return false
	}
	*word |= mask
	s.n++
	if c.count++; c.count == chunkLen {
		s.spare, c.bits = c.bits, nil
	}
	return true
}

// blank is a bitmap of zeros.
func (s *Set) blank() *[words]uint64 {
	b := s.spare
	if b == nil {
		return new([words]uint64)
	}
	s.spare = nil
	*b = [words]uint64{}
	return b
}

// Without is the number of members of s that are not in o.
func (s *Set) Without(o *Set) int64 {
	var n int64
	for i := range s.chunks {
		c := &s.chunks[i]
		var d chunk
		if i < len(o.chunks) {
			d = o.chunks[i]
		}
		switch {
		case c.count == 0 || d.count == chunkLen:
		case d.count == 0:
			n += int64(c.count)
		default:
			for w := range words {
				n += int64(bits.OnesCount64(c.word(w) &^ d.word(w)))
			}
		}
	}
	return n
}

func (c *chunk) word(w int) uint64 {
	switch {
	case c.bits != nil:
		return c.bits[w]
	case c.count == chunkLen:
		return ^uint64(0)
	}
	return 0
}
