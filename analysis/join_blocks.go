package analysis

import (
	"fmt"
	"math/bits"
)

// block returns a block of p, makes it if it is new; nil once memory is
// exhausted, with j.err set.
func (j *joiner) block(p *producer, index int64) *block {
	if b := p.blocks[index]; b != nil {
		return b
	}
	if b := p.gone.at(index); b != nil {
		return b
	}
	var b *block
	if j.openCount++; j.openCount > maxOpenBlocks {
		j.err = fmt.Errorf("more than %d messages in flight at one time: too many to join in memory", maxOpenBlocks*blockSize)
		return nil
	}
	if n := len(j.free); n > 0 {
		b, j.free = j.free[n-1], j.free[:n-1]
		b.state, b.early = [blockSize]uint8{}, nil
		clear(b.got)
	} else {
		b = &block{got: make([][blockSize / 64]uint64, len(j.groups))}
	}
	b.index, b.open = index, blockSize*(1+len(j.groups))
	p.blocks[index] = b
	if index > p.newest {
		p.newest = index
		j.moveAside(p)
	}
	return b
}

// moveAside frees the old blocks of p that wait for a few messages only.
func (j *joiner) moveAside(p *producer) {
	limit := asideShare * (1 + len(j.groups))
	for index, b := range p.blocks {
		if index > p.newest-asideBehind || b.open > limit {
			continue
		}
		for i := range b.state {
			if s := j.leftOf(b, i); s != nil {
				j.aside[messageKey{p.id, index<<blockBits + int64(i)}] = s
			}
		}
		j.release(p, b, asideBlock)
	}
}

// leftOf is message i of b as a straggler, or nil when it is done.
func (j *joiner) leftOf(b *block, i int) *straggler {
	var got uint64
	for g := range b.got {
		got |= b.got[g][i>>6] >> (i & 63) & 1 << g
	}
	state := b.state[i]
	if state&wasOverrun != 0 || state&hasRow != 0 && bits.OnesCount64(got) == len(j.groups) {
		return nil
	}
	s := &straggler{intended: b.intended[i], sent: b.sent[i], acked: b.acked[i], state: state, got: got}
	if b.early != nil && state&hasRow == 0 && got != 0 {
		for g := range j.groups {
			s.early = append(s.early, b.early[g*blockSize+i])
		}
	}
	return s
}

func (j *joiner) release(p *producer, b *block, left *block) {
	delete(p.blocks, b.index)
	p.gone.put(b.index, left == asideBlock)
	if p.rowBlock == b {
		p.rowBlock = nil
	}
	if p.deliveryBlock == b {
		p.deliveryBlock = nil
	}
	j.openCount--
	j.free = append(j.free, b)
}

// goneBlocks says of each block whether it is gone, and how: a byte per
// thousand messages, in pages.
type goneBlocks struct {
	pages map[int64]*gonePage
	index int64 // of last
	last  *gonePage
}

type gonePage [goneSize]uint8

const (
	goneBits = 9
	goneSize = 1 << goneBits
)

const (
	goneDone uint8 = 1 + iota
	goneAside
)

func (g *goneBlocks) page(index int64) *gonePage {
	if g.last == nil || g.index != index>>goneBits {
		p := g.pages[index>>goneBits]
		if p == nil {
			return nil
		}
		g.index, g.last = index>>goneBits, p
	}
	return g.last
}

// at is doneBlock or asideBlock, or nil where the block is not gone.
func (g *goneBlocks) at(index int64) *block {
	if p := g.page(index); p != nil {
		switch p[index&(goneSize-1)] {
		case goneDone:
			return doneBlock
		case goneAside:
			return asideBlock
		}
	}
	return nil
}

func (g *goneBlocks) put(index int64, aside bool) {
	p := g.page(index)
	if p == nil {
		if g.pages == nil {
			g.pages = map[int64]*gonePage{}
		}
		p = new(gonePage)
		g.pages[index>>goneBits] = p
	}
	p[index&(goneSize-1)] = goneDone
	if aside {
		p[index&(goneSize-1)] = goneAside
	}
}
