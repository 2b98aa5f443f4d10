package analysis

import (
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
	if n := len(j.free); n > 0 {
		b, j.free = j.free[n-1], j.free[:n-1]
		b.state = [blockSize]uint8{}
		clear(b.got)
	} else {
		if !j.hold(blockBytes + int64(len(j.groups))*blockSize/8) {
			return nil
		}
		b = &block{got: make([][blockSize / 64]uint64, len(j.groups))}
	}
	j.openCount++
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
				if !j.hold(stragglerBytes + int64(len(s.early))*earlyBytes) {
					return
				}
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
	if p.gone.put(b.index, left == asideBlock) {
		j.hold(goneBytes)
	}
	if p.rowBlock == b {
		p.rowBlock = nil
	}
	if p.deliveryBlock == b {
		p.deliveryBlock = nil
	}
	if b.early != nil {
		j.give(int64(len(b.early)) * earlyBytes)
		b.early = nil
	}
	j.openCount--
	j.free = append(j.free, b)
}
