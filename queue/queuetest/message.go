package queuetest

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// headerSize is the size of what identifies a message: producer, sequence
// number, checksum of the rest.
const headerSize = 4 + 8 + 4

type identity struct {
	producer int
	seq      int64
}

// appendMessage makes a message whose every byte follows from its identity
// and size, which is at least headerSize.
func appendMessage(b []byte, id identity, size int) []byte {
	begin := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(id.producer))
	b = binary.LittleEndian.AppendUint64(b, uint64(id.seq))
	b = append(b, 0, 0, 0, 0)
	x := uint64(id.producer)<<32 ^ uint64(id.seq) ^ 0x9e3779b97f4a7c15
	for len(b)-begin < size {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b = append(b, byte(x))
	}
	sum := crc32.ChecksumIEEE(b[begin+headerSize:])
	binary.LittleEndian.PutUint32(b[begin+12:], sum)
	return b
}

func parseMessage(b []byte) (identity, error) {
	if len(b) < headerSize {
		return identity{}, fmt.Errorf("a message of %d bytes was never sent: %x", len(b), b)
	}
	id := identity{int(binary.LittleEndian.Uint32(b)), int64(binary.LittleEndian.Uint64(b[4:]))}
	if got, want := crc32.ChecksumIEEE(b[headerSize:]), binary.LittleEndian.Uint32(b[12:]); got != want {
		return id, fmt.Errorf("message %d of producer %d (%d bytes): checksum %08x, sent with %08x", id.seq, id.producer, len(b), got, want)
	}
	return id, nil
}
