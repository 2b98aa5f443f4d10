package envelope

import (
	"encoding/binary"
	"sync"
)

// Head is what the messages of one kind, producer and tag share. It encodes and
// decodes them as Encode and Decode do, in a third of the time: a CRC is linear,
// so the check of a message is that of its head with what each byte of seq adds
// to it. It holds no state.
type Head struct {
	first uint64 // the first 8 bytes
	check uint16 // of a message whose seq is 0
	bytes *[6][256]uint16
}

// NewHead makes a head.
func NewHead(kind Kind, producer uint16, tag uint32) Head {
	var b [Size]byte
	Encode(b[:], ID{Kind: kind, Producer: producer, Tag: tag})
	return Head{first: binary.BigEndian.Uint64(b[:]), check: binary.BigEndian.Uint16(b[14:]), bytes: checksOfSeq()}
}

// Encode writes the identity of message seq, as the function Encode does.
func (h *Head) Encode(dst []byte, seq int64) {
	b := dst[:Size]
	binary.BigEndian.PutUint64(b, h.first)
	binary.BigEndian.PutUint64(b[8:], uint64(seq)<<16|uint64(h.check^h.of(uint64(seq))))
}

// Seq is the seq of a payload, if it is whole and has this head. For any other,
// Decode says what it is.
func (h *Head) Seq(payload []byte) (seq int64, ok bool) {
	if len(payload) < Size {
		return 0, false
	}
	second := binary.BigEndian.Uint64(payload[8:])
	if binary.BigEndian.Uint64(payload) != h.first || uint16(second) != h.check^h.of(second>>16) {
		return 0, false
	}
	return int64(second >> 16), true
}

// of is what a seq adds to the check.
func (h *Head) of(seq uint64) uint16 {
	t := h.bytes
	return t[0][byte(seq>>40)] ^ t[1][byte(seq>>32)] ^ t[2][byte(seq>>24)] ^ t[3][byte(seq>>16)] ^ t[4][byte(seq>>8)] ^ t[5][byte(seq)]
}

// checksOfSeq has what each value of each byte of seq adds to the check: 3 kB,
// made once.
var checksOfSeq = sync.OnceValue(func() *[6][256]uint16 {
	var t [6][256]uint16
	var b [Size]byte
	zero := check(b[:])
	for i := range t {
		for v := range t[i] {
			b[8+i] = byte(v)
			t[i][v] = check(b[:]) ^ zero
		}
		b[8+i] = 0
	}
	return &t
})
