package analysis

import (
	"math/bits"
	"time"

	"queuebench/rawlog"
)

// row takes a row of sent. status is a rawlog.Status; sent and acked are
// rawlog.Null where they are null.
func (j *joiner) row(id, seq, intended, sent, acked, blocked int64, status rawlog.Status) {
	a := &j.step.Accounting
	p := j.producer(id)
	if p == nil || seq < 0 || seq >= j.maxSeq {
		a.RecordsRejected++
		return
	}
	live := j.sending.at(intended)
	if live == nil && !j.beyond(p, intended) {
		a.RecordsRejected++
		return
	}
	if j.by != nil {
		j.by.sending(id, j.rowPartition)
	}
	b := p.rowBlock
	if b == nil || b.index != seq>>blockBits {
		if b = j.block(p, seq>>blockBits); b == nil {
			return
		}
		if b == doneBlock || b == asideBlock {
			j.lateRow(p, b, live, seq, intended, sent, acked, blocked, status)
			return
		}
		p.rowBlock = b
	}
	i := int(seq & (blockSize - 1))
	if b.state[i]&hasRow != 0 {
		a.RecordsRejected++
		return
	}
	state := j.countRow(p, live, intended, sent, acked, blocked, status)
	b.state[i], b.intended[i], b.sent[i], b.acked[i] = state, intended, sent, acked
	b.open--
	if b.early != nil {
		for g := range b.got {
			if b.got[g][i>>6]>>(i&63)&1 != 0 {
				j.early(p, g, seq, state, intended, sent, acked, b.early[g*blockSize+i])
			}
		}
	}
	if state&wasOverrun != 0 {
		for g := range b.got {
			if b.got[g][i>>6]>>(i&63)&1 == 0 {
				b.open--
			}
		}
	}
	if b.open == 0 {
		j.release(p, b, doneBlock)
	}
}

// lateRow takes a row whose block has gone.
func (j *joiner) lateRow(p *producer, b *block, live *liveInterval, seq, intended, sent, acked, blocked int64, status rawlog.Status) {
	key := messageKey{p.id, seq}
	s := j.aside[key]
	if b == doneBlock || s == nil || s.state&hasRow != 0 {
		j.step.Accounting.RecordsRejected++
		return
	}
	s.state = j.countRow(p, live, intended, sent, acked, blocked, status)
	s.intended, s.sent, s.acked = intended, sent, acked
	for g := range j.groups {
		if s.got>>g&1 != 0 && s.early != nil {
			j.early(p, g, seq, s.state, intended, sent, acked, s.early[g])
		}
	}
	if s.state&wasOverrun != 0 || bits.OnesCount64(s.got) == len(j.groups) {
		j.dropAside(key, s)
	}
}

// countRow counts a row of sent and returns the message's state.
func (j *joiner) countRow(p *producer, live *liveInterval, intended, sent, acked, blocked int64, status rawlog.Status) uint8 {
	a := &j.step.Accounting
	a.Scheduled++
	if live == nil {
		// A step that is not in run.json ends at its watermark.
		a.Unknown++
		return hasRow | isUnknown
	}
	iv := &j.step.Intervals[live.index]
	iv.Scheduled++
	if j.beyond(p, intended) {
		a.Unknown++
		iv.Unknown++
		return hasRow | isUnknown
	}
	iv.Blocked += time.Duration(blocked)
	by := j.by
	if by != nil && !by.inside(intended) {
		by = nil
	}
	never := int64(max(1, len(j.groups)))
	if status == rawlog.Overrun || sent == rawlog.Null {
		a.Overrun++
		iv.Infinite[EndToEnd] += never
		iv.Infinite[EndToEndFromSend] += never
		iv.Infinite[Publish]++
		if by != nil {
			by.overrun(len(j.groups))
		}
		return hasRow | wasOverrun
	}
	a.Attempted++
	lag := sent - intended
	bad := live.counters[recSendLag].Record(lag) != nil
	bad = live.counters[recOwnLag].Record(max(0, lag-blocked)) != nil || bad
	state := hasRow
	published := rawlog.Null
	switch {
	case status == rawlog.Acked && acked != rawlog.Null:
		a.Acked++
		state |= wasAcked
		published = acked - intended
		bad = live.counters[recPublish].Record(acked-intended) != nil || bad
	case status == rawlog.Failed:
		a.Failed++
		iv.Infinite[Publish]++
	default:
		a.Unconfirmed++
		iv.Infinite[Publish]++
	}
	if bad {
		a.RecordsRejected++
	}
	if by != nil {
		by.sent(lag, published)
	}
	return state
}

// beyond tells whether a message lies beyond the watermarks.
func (j *joiner) beyond(p *producer, intended int64) bool {
	return intended >= p.watermark || intended >= j.until
}
