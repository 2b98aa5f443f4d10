package ledger

import (
	"math"

	"queuebench/queue"
	"queuebench/rawlog"
)

// rowsAtOnce bounds how long the sender waits for the log where it has rows of
// its own to write.
const rowsAtOnce = 256

// Acked resolves messages. It stamps them when it is called.
func (l *Ledger) Acked(acks []queue.Ack) {
	now := l.now()
	l.ackMu.Lock()
	defer l.ackMu.Unlock()
	if l.closed {
		return // their rows say unconfirmed: the deadline has passed
	}
	for i := range acks {
		a := &acks[i]
		for first := int64(0); first < a.N; first += rowsAtOnce {
			l.logMu.Lock()
			l.resolve(a, first, min(first+rowsAtOnce, a.N), now)
			l.logMu.Unlock()
		}
		l.advance(a.First + a.N)
	}
	l.watermark()
}

func (l *Ledger) resolve(a *queue.Ack, from, to, now int64) {
	row := rawlog.SentRow{Producer: l.producer, AckedNs: now, Status: rawlog.Acked, Partition: a.Partition, Offset: a.Offset}
	if a.Err != nil {
		row.Status = rawlog.Failed
	}
	var done, messages int64
	head, tail := l.head.Load(), l.tail.Load()
	for i := from; i < to; i++ {
		at := a.First + i
		e, ok := l.take(at, head, tail)
		if !ok {
			l.strange.Add(1)
			continue
		}
		done++
		if e.seq == endMark {
			continue
		}
		messages++
		row.Seq, row.IntendedNs, row.SentNs, row.BlockedNs = e.seq, e.intended, e.sent, e.blocked
		if a.Offset >= 0 {
			row.Offset = a.Offset + i*a.OffsetStep
		}
		l.log.Append(row)
		if a.Err == nil {
			l.ackedSet.Add(e.seq)
		}
	}
	if a.Err == nil {
		l.acked.Add(messages)
	} else {
		l.failed.Add(messages)
	}
	l.done.Add(done)
}

// take removes the open entry at a position.
func (l *Ledger) take(at, head, tail int64) (entry, bool) {
	if at < head {
		e, ok := l.stragglers[at]
		delete(l.stragglers, at)
		return e, ok
	}
	if at >= tail {
		return entry{}, false
	}
	slot := &l.ring[at&l.mask]
	e := *slot
	if e.seq == resolved {
		return e, false
	}
	slot.seq = resolved
	return e, true
}

// advance moves the head over what is resolved. When acknowledgements run far
// ahead of an open entry, it leaves the ring to make room.
func (l *Ledger) advance(ackedTo int64) {
	head, tail := l.head.Load(), l.tail.Load()
	ackedTo = min(ackedTo, tail)
	for head < tail {
		e := &l.ring[head&l.mask]
		if e.seq != resolved {
			if ackedTo-head <= int64(len(l.ring))/2 {
				break
			}
			if l.stragglers == nil {
				l.stragglers = map[int64]entry{}
			}
			l.stragglers[head] = *e
		}
		head++
	}
	l.head.Store(head)
}

// Watermark tells the log up to when it is complete.
func (l *Ledger) Watermark() {
	l.ackMu.Lock()
	defer l.ackMu.Unlock()
	if !l.closed {
		l.watermark()
	}
}

func (l *Ledger) watermark() {
	// In this order: an entry that is registered in between was due later.
	ns := l.next.Load()
	if head := l.head.Load(); head < l.tail.Load() {
		ns = min(ns, l.ring[head&l.mask].intended)
	}
	for _, e := range l.stragglers {
		ns = min(ns, e.intended)
	}
	if ns == math.MinInt64 {
		return
	}
	l.logMu.Lock()
	l.log.SetWatermark(ns)
	l.logMu.Unlock()
}

// Close writes a row for each message that is still open. The sender has
// ended. Later acknowledgements change nothing. cut says that the step was cut
// off before its deadline: the watermark then stays below what is still open,
// whose fate nobody waited for.
func (l *Ledger) Close(cut bool) {
	l.ackMu.Lock()
	defer l.ackMu.Unlock()
	if l.closed {
		return
	}
	l.closed = true
	if cut {
		l.watermark()
	}
	l.logMu.Lock()
	defer l.logMu.Unlock()
	for at, e := range l.stragglers {
		l.giveUp(e)
		delete(l.stragglers, at)
	}
	head, tail := l.head.Load(), l.tail.Load()
	for ; head < tail; head++ {
		if e := l.ring[head&l.mask]; e.seq != resolved {
			l.giveUp(e)
		}
	}
	l.head.Store(head)
	l.done.Store(tail)
	if !cut {
		l.log.SetWatermark(l.now())
	}
}

func (l *Ledger) giveUp(e entry) {
	if e.seq == endMark {
		return
	}
	l.unconfirmed.Add(1)
	l.log.Append(rawlog.SentRow{Producer: l.producer, Seq: e.seq, IntendedNs: e.intended, SentNs: e.sent, Status: rawlog.Unconfirmed, BlockedNs: e.blocked, Partition: -1, Offset: -1})
}
