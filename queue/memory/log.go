package memory

import "queuebench/queue"

// segmentMessages and segmentBytes end a segment: small enough that memory is
// given back soon, large enough that segments cost nothing per message.
const (
	segmentMessages = 1024
	segmentBytes    = 1 << 20
)

// slot is a message of a segment: where its bytes end, and when it was taken.
type slot struct {
	at      int64
	key     int32 // where the key ends and the payload begins
	body    int32 // where the payload ends and the values of the headers begin
	end     int32 // where these end
	headers int32 // where its headers end among those of the segment
	hasKey  bool
	dropped bool // Faults.DropEvery: has an offset, is never delivered
	twice   bool // Faults.DuplicateEvery
}

// segment is a run of messages of a partition. Its bytes are only ever
// appended to until it is recycled, so readers may hold slices of them outside
// the queue's lock.
type segment struct {
	first   int64 // offset of slots[0]
	data    []byte
	slots   []slot
	headers []header
	next    *segment
	sealed  bool
}

// header is a header of a message: its name, and where its value ends.
type header struct {
	name string
	end  int
}

func (s *segment) end() int64 { return s.first + int64(len(s.slots)) }

// partition is the log of a partition: segments from the oldest kept to the
// one that is written.
type partition struct {
	head, tail *segment
	free       *segment // recycled, linked by next
	next       int64    // offset of the next message
	taken      int64    // bytes taken since the beginning
	cursors    []*cursor
	// holders are the consumers whose last batch lies in this partition.
	holders []*Consumer
}

// cursor is where a group stands in a partition.
type cursor struct {
	seg   *segment
	next  int64 // offset to be delivered next
	from  int64 // offset before which nothing is delivered: a start beyond the end
	read  int64 // bytes delivered, as partition.taken counts them
	owner *Consumer
}

// unread is what the slowest group has not read, or all that is kept where
// nobody reads.
func (p *partition) unread() (messages, bytes int64) {
	if len(p.cursors) == 0 {
		first := p.next
		if p.head != nil {
			first = p.head.first
		}
		var b int64
		for s := p.head; s != nil; s = s.next {
			b += int64(len(s.data))
		}
		return p.next - first, b
	}
	for _, c := range p.cursors {
		messages = max(messages, p.next-c.next)
		bytes = max(bytes, p.taken-c.read)
	}
	return messages, bytes
}

// append adds a message that fits.
func (p *partition) append(m *queue.Message, s slot) {
	seg := p.tail
	if seg == nil || seg.sealed {
		seg = p.grow()
	}
	begin := len(seg.data)
	if m.Key != nil {
		seg.data = append(seg.data, m.Key...)
		s.hasKey = true
	}
	s.key = int32(len(seg.data))
	seg.data = append(seg.data, m.Payload...)
	s.body = int32(len(seg.data))
	for i := range m.Headers {
		h := &m.Headers[i]
		seg.data = append(seg.data, h.Value...)
		seg.headers = append(seg.headers, header{h.Name, len(seg.data)})
	}
	s.end, s.headers = int32(len(seg.data)), int32(len(seg.headers))
	seg.slots = append(seg.slots, s)
	seg.sealed = len(seg.slots) == segmentMessages || len(seg.data) >= segmentBytes
	p.next++
	p.taken += int64(len(seg.data) - begin)
}

// grow adds a segment.
func (p *partition) grow() *segment {
	seg := p.free
	if seg != nil {
		p.free = seg.next
		*seg = segment{data: seg.data[:0], slots: seg.slots[:0], headers: seg.headers[:0]}
	} else {
		seg = &segment{slots: make([]slot, 0, segmentMessages)}
	}
	seg.first = p.next
	if p.tail == nil {
		p.head = seg
	} else {
		p.tail.next = seg
	}
	p.tail = seg
	for _, c := range p.cursors {
		if c.seg == nil {
			c.seg = seg
		}
	}
	return seg
}

// release recycles what all groups have read and let go of.
func (p *partition) release() {
	if len(p.cursors) == 0 {
		return
	}
	keep := p.next
	for _, c := range p.cursors {
		keep = min(keep, c.next)
	}
	for _, h := range p.holders {
		keep = min(keep, h.heldFrom)
	}
	for p.head != nil && p.head.sealed && p.head.end() <= keep {
		seg := p.head
		p.head = seg.next
		if p.head == nil {
			p.tail = nil
		}
		for _, c := range p.cursors {
			if c.seg == seg {
				c.seg = seg.next
			}
		}
		seg.next, p.free = p.free, seg
	}
}

// oldest is the offset of the oldest message kept.
func (p *partition) oldest() int64 {
	if p.head == nil {
		return p.next
	}
	return p.head.first
}

// seek makes a cursor at an offset that is not below oldest.
func (p *partition) seek(offset int64) *cursor {
	c := &cursor{from: offset, read: p.taken}
	offset = min(offset, p.next)
	c.next = offset
	for s := p.head; s != nil; s = s.next {
		if offset < s.end() || s == p.tail {
			c.seg = s
			from := 0
			if i := int(offset - s.first); i > 0 {
				from = int(s.slots[i-1].end)
			}
			c.read -= int64(len(s.data) - from)
			for r := s.next; r != nil; r = r.next {
				c.read -= int64(len(r.data))
			}
			break
		}
	}
	return c
}
