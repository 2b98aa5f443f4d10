package kafka

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/twmb/franz-go/pkg/kgo"

	"queuebench/queue"
)

// slab is the memory of messages that were taken together. It is used again when
// the last of them has its fate.
type slab struct {
	messages []message
	bytes    []byte
	headers  []kgo.RecordHeader
	open     atomic.Int64
	failed   atomic.Bool // a request may still hold it
	class    int
}

// slabs keeps slabs for messages to come, by how much memory they are for: class c
// is below 2^c bytes. Were they all kept together, each would grow to the largest
// batch in time, and what is in flight when a broker stops answering, thousands of
// small batches, would take as much as if each were the largest.
type slabs [bits.UintSize + 1]sync.Pool

func (all *slabs) put(s *slab) { all[s.class].Put(s) }

// take makes room for copies of a batch: at most some five times what it takes.
func (all *slabs) take(batch []queue.Message) *slab {
	bytes, headers := 0, 0
	for i := range batch {
		bytes += int(size(&batch[i]))
		headers += len(batch[i].Headers)
	}
	class := bits.Len(uint(len(batch)*int(unsafe.Sizeof(message{})) + headers*int(unsafe.Sizeof(kgo.RecordHeader{})) + bytes))
	s, _ := all[class].Get().(*slab)
	if s == nil {
		s = &slab{class: class}
	}
	if cap(s.messages) < len(batch) {
		s.messages = make([]message, len(batch), len(batch)+len(batch)/4)
	}
	if cap(s.bytes) < bytes {
		s.bytes = make([]byte, 0, bytes+bytes/4)
	}
	if cap(s.headers) < headers {
		s.headers = make([]kgo.RecordHeader, 0, headers)
	}
	s.messages, s.bytes, s.headers = s.messages[:len(batch)], s.bytes[:0], s.headers[:0]
	s.open.Store(int64(len(batch)))
	return s
}

// fill copies message i of a batch.
func (s *slab) fill(i int, from *queue.Message, topic string) *message {
	m := &s.messages[i]
	*m = message{slab: s, size: size(from), partition: from.Partition}
	m.record = kgo.Record{Topic: topic, Value: s.copy(from.Payload), Context: m}
	if m.record.Value == nil {
		m.record.Value = []byte{} // an empty message, and no tombstone
	}
	if from.Key != nil {
		if m.record.Key = s.copy(from.Key); m.record.Key == nil {
			m.record.Key = []byte{}
		}
	}
	if len(from.Headers) == 0 {
		return m
	}
	begin := len(s.headers)
	for _, h := range from.Headers {
		s.headers = append(s.headers, kgo.RecordHeader{Key: h.Name, Value: s.copy(h.Value)})
	}
	m.record.Headers = s.headers[begin:len(s.headers):len(s.headers)]
	return m
}

// copy returns nil for nothing.
func (s *slab) copy(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	begin := len(s.bytes)
	s.bytes = append(s.bytes, b...)
	return s.bytes[begin:len(s.bytes):len(s.bytes)]
}
