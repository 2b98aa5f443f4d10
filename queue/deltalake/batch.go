package deltalake

import (
	"encoding/binary"
	"slices"

	"queuebench/queue"
)

// batch is the messages of one commit.
type batch struct {
	// data is fileHead bytes, and then the payloads as a Parquet page has them
	// (PLAIN): each behind its length, 4 bytes, little-endian. So a batch is
	// encoded where it lies, or else by copying it.
	data  []byte
	pages []pageEnd // of the pages that are full
	open  int       // where in data the page begins that is being filled
	// pageBytes ends a page.
	pageBytes int
	count     int   // messages taken
	bytes     int64 // of their payloads
	runs      []run // whose they are, in order

	first int64 // clock, ns, when the first message was taken

	// Set on the way.
	number   int64       // of the batch, in the writer's txn
	key      string      // of the data file, relative to the table
	file     []byte      // the data file; it may lie in data
	copied   []byte      // memory of files that do not
	inline   *inlineCopy // of the file; nil for none
	lent     bool        // a request that was given up may still read the file
	size     int64       // of the data file, bytes
	rows     int64
	txns     []txn      // what the commit says that is in the table then
	stored   chan error // the end of the data file's PUT
	trace    queue.Trace
	cutAt    int64 // clock, ns
	storedAt int64
}

// run is consecutive messages of one producer.
type run struct {
	p          *Producer
	first, n   int64
	begin, end int  // in the batch's data
	dead       bool // its fate has been told, or is being told
	gone       bool // it was dead when the batch was cut: the file is without it
}

// pageEnd is where in data a page ends, and how many messages there are up to
// it.
type pageEnd struct{ data, count int }

// newBatch is an empty batch, whose pages end with the message that reaches
// pageBytes.
func newBatch(pageBytes int) *batch {
	return &batch{data: make([]byte, fileHead), open: fileHead, pageBytes: pageBytes, stored: make(chan error, 1)}
}

// reset empties a batch and keeps its memory, but not what is much larger than it
// needed.
func (b *batch) reset() {
	clear(b.runs)
	e := batch{data: b.data[:fileHead], open: fileHead, pageBytes: b.pageBytes, pages: b.pages[:0], runs: b.runs[:0], txns: b.txns[:0], stored: b.stored, copied: b.copied[:0]}
	if b.lent || tooLarge(cap(b.data), len(b.data)) {
		e.data = make([]byte, fileHead)
	}
	if b.lent || tooLarge(cap(b.copied), len(b.copied)) {
		e.copied = nil
	}
	if cap(b.runs) > max(4*len(b.runs), fewDeliveries) {
		e.runs = nil
	}
	*b = e
}

// add takes a message; number is its number in its producer.
func (b *batch) add(p *Producer, number int64, payload []byte) {
	begin := len(b.data)
	b.put(payload)
	b.own(p, number, 1, begin)
}

// put takes a message, for which own is to tell whose it is.
func (b *batch) put(payload []byte) {
	b.data = binary.LittleEndian.AppendUint32(b.data, uint32(len(payload)))
	b.data = append(b.data, payload...)
	b.count++
	b.bytes += int64(len(payload))
	if end := len(b.data); end-b.open >= b.pageBytes {
		b.pages = append(b.pages, pageEnd{end, b.count})
		b.open = end
	}
}

// own tells that the last n messages, from begin on, are a producer's, from
// its message first on.
func (b *batch) own(p *Producer, first, n int64, begin int) {
	end := len(b.data)
	if k := len(b.runs); k > 0 {
		if r := &b.runs[k-1]; r.p == p && r.first+r.n == first && !r.dead {
			r.n += n
			r.end = end
			return
		}
	}
	b.runs = append(b.runs, run{p: p, first: first, n: n, begin: begin, end: end})
}

// seal decides which messages the file will hold: those that have an owner
// now. It returns how many.
func (b *batch) seal() int64 {
	b.rows = 0
	for i := range b.runs {
		r := &b.runs[i]
		if r.gone = r.dead; !r.gone {
			b.rows += r.n
		}
	}
	return b.rows
}

// countTxns adds the messages of a sealed batch to counts, by the producers'
// names, and notes what each is then.
func (b *batch) countTxns(counts map[string]int64) {
	for i := range b.runs {
		r := &b.runs[i]
		if r.gone {
			continue
		}
		counts[r.p.name] += r.n
		k := slices.IndexFunc(b.txns, func(t txn) bool { return t.AppID == r.p.name })
		if k < 0 {
			k, b.txns = len(b.txns), append(b.txns, txn{AppID: r.p.name})
		}
		b.txns[k].Version = counts[r.p.name]
	}
}

// plain is the pages of the messages that seal left, as data has them, behind
// as many bytes.
func (b *batch) plain() (data []byte, pages []pageEnd) {
	data, pages = b.data, b.pages
	open, count := b.open, b.count
	if b.rows < int64(b.count) {
		data, pages = make([]byte, fileHead, len(b.data)), nil
		open, count = fileHead, 0
		for _, r := range b.runs {
			for from := r.begin; !r.gone && from < r.end; count++ {
				to := from + 4 + int(binary.LittleEndian.Uint32(b.data[from:]))
				data = append(data, b.data[from:to]...)
				from = to
				if len(data)-open >= b.pageBytes {
					pages = append(pages, pageEnd{len(data), count + 1})
					open = len(data)
				}
			}
		}
	}
	if open < len(data) {
		pages = append(slices.Clip(pages), pageEnd{len(data), count})
	}
	return data, pages
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
