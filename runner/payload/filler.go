package payload

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"queuebench/runner/envelope"
)

// blockWords is 64 KiB: it stays in a second-level cache.
const blockWords = 8192

// Filler fills payloads behind the identity with seeded bytes that do not
// compress: a window over a random block, xored with a word of the message's
// own, so that no window repeats another. It is safe for concurrent use.
type Filler struct {
	block []uint64
	seed  uint64
}

// NewFiller makes a filler. The same seed gives the same bytes.
func NewFiller(seed uint64) *Filler {
	f := &Filler{block: make([]uint64, blockWords), seed: seed}
	r := rand.New(rand.NewPCG(seed, 0x5155455545)) // the second word only tells this stream from others of the same seed
	for i := range f.block {
		f.block[i] = r.Uint64()
	}
	return f
}

// Fill writes what stands behind the identity of a message.
func (f *Filler) Fill(payload []byte, producer uint16, seq int64) {
	f.fillAll(payload[envelope.Size:], producer, seq)
}

// fillAll writes bytes of a message.
func (f *Filler) fillAll(rest []byte, producer uint16, seq int64) {
	key := mix(f.seed ^ uint64(producer)<<48 ^ uint64(seq))
	at := int(key % blockWords)
	src := f.block[at:]
	for len(rest) >= 32 && len(src) >= 4 {
		s, r := src[:4], rest[:32]
		binary.LittleEndian.PutUint64(r[0:], s[0]^key)
		binary.LittleEndian.PutUint64(r[8:], s[1]^key)
		binary.LittleEndian.PutUint64(r[16:], s[2]^key)
		binary.LittleEndian.PutUint64(r[24:], s[3]^key)
		src, rest = src[4:], rest[32:]
	}
	if at = blockWords - len(src); at == blockWords {
		at, key = 0, mix(key)
	}
	for len(rest) >= 8 {
		binary.LittleEndian.PutUint64(rest, f.block[at]^key)
		rest = rest[8:]
		if at++; at == blockWords {
			// A payload beyond 64 KiB gets another key for each lap.
			at, key = 0, mix(key)
		}
	}
	if len(rest) > 0 {
		var last [8]byte
		binary.LittleEndian.PutUint64(last[:], f.block[at]^key)
		copy(rest, last[:])
	}
}

// mix is the output function of SplitMix64 (Steele, Lea and Flood, 2014).
func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// thinChunk is how many bytes of a body are thinned at a time: within the
// window of every compressor, so that any part of a large body compresses as
// the whole does.
const thinChunk = 1024

// thin turns a share of a random body into zeros.
func thin(body []byte, compressibility float64) {
	if compressibility == 0 {
		return
	}
	for len(body) > 0 {
		n := min(thinChunk, len(body))
		keep := int(math.Round(float64(n) * (1 - compressibility)))
		clear(body[keep:n])
		body = body[n:]
	}
}
