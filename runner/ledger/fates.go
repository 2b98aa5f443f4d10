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
		l.ack(&acks[i], now)
		l.advance(acks[i].First + acks[i].N)
	}
	l.watermark()
}

// ack resolves the entries of an acknowledgement: those that left the ring, and
// those in it, a part of the ring that has no end in it at a time.
func (l *Ledger) ack(a *queue.Ack, now int64) {
	from, to := a.First, a.First+a.N
	head, tail := l.head.Load(), l.tail.Load()
	row := rawlog.SentRow{Producer: l.producer, AckedNs: now, Status: rawlog.Acked, Partition: a.Partition, Offset: a.Offset, BrokerNs: a.BrokerNs, BrokerKind: a.BrokerKind}
	if a.Err != nil {
		row.Status = rawlog.Failed
	}
	if to > max(from, tail) {
		l.strange.Add(to - max(from, tail))
		to = tail
	}
	if from < head {
		l.ackStragglers(a, row, from, min(head, to))
		from = head
	}
	for from < to {
		at := from & l.mask
		part := l.ring[at:min(at+min(to-from, rowsAtOnce), int64(len(l.ring)))]
		l.logMu.Lock()
		l.resolve(a, row, from, part)
		l.logMu.Unlock()
		from += int64(len(part))
	}
}

// resolve writes the rows of the entries in a part of the ring, the first of
// which has a position. row has what they share.
func (l *Ledger) resolve(a *queue.Ack, row rawlog.SentRow, at int64, part []Entry) {
	// What is resolved in order leaves the ring at once and needs no mark.
	inOrder := at == l.head.Load()
	offset, step := a.Offset, a.OffsetStep
	if offset < 0 {
		step = 0
	}
	offset += step * (at - a.First)
	end := at + int64(len(part))
	var marks, strange, messages int64
	var run, next int64 // seqs that follow on one another, of the set
	for len(part) > 0 {
		rows := l.log.Reserve(len(part))
		k := 0
		for i := range part[:len(rows)] {
			e := &part[i]
			seq := e.Seq
			if seq < 0 {
				if seq == resolved {
					strange++
				} else {
					marks++
				}
			} else {
				r := &rows[k]
				k++
				*r = row
				r.Seq, r.IntendedNs, r.SentNs, r.BlockedNs, r.Offset = seq, e.Intended, e.Sent, e.Blocked, offset
				if seq != next {
					l.safe(a, run, next)
					run = seq
				}
				next = seq + 1
			}
			if !inOrder {
				e.Seq = resolved
			}
			offset += step
		}
		l.log.Publish(k)
		messages += int64(k)
		part = part[len(rows):]
	}
	l.safe(a, run, next)
	l.count(a, messages, marks, strange)
	if inOrder {
		l.head.Store(end)
	}
}

// safe keeps the seqs from ≤ seq < to, if they were acknowledged.
func (l *Ledger) safe(a *queue.Ack, from, to int64) {
	if a.Err != nil || l.ackedSet.AddRange(from, to) {
		return
	}
	for ; from < to; from++ {
		l.ackedSet.Add(from)
	}
}

func (l *Ledger) count(a *queue.Ack, messages, marks, strange int64) {
	if strange > 0 {
		l.strange.Add(strange)
	}
	if a.Err == nil {
		l.acked.Add(messages)
	} else {
		l.failed.Add(messages)
	}
	l.done.Add(messages + marks)
}

// ackStragglers resolves positions that left the ring.
func (l *Ledger) ackStragglers(a *queue.Ack, row rawlog.SentRow, from, to int64) {
	if len(l.stragglers.open) == 0 {
		l.strange.Add(to - from)
		return
	}
	var messages, marks, strange int64
	for at := from; at < to; at++ {
		e, ok := l.stragglers.take(at)
		switch {
		case !ok:
			strange++
		case e.Seq == endMark:
			marks++
		default:
			messages++
			row.Seq, row.IntendedNs, row.SentNs, row.BlockedNs = e.Seq, e.Intended, e.Sent, e.Blocked
			if row.Offset = a.Offset; a.Offset >= 0 {
				row.Offset += (at - a.First) * a.OffsetStep
			}
			l.logMu.Lock()
			l.log.Append(row)
			l.logMu.Unlock()
			l.safe(a, e.Seq, e.Seq+1)
		}
	}
	l.count(a, messages, marks, strange)
}

// advance moves the head over what is resolved. When acknowledgements run far
// ahead of an open entry, it leaves the ring to make room.
func (l *Ledger) advance(ackedTo int64) {
	head, tail := l.head.Load(), l.tail.Load()
	ackedTo = min(ackedTo, tail)
	for head < tail {
		e := &l.ring[head&l.mask]
		if e.Seq != resolved {
			if ackedTo-head <= int64(len(l.ring))/2 {
				break
			}
			l.stragglers.add(head, *e)
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
		ns = min(ns, l.ring[head&l.mask].Intended)
	}
	if e, ok := l.stragglers.oldest(); ok {
		ns = min(ns, e.Intended)
	}
	if ns != math.MinInt64 {
		l.log.SetWatermark(ns)
	}
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
	for _, e := range l.stragglers.open {
		l.giveUp(e)
	}
	l.stragglers = stragglers{}
	head, tail := l.head.Load(), l.tail.Load()
	for ; head < tail; head++ {
		if e := l.ring[head&l.mask]; e.Seq != resolved {
			l.giveUp(e)
		}
	}
	l.head.Store(head)
	l.done.Store(tail)
	if !cut {
		l.log.SetWatermark(l.now())
	}
}

func (l *Ledger) giveUp(e Entry) {
	if e.Seq == endMark {
		return
	}
	l.unconfirmed.Add(1)
	l.log.Append(rawlog.SentRow{Producer: l.producer, Seq: e.Seq, IntendedNs: e.Intended, SentNs: e.Sent, Status: rawlog.Unconfirmed, BlockedNs: e.Blocked, Partition: -1, Offset: -1})
}
