package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"queuebench/clock"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/runner/ledger"
	"queuebench/runner/pace"
	"queuebench/runner/payload"
	"queuebench/runner/schedule"
	"queuebench/stats"
)

const (
	// maxBatch and maxBatchBytes bound what one Send is handed.
	maxBatch      = 4096
	maxBatchBytes = 1 << 20
	// roomPause is how long the sender sleeps when nothing more may be in
	// flight.
	roomPause = 50 * time.Microsecond
)

// sender is the load of one producer. Its goroutine runs load and then finish.
type sender struct {
	id         int
	tag        uint32
	share      schedule.Share
	partitions int
	own        []int32 // to which it sends; nil for those that the queue chooses
	source     *payload.Source
	unmarked   bool   // it sends no end marks
	group      int    // most messages of a Send
	told       []byte // of the begin marks; nil for none
	clock      *clock.Clock
	pacing     pace.Kind
	books      *ledger.Ledger
	events     *events

	producer queue.Producer
	start    int64 // of the schedule, ns
	end      int64 // of the step's load, ns
	stop     *atomic.Bool
	until    *atomic.Int64 // of the step
	line     *line         // of a closed loop; nil for none

	holds   ledger.Holds
	pulse   *pulse
	batch   []queue.Message
	entries []ledger.Entry // of the messages of batch

	seq       int64
	due       int64         // when message seq is due; MaxInt64 after the last
	retracted int64         // when the first message was due that a Send which was cut off did not take; MaxInt64 for none
	lags      stats.Counter // sent − intended of each message
	maxLag    atomic.Int64  // since it was last taken, ns
	ownLag    atomic.Int64  // of the last batch's first message, less what the client held up, ns
	refusals  refusals      // by Send
	failures  refusals      // by acknowledgement
}

func (s *sender) name() string { return fmt.Sprintf("producer-%d", s.id) }

// load sends the schedule and returns the number of messages that have a row:
// all, or, when it was cut off, those that it had come to.
func (s *sender) load(ctx context.Context) (scheduled int64, err error) {
	n := min(s.source.Most(), s.group)
	s.makeBatch(n)
	s.retracted = math.MaxInt64
	if err := s.begin(ctx); err != nil {
		return 0, err
	}
	w := pace.New(s.clock, s.pacing, s.stop)
	defer w.Close()
	sending, cancel := context.WithTimeout(ctx, time.Duration(s.end-s.clock.Now()))
	defer cancel()

	total := s.share.Len()
	s.due = s.dueAt(s.seq)
	for s.seq < total && err == nil {
		s.books.Next(s.due)
		now := w.Until(s.due)
		if s.stop.Load() || now >= s.end {
			break
		}
		room := min(s.books.Room(), int64(n))
		if room <= 0 {
			s.held(now, w.Until(now+int64(roomPause)))
			continue
		}
		if u := s.until.Load(); u != 0 {
			if now = min(now, u-1); s.due > now { // the load has ended
				break
			}
		}
		k := s.fill(int(room), now)
		if err = s.source.Err(); k == 0 { // what is due has room in an empty batch
			break
		}
		err = s.send(sending, k)
		if sending.Err() != nil && !errors.Is(ctx.Err(), context.Canceled) {
			err = nil // the step has ended, which is no failure
			break
		}
	}
	s.refusals.tell(s.events, s.name())
	scheduled = s.overrun(err != nil)
	s.books.Next(s.whole(s.stop.Load() || err != nil))
	return scheduled, err
}

// dueAt is when message seq is due; MaxInt64 after the last.
func (s *sender) dueAt(seq int64) int64 {
	if seq >= s.share.Len() {
		return math.MaxInt64
	}
	return s.start + s.share.At(seq)
}

// overrun records what was left when the step ended, and returns the number of
// messages that have a row. When the load was cut off, by an interrupt or by an
// error, nobody had given up what was left: its fate is unknown, as is that of
// all beyond the watermark, and an event has its number.
func (s *sender) overrun(cut bool) int64 {
	total := s.share.Len()
	if u := s.until.Load(); u != 0 {
		total = s.share.Due(0, u-1-s.start)
	}
	seq := s.seq
	for ; seq < total && !cut && !s.stop.Load(); seq++ {
		s.books.Overrun(seq, s.start+s.share.At(seq))
	}
	if n := s.share.Due(seq, s.clock.Now()-s.start) - seq; n > 0 {
		s.events.add(s.name(), "note", fmt.Sprintf("%d messages were due and not sent when the load was cut off", n), rawlog.Null)
	}
	return seq
}

