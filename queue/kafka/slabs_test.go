package kafka

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"queuebench/queue"
)

// What is in flight takes memory in proportion to itself, whatever was in flight
// before: small batches do not keep the memory of large ones.
func TestMemoryInFlightFollowsTheBatches(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	payload := make([]byte, 4096)
	var all slabs
	var flying []*slab
	for round := range 200 {
		var taken, wanted int
		for range r.IntN(60) {
			n, size := 1+r.IntN(4), 1+r.IntN(100)
			switch r.IntN(6) { // mostly small ones, as at a rate that is kept
			case 0:
				n = 1 + r.IntN(chunk)
			case 1:
				size = 1 + r.IntN(len(payload))
			}
			batch := make([]queue.Message, n)
			for i := range batch {
				batch[i].Payload = payload[:size]
				if round%2 == 0 {
					batch[i].Headers = []queue.Header{{Name: "id", Value: payload[:8]}}
				}
			}
			s := all.take(batch)
			for i := range batch {
				s.fill(i, &batch[i], "t")
			}
			wanted += n * (int(unsafe.Sizeof(message{})) + size)
			taken += cap(s.messages)*int(unsafe.Sizeof(message{})) + cap(s.bytes) + cap(s.headers)*int(unsafe.Sizeof(s.headers[0]))
			flying = append(flying, s)
		}
		if taken > 5*wanted {
			t.Fatalf("round %d: %d bytes for %d", round, taken, wanted)
		}
		for _, s := range flying {
			all.put(s)
		}
		flying = flying[:0]
	}
}
