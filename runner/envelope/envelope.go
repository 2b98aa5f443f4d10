// Package envelope puts a message's identity into the first 16 bytes of its
// payload, reads it back, and fills the rest of the payload.
//
// It refuses to guess: a payload that carries no identity, or a damaged one, is
// an error and never a message. Whether an identity belongs to this step is
// for the caller to tell, by its tag.
package envelope

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Size is the number of bytes that the identity takes, and so the smallest
// payload.
const Size = 16

// The layout, big endian:
//
//	0     magic, 0xB9
//	1     version (high four bits), kind (low four bits)
//	2–3   producer
//	4–7   tag: unique per run, step and repeat
//	8–13  seq
//	14–15 check: CRC-32C of the bytes before, its halves xored
const (
	magic   = 0xB9
	version = 1
)

// MaxSeq is the largest seq, 2⁴⁸−1: 8,900 years at 1,000 messages a second.
const MaxSeq = 1<<48 - 1

// MaxProducer is the largest producer.
const MaxProducer = 1<<16 - 1

// Kind says what a payload is.
type Kind uint8

// The kinds.
const (
	Data Kind = iota // a message of the schedule
	End              // the end mark of a producer in a partition: Seq is the number of messages before it
	// Begin is the begin mark of a producer in a partition, its first message
	// there: what follows the identity tells the other half of the run about
	// the load.
	Begin
	numKinds
)

// ID is the identity of a message.
type ID struct {
	Kind     Kind
	Producer uint16
	Tag      uint32
	Seq      int64 // [0, MaxSeq]
}

// The errors of Decode.
var (
	// ErrForeign: the payload was not written by this package, or by another
	// version of it.
	ErrForeign = errors.New("envelope: no identity of ours")
	// ErrCorrupt: it was, but its identity is damaged.
	ErrCorrupt = errors.New("envelope: damaged identity")
)

// Encode writes the identity to the first Size bytes of dst, which must have
// as many.
func Encode(dst []byte, id ID) {
	b := dst[:Size]
	b[0] = magic
	b[1] = version<<4 | byte(id.Kind)
	binary.BigEndian.PutUint16(b[2:], id.Producer)
	binary.BigEndian.PutUint32(b[4:], id.Tag)
	binary.BigEndian.PutUint16(b[8:], uint16(id.Seq>>32))
	binary.BigEndian.PutUint32(b[10:], uint32(id.Seq))
	binary.BigEndian.PutUint16(b[14:], check(b))
}

// Decode reads the identity of a payload. Its errors are ErrForeign and
// ErrCorrupt.
func Decode(payload []byte) (ID, error) {
	if len(payload) < Size || payload[0] != magic || payload[1]>>4 != version || payload[1]&15 >= byte(numKinds) {
		return ID{}, ErrForeign
	}
	b := payload[:Size]
	if binary.BigEndian.Uint16(b[14:]) != check(b) {
		return ID{}, ErrCorrupt
	}
	return ID{
		Kind:     Kind(b[1] & 15),
		Producer: binary.BigEndian.Uint16(b[2:]),
		Tag:      binary.BigEndian.Uint32(b[4:]),
		Seq:      int64(binary.BigEndian.Uint16(b[8:]))<<32 | int64(binary.BigEndian.Uint32(b[10:])),
	}, nil
}

// check folds a CRC-32C, which processors compute by themselves.
func check(b []byte) uint16 {
	c := crc32.Update(0, crc32.MakeTable(crc32.Castagnoli), b[:14])
	return uint16(c>>16) ^ uint16(c)
}

// CheckSize tells whether payloads of so many bytes can carry the identity.
func CheckSize(bytes int) error {
	if bytes < Size {
		return fmt.Errorf("a message of %d bytes is too small: its identity takes %d", bytes, Size)
	}
	return nil
}
