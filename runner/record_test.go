package runner

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"queuebench/clock"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/runner/envelope"
	"queuebench/runner/ledger"
	"queuebench/runner/payload"
	"queuebench/runner/schedule"
)

// nowhere is a log and a queue that take everything and keep nothing, so that
// what is left is the runner's own path.
type nowhere struct {
	books *ledger.Ledger
	taken int64
	acks  []queue.Ack
}

func (*nowhere) Flush(context.Context) error { return nil }
func (*nowhere) Pending() int                { return 0 }
func (*nowhere) Close() error                { return nil }

// nowhereLog uses the room of a row again and again.
type nowhereLog[T any] struct{ room []T }

func newNowhereLog[T any]() *nowhereLog[T] { return &nowhereLog[T]{make([]T, 8192)} }

func (*nowhereLog[T]) Append(T)            {}
func (l *nowhereLog[T]) Reserve(n int) []T { return l.room[:min(n, len(l.room))] }
func (*nowhereLog[T]) Publish(int)         {}
func (*nowhereLog[T]) SetWatermark(int64)  {}

func (q *nowhere) Send(_ context.Context, batch []queue.Message) (int, error) {
	n := int64(len(batch))
	q.acks = append(q.acks[:0], queue.Ack{First: q.taken, N: n, OffsetStep: 1, Offset: q.taken})
	q.taken += n
	q.books.Acked(q.acks)
	return len(batch), nil
}

// sendingPath is a sender over nowhere; each call sends a batch of messages
// that are long due.
func sendingPath(batch int) func() {
	c := clock.New()
	q := &nowhere{}
	source, err := payload.New(payload.Fixed(100), 1, 1).Source(0, 1, maxBatch, maxBatchBytes)
	if err != nil {
		panic(err)
	}
	s := &sender{
		tag: 1, share: schedule.NewShare(schedule.NewConstant(1e12, time.Hour), 0, 1), partitions: 1,
		source: source, clock: c, producer: q, stop: new(atomic.Bool), pulse: still(), start: c.Now() - int64(time.Hour),
	}
	s.books = ledger.New(0, 1<<16, 1, newNowhereLog[rawlog.SentRow](), c.Now)
	q.books = s.books
	s.makeBatch(batch)
	s.due = s.dueAt(0)
	return func() {
		if err := s.send(context.Background(), s.fill(batch, c.Now())); err != nil {
			panic(err)
		}
	}
}

// receivingPath is a receiver that takes a batch of messages with each call.
func receivingPath(batch int) func() {
	_, take := newReceiving(batch)
	now := int64(0)
	return func() {
		now += int64(batch)
		take(now)
	}
}

// newReceiving is a receiver and what makes it take a batch of messages, with
// seqs that go on, at a moment.
func newReceiving(batch int) (*receiver, func(now int64)) {
	s := schedule.NewConstant(1e12, time.Hour)
	r := newReceiver(0, newGroup("g", 1), 1, s, 1, 1)
	r.start, r.log = new(atomic.Int64), newNowhereLog[rawlog.ReceivedRow]()
	deliveries := make([]queue.Delivery, batch)
	for i := range deliveries {
		deliveries[i].Payload = make([]byte, 100)
	}
	head := envelope.NewHead(envelope.Data, 0, 1)
	var seq int64
	return r, func(now int64) {
		for i := range deliveries {
			head.Encode(deliveries[i].Payload, seq)
			seq++
		}
		r.take(deliveries, now)
	}
}

// TestThePathOfAMessageAllocatesNothing: what allocates per message makes the
// garbage collector a part of the measurement.
func TestThePathOfAMessageAllocatesNothing(t *testing.T) {
	for name, path := range map[string]func(){"send": sendingPath(256), "receive": receivingPath(256)} {
		for range 300 { // buffers and bitmaps are made
			path()
		}
		// 256 messages a run: a chunk's bitmap comes once in 65,536.
		if n := testing.AllocsPerRun(200, path); n > 0 {
			t.Errorf("%s: %v allocations in 256 messages", name, n)
		}
	}
}

func BenchmarkSend(b *testing.B)    { perMessage(b, sendingPath(1000)) }
func BenchmarkReceive(b *testing.B) { perMessage(b, receivingPath(1000)) }

// perMessage counts a message, not a batch of 1,000, as an operation.
func perMessage(b *testing.B, path func()) {
	b.ReportAllocs()
	for i := 0; i < b.N; i += 1000 {
		path()
	}
}
