// Package seqset holds sets of sequence numbers that arrive nearly in order,
// in memory that is bounded by the numbers' range and not by their disorder.
//
// A set is cut into chunks of 65,536 numbers. A chunk that is complete takes
// no memory of its own, one with holes is a bitmap of 8 KiB: a set of 75
// million takes a few kilobytes where nothing is missing and 9.4 MB at worst.
// (A list of intervals would take 16 bytes for each hole.)
package seqset

import (
	"iter"
	"math/bits"
)

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

// AddRange adds from ≤ seq < to, if none of them is a member, and tells whether
// it did. It costs some nanoseconds for each 64 numbers. from is not negative.
func (s *Set) AddRange(from, to int64) bool {
	if to-from == 1 {
		return s.Add(from)
	}
	if at := int(from >> chunkBits); at < len(s.chunks) && from|63 >= to-1 && from < to {
		// Short ranges are the most, and lie mostly in one word.
		if c := &s.chunks[at]; c.bits != nil && c.count+64 < chunkLen {
			word, mask := &c.bits[from%chunkLen/64], maskOf(from, to)
			if *word&mask != 0 {
				return false
			}
			*word |= mask
			s.n += to - from
			c.count += int(to - from)
			return true
		}
	}
	if !s.misses(from, to) {
		return false
	}
	for from < to {
		at := int(from >> chunkBits)
		if at >= len(s.chunks) {
			s.chunks = append(s.chunks, make([]chunk, at+1-len(s.chunks))...)
		}
		c := &s.chunks[at]
		end := min(to, int64(at+1)<<chunkBits)
		n := int(end - from)
		switch {
		case n == chunkLen: // it was empty, and needs no bitmap
		case c.bits == nil:
			c.bits = s.blank()
			fallthrough
		default:
			for w := range wordsOf(from, end) {
				c.bits[w.at] |= w.mask
			}
		}
		s.n += int64(n)
		if c.count += n; c.count == chunkLen && c.bits != nil {
			s.spare, c.bits = c.bits, nil
		}
		from = end
	}
	return true
}

// misses tells whether no number from ≤ seq < to is a member.
func (s *Set) misses(from, to int64) bool {
	for from < to {
		at := from >> chunkBits
		if at >= int64(len(s.chunks)) {
			return true
		}
		c := &s.chunks[at]
		end := min(to, (at+1)<<chunkBits)
		switch {
		case c.count == 0:
		case c.bits == nil:
			return false
		default:
			for w := range wordsOf(from, end) {
				if c.bits[w.at]&w.mask != 0 {
					return false
				}
			}
		}
		from = end
	}
	return true
}

// part is some numbers of a chunk: bits of a word.
type part struct {
	at   int64
	mask uint64
}

// wordsOf yields the parts of from ≤ seq < to, which lie in one chunk.
func wordsOf(from, to int64) iter.Seq[part] {
	return func(yield func(part) bool) {
		for from < to {
			end := min(to, from|63+1)
			if !yield(part{from % chunkLen / 64, maskOf(from, end)}) {
				return
			}
			from = end
		}
	}
}

// maskOf has the bits from ≤ seq < to of the word in which they lie.
func maskOf(from, to int64) uint64 { return ^uint64(0) >> (64 - (to - from)) << (from % 64) }

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
