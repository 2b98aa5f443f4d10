package broker

import (
	"context"
	"sync"

	"queuebench/queue"
)

// Outgoing is a message on its way to a server, which the client has copied.
type Outgoing struct {
	Number    int64 // of the Window
	Partition int32
	queue.Message
}

// Outbox keeps messages, in order, until a goroutine hands them to the server:
// one that waits for a socket must not hold up the sender, whose context ends.
// The Window bounds it.
type Outbox struct {
	woken chan struct{}

	mu    sync.Mutex
	items []Outgoing
	bytes []byte

	taken      []Outgoing // of the last Take
	takenBytes []byte
	rest       []Outgoing
}

// NewOutbox makes an empty one.
func NewOutbox() *Outbox {
	return &Outbox{woken: make(chan struct{}, 1), bytes: make([]byte, 0, 4096), takenBytes: make([]byte, 0, 4096)}
}

// Put copies messages, the first of which has the given number, and chooses
// their partitions.
func (o *Outbox) Put(first int64, batch []queue.Message, partitions, turn int) {
	o.mu.Lock()
	for i := range batch {
		m := &batch[i]
		out := Outgoing{Number: first + int64(i), Partition: Partition(m, partitions, turn), Message: queue.Message{Payload: o.copy(m.Payload)}}
		if m.Key != nil {
			out.Key = o.copy(m.Key)
		}
		for _, h := range m.Headers {
			out.Headers = append(out.Headers, queue.Header{Name: h.Name, Value: o.copy(h.Value)})
		}
		o.items = append(o.items, out)
	}
	o.mu.Unlock()
	select {
	case o.woken <- struct{}{}:
	default:
	}
}

// copy is a copy, never nil, in memory that is used again once it was taken and
// Take is called for what follows. The lock is held.
func (o *Outbox) copy(b []byte) []byte {
	n := len(o.bytes)
	o.bytes = append(o.bytes, b...)
	return o.bytes[n:len(o.bytes):len(o.bytes)]
}

// Take waits for messages and returns at least one and at most limit, whose
// memory is valid until the next call. It is called by one goroutine.
func (o *Outbox) Take(ctx context.Context, limit int) ([]Outgoing, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(o.rest) == 0 {
			o.mu.Lock()
			clear(o.taken)
			o.taken, o.items = o.items, o.taken[:0]
			o.takenBytes, o.bytes = o.bytes, o.takenBytes[:0]
			o.mu.Unlock()
			o.rest = o.taken
		}
		if n := min(limit, len(o.rest)); n > 0 {
			out := o.rest[:n]
			o.rest = o.rest[n:]
			return out, nil
		}
		select {
		case <-o.woken:
		case <-ctx.Done():
		}
	}
}
