package analysis

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

// put tells how a block went, and whether that took a page.
func (g *goneBlocks) put(index int64, aside bool) (page bool) {
	p := g.page(index)
	if page = p == nil; page {
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
	return page
}
