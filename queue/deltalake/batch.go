package deltalake

import (
	"bytes"

	"queuebench/queue"
)

// batch is the messages of one commit.
type batch struct {
	data []byte // payloads, one after the other
	ends []int  // where each ends in data
	runs []run  // whose they are, in order

	first int64 // clock, ns, when the first message was taken

	// Set on the way.
	number   int64        // of the batch, in the writer's txn
	key      string       // of the data file, relative to the table
	file     bytes.Buffer // the data file
	size     int64        // of the data file, bytes
	rows     int64
	stored   chan error // the end of the data file's PUT
	trace    queue.Trace
	cutAt    int64 // clock, ns
	storedAt int64
}

// run is consecutive messages of one producer.
type run struct {
	p        *Producer
	first, n int64
	dead     bool // its fate has been told, or is being told
}

func newBatch() *batch { return &batch{stored: make(chan error, 1)} }

func (b *batch) reset() {
	clear(b.runs)
	file := b.file
	file.Reset()
	*b = batch{data: b.data[:0], ends: b.ends[:0], runs: b.runs[:0], stored: b.stored, file: file}
}

func (b *batch) payload(i int) []byte {
	begin := 0
	if i > 0 {
		begin = b.ends[i-1]
	}
	return b.data[begin:b.ends[i]]
}

// add takes a message; number is its number in its producer.
func (b *batch) add(p *Producer, number int64, payload []byte) {
	b.data = append(b.data, payload...)
	b.ends = append(b.ends, len(b.data))
	if n := len(b.runs); n > 0 {
		if r := &b.runs[n-1]; r.p == p && r.first+r.n == number && !r.dead {
			r.n++
			return
		}
	}
	b.runs = append(b.runs, run{p: p, first: number, n: 1})
}

// live is how many messages still have an owner.
func (b *batch) live() (n int64) {
	for _, r := range b.runs {
		if !r.dead {
			n += r.n
		}
	}
	return n
}

// take marks a producer's runs as told (nil: everybody's), and appends them to
// acks. The writer's lock is held.
func (b *batch) take(p *Producer, acks []producerAck, version int64, err error) []producerAck {
	for i := range b.runs {
		r := &b.runs[i]
		if r.dead || p != nil && r.p != p {
			continue
		}
		r.dead = true
		acks = append(acks, producerAck{r.p, queue.Ack{First: r.first, N: r.n, Partition: -1, Offset: version, Err: err}})
	}
	return acks
}

// producerAck is an acknowledgement and whom to tell.
type producerAck struct {
	p *Producer
	queue.Ack
}