// whole is the time before which the log lacks nothing of the load that has
// ended. When it was cut off, what was due and not sent says nothing.
func (s *sender) whole(cut bool) int64 {
	first := s.retracted
	if s.seq < s.share.Len() {
		first = min(first, s.start+s.share.At(s.seq))
	}
	if cut && first < math.MaxInt64 {
		return first
	}
	return max(s.end, s.clock.Now())
}

// makeBatch makes the memory of n messages, which each batch uses again.
func (s *sender) makeBatch(n int) {
	s.batch = make([]queue.Message, n)
	for i := range s.batch {
		s.batch[i].Partition = queue.AnyPartition
	}
}

// fill makes the batch of what is due now, at most room messages, and returns
// their number.
func (s *sender) fill(room int, now int64) int {
	s.entries = s.books.Slots(room)
	s.source.Next()
	k := 0
	for k < len(s.entries) && s.due <= now && s.source.Fill(&s.batch[k], s.seq) {
		e := &s.entries[k]
		if len(s.own) > 0 {
			s.batch[k].Partition = s.own[s.seq%int64(len(s.own))]
		}
		e.Seq, e.Intended, e.Blocked = s.seq, s.due, s.holds.Since(s.due)
		s.seq++
		s.due = s.dueAt(s.seq)
		k++
	}
	s.entries = s.entries[:k]
	return k
}

// send hands the first k messages of the batch over.
func (s *sender) send(ctx context.Context, k int) error {
	sent := s.clock.Now()
	first := s.entries[0].Intended // the books have the entries soon
	for i := range s.entries {
		e := &s.entries[i]
		e.Sent = sent
		_ = s.lags.Record(sent - e.Intended) // what is beyond its 30 days is in the log
	}
	s.ownLag.Store(max(0, sent-first-s.entries[0].Blocked))
	s.books.Register(k)
	taken, err := s.producer.Send(ctx, s.batch[:k])
	s.held(sent, s.clock.Now())
	if lag := sent - first; lag > s.maxLag.Load() {
		s.maxLag.Store(lag)
	}
	if err == nil {
		return nil
	}
	s.books.Retract(k-taken, ctx.Err() != nil)
	if ctx.Err() != nil && taken < k {
		s.retracted = s.entries[taken].Intended
	}
	if ctx.Err() != nil || errors.Is(err, queue.ErrClosed) || errors.Is(err, queue.ErrBroken) {
		return err
	}
	s.refusals.add(s.events, s.name(), int64(k-taken), err)
	return nil
}

// held notes that the client held the sender, but for the times in which the
// whole process stood still, which are its own.
func (s *sender) held(from, to int64) {
	if to-from >= int64(standstill) {
		s.pulse.during(from, to, func(g gap) {
			s.holds.Add(from, g.from)
			from = g.to
		})
	}
	s.holds.Add(from, to)
}

// finish sends an end mark to each partition and waits until everything that
// was handed over is resolved.
func (s *sender) finish(ctx context.Context) error {
	if s.unmarked {
		if err := s.producer.Flush(ctx); err != nil {
			return fmt.Errorf("flushing: %w", err)
		}
		return nil
	}
	for s.books.RingRoom() < s.partitions {
		if err := ctx.Err(); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	marks := make([]queue.Message, s.partitions)
	for i := range marks {
		marks[i] = s.source.Mark(int32(i), s.seq)
	}
	s.books.RegisterEnd(len(marks), s.clock.Now())
	taken, err := s.producer.Send(ctx, marks)
	if err != nil {
		s.books.Retract(len(marks)-taken, true)
		return fmt.Errorf("sending the end marks: %w", err)
	}
	if err := s.producer.Flush(ctx); err != nil {
		return fmt.Errorf("flushing: %w", err)
	}
	return nil
}

// acked takes what the queue's client tells of messages.
func (s *sender) acked(acks []queue.Ack) {
	s.books.Acked(acks)
	if s.line != nil {
		s.line.acked(acks)
	}
	for i := range acks {
		// What is given up when a step closes did not fail.
		if acks[i].Err != nil && !s.stop.Load() {
			s.failures.add(s.events, s.name(), acks[i].N, acks[i].Err)
		}
	}
}

// trouble says what became of messages that are not safe; empty when all are.
func (s *sender) trouble() string {
	first := cmp.Or(s.refusals.tell(s.events, s.name()), s.failures.tell(s.events, s.name()), "no reason")
	c := s.books.Counts()
	var texts []string
	if c.Failed > 0 {
		texts = append(texts, fmt.Sprintf("%d of %d messages failed, the first with: %s", c.Failed, c.Attempted, first))
	}
	if c.Unconfirmed > 0 {
		text := fmt.Sprintf("the fate of %d of %d messages was not known in the end", c.Unconfirmed, c.Attempted)
		if why := s.events.lastRetry(s.name()); why != "" {
			text += ", the last request that was tried again met: " + why
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}
