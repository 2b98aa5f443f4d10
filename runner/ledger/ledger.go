// Package ledger keeps the books of one producer: which messages were handed
// over, which are still open, and what became of each.
//
// Each message of the schedule becomes one row of the table sent, when its fate
// is known or when the books are closed. A sender writes entries and the
// queue's client resolves them through Acked, with no lock between the two and
// no allocation per message. The package refuses an acknowledgement that
// belongs to no message: that is an error of the queue, and is counted.
package ledger

import (
	"fmt"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"queuebench/rawlog"
	"queuebench/runner/seqset"
)

// Log takes the rows, as logwriter.SentWriter does, or a test: Reserve returns
// room for at least one row and at most n, whose every field is to be set, and
// Publish records the first n of them.
type Log interface {
	Append(rawlog.SentRow)
	Reserve(n int) []rawlog.SentRow
	Publish(n int)
	SetWatermark(ns int64)
}

// Entry is a message that is handed over. The position of an entry, counted
// from the first, is the number by which the queue's client acknowledges it.
type Entry struct {
	Seq      int64 // not negative
	Intended int64 // ns since the epoch, like all times here
	Sent     int64
	Blocked  int64 // ns for which the client held the sender since Intended
}

// What stands in Seq of an entry that is no open message.
const (
	resolved = -1
	endMark  = -2
)

// Counts are the producer's books so far. Scheduled = Attempted + Overrun, and
// once closed Attempted = Acked + Failed + Unconfirmed.
type Counts struct {
	Attempted, Acked, Failed, Unconfirmed, Overrun int64
	// InFlight messages are handed over and not resolved, end marks included.
	InFlight int64
	// Strange acknowledgements belonged to no open message.
	Strange int64
}

// Ledger is the books of one producer. Slots, Register, Retract, Overrun and
// Next are the sender's, from one goroutine; Acked is the client's, from one
// goroutine at a time; the rest may be called from any.
type Ledger struct {
	producer int32
	limit    int64 // of messages in flight
	now      func() int64

	ring []Entry
	mask int64
	tail atomic.Int64 // entries registered so far
	head atomic.Int64 // entries before it are resolved, or stragglers
	done atomic.Int64 // entries resolved
	next atomic.Int64 // when the next message is due that is not registered

	attempted, acked, failed, unconfirmed, overrun, strange atomic.Int64

	ackMu      sync.Mutex // one Acked, Watermark or Close at a time
	closed     bool
	stragglers stragglers
	ackedSet   seqset.Set

	logMu sync.Mutex // rows come from the client and from the sender
	log   Log
}

// New opens the books of a producer that may have limit messages in flight, at
// least 1, and marks end marks on top.
func New(producer int, limit, marks int, log Log, now func() int64) *Ledger {
	// Twice the limit: entries that were resolved out of order wait in the
	// ring for those before them, half of it at most, and the other half has
	// room for the marks.
	size := int64(1) << bits.Len64(uint64(2*max(limit, marks, 32)-1))
	l := &Ledger{producer: int32(producer), limit: int64(limit), now: now, log: log, ring: make([]Entry, size), mask: size - 1}
	l.next.Store(math.MinInt64)
	return l
}

// Room is how many messages may be registered now.
func (l *Ledger) Room() int64 {
	tail := l.tail.Load()
	return min(l.limit-(tail-l.done.Load()), int64(len(l.ring))-(tail-l.head.Load()))
}

// RingRoom is how many end marks may be registered now: they are few, and not
// bounded by the limit.
func (l *Ledger) RingRoom() int { return len(l.ring) - int(l.tail.Load()-l.head.Load()) }

// Slots returns room for the next entries, to be filled in place before they
// are handed over: at most n, which is at most Room, and fewer where the ring
// ends.
func (l *Ledger) Slots(n int) []Entry {
	at := int(l.tail.Load() & l.mask)
	return l.ring[at:min(at+n, len(l.ring))]
}

// Register enters the first n of what Slots returned last.
func (l *Ledger) Register(n int) {
	l.attempted.Add(int64(n))
	l.tail.Add(int64(n))
}

// RegisterEnd enters n end marks, which have no row.
func (l *Ledger) RegisterEnd(n int, sent int64) {
	tail := l.tail.Load()
	for i := range int64(n) {
		l.ring[(tail+i)&l.mask] = Entry{endMark, sent, sent, 0}
	}
	l.tail.Store(tail + int64(n))
}

// Next says when the next message is due that was not registered: the log is
// complete before it.
func (l *Ledger) Next(intended int64) { l.next.Store(intended) }

// Retract takes back the last n entries, which the client did not take.
// Messages become failed, or overrun when it was only their step that ended.
func (l *Ledger) Retract(n int, overrun bool) {
	// Their slots will be written again: whoever reads the ring must be through
	// with them.
	l.ackMu.Lock()
	defer l.ackMu.Unlock()
	tail := l.tail.Load()
	now := l.now()
	l.logMu.Lock()
	for i := tail - int64(n); i < tail; i++ {
		e := l.ring[i&l.mask]
		switch {
		case e.Seq == endMark:
		case overrun:
			l.attempted.Add(-1)
			l.overrunRow(e.Seq, e.Intended, e.Blocked)
		default:
			l.failed.Add(1)
			l.log.Append(rawlog.SentRow{Producer: l.producer, Seq: e.Seq, IntendedNs: e.Intended, SentNs: e.Sent, AckedNs: now, Status: rawlog.Failed, BlockedNs: e.Blocked, Partition: -1, Offset: -1})
		}
	}
	l.logMu.Unlock()
	l.tail.Store(tail - int64(n))
}

// Overrun records a message that its step left no time for.
func (l *Ledger) Overrun(seq, intended int64) {
	l.logMu.Lock()
	l.overrunRow(seq, intended, 0)
	l.logMu.Unlock()
}

func (l *Ledger) overrunRow(seq, intended, blocked int64) {
	l.overrun.Add(1)
	l.log.Append(rawlog.SentRow{Producer: l.producer, Seq: seq, IntendedNs: intended, Status: rawlog.Overrun, BlockedNs: blocked, Partition: -1, Offset: -1})
}

// Counts are the books so far.
func (l *Ledger) Counts() Counts {
	done := l.done.Load()
	return Counts{
		Attempted: l.attempted.Load(), Acked: l.acked.Load(), Failed: l.failed.Load(),
		Unconfirmed: l.unconfirmed.Load(), Overrun: l.overrun.Load(),
		InFlight: max(0, l.tail.Load()-done), Strange: l.strange.Load(),
	}
}

// WithAcked calls f with the seqs that were acknowledged, while no more are
// added.
func (l *Ledger) WithAcked(f func(acked *seqset.Set)) {
	l.ackMu.Lock()
	defer l.ackMu.Unlock()
	f(&l.ackedSet)
}

// Check compares the closed books with what was scheduled.
func (l *Ledger) Check(scheduled int64) error {
	c := l.Counts()
	if scheduled != c.Attempted+c.Overrun {
		return fmt.Errorf("producer %d: scheduled %d is not attempted %d + overrun %d", l.producer, scheduled, c.Attempted, c.Overrun)
	}
	if c.Attempted != c.Acked+c.Failed+c.Unconfirmed {
		return fmt.Errorf("producer %d: attempted %d is not acked %d + failed %d + unconfirmed %d", l.producer, c.Attempted, c.Acked, c.Failed, c.Unconfirmed)
	}
	return nil
}
