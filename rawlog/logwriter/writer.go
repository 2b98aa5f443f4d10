package logwriter

import (
	"sync"
	"sync/atomic"
	"time"

	"queuebench/rawlog"
)

// The writers of the five tables.
type (
	SentWriter     = Writer[rawlog.SentRow]
	ReceivedWriter = Writer[rawlog.ReceivedRow]
	SecondsWriter  = Writer[rawlog.SecondRow]
	BatchesWriter  = Writer[rawlog.BatchRow]
	EventsWriter   = Writer[rawlog.EventRow]
)

// Writer takes the rows of one actor for one table in one repeat of a step.
// Append, Reserve, Publish, SetWatermark and Close are called by one goroutine.
type Writer[T any] struct {
	rows  []T // of the chunk that is being filled
	pos   int
	chunk *chunk[T]

	// The encoder reads along behind Append: it is given each chunk when its
	// first row is written, and reads up to the chunk's count.
	filling chan *chunk[T]
	free    chan *chunk[T]
	made    int // chunks made, at most cap(free)

	watermark atomic.Int64
	closing   sync.Once
	closed    chan struct{} // no row comes after it

	chunkRows int
	counts    *counts
	dead      bool // opened by mistake: no encoder reads, rows are discarded
}

// chunk is rows on their way to the encoder, which hands it back.
type chunk[T any] struct {
	rows []T
	n    atomic.Int64 // rows that are complete
}

func newWriter[T any](chunkRows, backlogRows int, counts *counts) *Writer[T] {
	chunks := max(2, backlogRows/chunkRows)
	return &Writer[T]{
		filling:   make(chan *chunk[T], chunks),
		free:      make(chan *chunk[T], chunks),
		closed:    make(chan struct{}),
		chunkRows: chunkRows,
		counts:    counts,
	}
}

// Append records a row. It takes no lock and, once the first chunks are made,
// allocates nothing. It waits only when the encoder is behind by the whole
// backlog, which Stats counts. After the log has failed, rows are discarded and
// counted.
func (w *Writer[T]) Append(row T) {
	if w.pos == len(w.rows) {
		w.nextChunk()
	}
	w.rows[w.pos] = row
	w.pos++
	w.chunk.n.Store(int64(w.pos))
}

// Reserve returns room for the next rows, to be filled in place: at least one,
// at most n (n is at least 1), fewer where a chunk ends, so that a caller with n
// rows calls it in a loop. It is for those who record many rows at once: a row
// is written where it stays, and all of them are handed over by one Publish. It
// waits as Append does. The rows hold whatever was there before: every field of
// those that are published must be set. The room is the caller's until Publish,
// Append or the next Reserve.
func (w *Writer[T]) Reserve(n int) []T {
	if w.pos == len(w.rows) {
		w.nextChunk()
	}
	end := min(w.pos+n, len(w.rows))
	return w.rows[w.pos:end:end]
}

// Publish records the first n rows of what Reserve returned last; the rest of
// its room is given back.
func (w *Writer[T]) Publish(n int) {
	w.pos += n
	w.chunk.n.Store(int64(w.pos))
}

func (w *Writer[T]) nextChunk() {
	if w.dead {
		w.counts.discarded.Add(int64(w.pos))
		w.chunk = &chunk[T]{rows: w.rows}
		if w.rows == nil {
			w.rows = make([]T, w.chunkRows)
		}
		w.pos = 0
		return
	}
	w.chunk = w.takeChunk()
	w.rows, w.pos = w.chunk.rows, 0
	w.filling <- w.chunk // never waits: it has room for every chunk
}

func (w *Writer[T]) takeChunk() *chunk[T] {
	select {
	case c := <-w.free:
		return c
	default:
	}
	if w.made < cap(w.free) {
		w.made++
		return &chunk[T]{rows: make([]T, w.chunkRows)}
	}
	start := time.Now()
	c := <-w.free
	w.counts.blocked.Add(1)
	w.counts.blockedNs.Add(int64(time.Since(start)))
	return c
}

// SetWatermark promises that every row before ns (by intended_ns in sent, by
// its time elsewhere) has been appended. It never goes back.
func (w *Writer[T]) SetWatermark(ns int64) { w.watermark.Store(ns) }

// Close says that no row follows. It returns at once; the rest is encoded and
// its part, marked Last, closed and uploaded behind it. It can be called twice.
func (w *Writer[T]) Close() {
	w.closing.Do(func() {
		if w.dead {
			w.counts.discarded.Add(int64(w.pos))
		}
		close(w.closed)
	})
}
