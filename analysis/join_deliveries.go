package analysis

import (
	"math/bits"
	"time"

	"queuebench/rawlog"
)

// delivery takes a row of received by group number g and tells whether it is
// the first of its message there.
func (j *joiner) delivery(g int, id, seq, received, broker int64) (first bool) {
	a := &j.step.Accounting
	p := j.producer(id)
	if p == nil || seq < 0 || seq >= j.maxSeq {
		if j.sentWhole {
			a.Foreign++
		} else {
			a.Scheduled++
			a.Unknown++
		}
		return false
	}
	if j.by != nil {
		j.by.receiving(id, int64(g), j.origin)
	}
	b := p.deliveryBlock
	if b == nil || b.index != seq>>blockBits {
		if b = j.block(p, seq>>blockBits); b == nil {
			return false
		}
		if b == doneBlock || b == asideBlock {
			return j.lateDelivery(p, b, g, seq, received, broker)
		}
		p.deliveryBlock = b
	}
	i := int(seq & (blockSize - 1))
	word, bit := &b.got[g][i>>6], uint64(1)<<(i&63)
	state := b.state[i]
	if *word&bit != 0 {
		if state&isUnknown == 0 {
			a.Duplicates++
		}
		return false
	}
	*word |= bit
	j.countDelivery(state, received)
	if state&hasRow == 0 {
		if b.early == nil {
			if !j.hold(int64(len(j.groups)) * blockSize * earlyBytes) {
				return false
			}
			b.early = make([]early, len(j.groups)*blockSize)
		}
		b.early[g*blockSize+i] = j.earlyOf(received, broker)
	} else {
		if live := j.arrived(state, b.intended[i], b.sent[i], received, broker); live != nil && j.slowest.worth(live.index, received-b.intended[i]) {
			j.keepSlow(live.index, p.id, seq, g, j.source(), b.intended[i], b.sent[i], b.acked[i], received, broker)
		}
	}
	if state&wasOverrun == 0 {
		if b.open--; b.open == 0 {
			j.release(p, b, doneBlock)
		}
	}
	return state&isUnknown == 0
}

// lateDelivery takes a delivery whose block has gone.
func (j *joiner) lateDelivery(p *producer, b *block, g int, seq, received, broker int64) (first bool) {
	key := messageKey{p.id, seq}
	s := j.aside[key]
	if b == doneBlock || s == nil || s.got>>g&1 != 0 {
		if s == nil || s.state&isUnknown == 0 {
			j.step.Accounting.Duplicates++
		}
		return false
	}
	s.got |= 1 << g
	j.countDelivery(s.state, received)
	if s.state&hasRow == 0 {
		if s.early == nil {
			if !j.hold(int64(len(j.groups)) * earlyBytes) {
				return false
			}
			s.early = make([]early, len(j.groups))
		}
		s.early[g] = j.earlyOf(received, broker)
		return true
	}
	if live := j.arrived(s.state, s.intended, s.sent, received, broker); live != nil && j.slowest.worth(live.index, received-s.intended) {
		j.keepSlow(live.index, p.id, seq, g, j.source(), s.intended, s.sent, s.acked, received, broker)
	}
	if bits.OnesCount64(s.got) == len(j.groups) {
		j.dropAside(key, s)
	}
	return s.state&isUnknown == 0
}

// countDelivery counts a first delivery.
func (j *joiner) countDelivery(state uint8, received int64) {
	if state&isUnknown != 0 {
		return
	}
	j.step.Accounting.Received++
	j.perSecond(received, 1)
}

func (j *joiner) perSecond(received, n int64) {
	second := (received - j.start) / int64(time.Second)
	if received < j.start || second < 0 || second >= maxSeconds {
		return // a skewed clock, which has its own finding
	}
	if more := second + 1 - int64(len(j.step.ReceivedPerSecond)); more > 0 && j.memory != nil {
		j.hold(8 * more)
	}
	for int64(len(j.step.ReceivedPerSecond)) <= second {
		j.step.ReceivedPerSecond = append(j.step.ReceivedPerSecond, 0)
	}
	j.step.ReceivedPerSecond[second] += n
}

// early takes a delivery that came before its row, now that the row is there.
func (j *joiner) early(p *producer, g int, seq int64, state uint8, intended, sent, acked int64, e early) {
	if state&isUnknown != 0 {
		j.step.Accounting.Received--
		j.perSecond(e.received, -1)
		return
	}
	o := origin{-1, -1}
	if j.by != nil {
		o = j.by.kept(e.origin)
		j.by.receiving(int64(p.id), int64(g), o)
	}
	if live := j.arrived(state, intended, sent, e.received, e.broker); live != nil && j.slowest.worth(live.index, e.received-intended) {
		j.keepSlow(live.index, p.id, seq, g, o, intended, sent, acked, e.received, e.broker)
	}
}

// source is by whom and out of which partition the delivery at hand came.
func (j *joiner) source() origin {
	if j.from == nil {
		return origin{-1, -1}
	}
	return origin{j.from.number, j.from.cols[4].Ints[j.from.pos]}
}

// keepSlow keeps a message that is among the slowest so far.
func (j *joiner) keepSlow(interval int, producer int32, seq int64, g int, o origin, intended, sent, acked, received, broker int64) {
	since := func(ns int64) int64 {
		if ns == rawlog.Null {
			return ns
		}
		return ns - j.start
	}
	if j.only {
		sent, acked = rawlog.Null, rawlog.Null // they were not read
	}
	m := SlowMessage{
		Producer: int64(producer), Seq: seq, Partition: o.partition, Intended: since(intended), Sent: since(sent), Acked: since(acked), Broker: since(broker), Received: since(received),
	}
	if g < len(j.groups) {
		m.Group = j.groups[g]
	}
	if o.consumer >= 0 && o.consumer < int64(len(j.consumers)) {
		m.Consumer = j.consumers[o.consumer]
	}
	j.slowest.take(interval, m)
}

// earlyOf keeps a delivery until its row is there.
func (j *joiner) earlyOf(received, broker int64) early {
	e := early{received: received, broker: broker}
	if j.by != nil {
		e.origin = j.by.keep(j.origin)
	}
	return e
}

// arrived records the latencies of a message that has both its row and a first
// delivery, and returns the interval in which its end-to-end latency counts; nil
// where it does not.
func (j *joiner) arrived(state uint8, intended, sent, received, broker int64) *liveInterval {
	if state&isUnknown != 0 {
		return nil
	}
	a := &j.step.Accounting
	if state&wasAcked == 0 {
		a.ReceivedUnacked++
	}
	if !j.endToEnd {
		return nil
	}
	if j.only {
		sent = rawlog.Null // it was not read
	}
	live := j.receiving.at(intended)
	latency := received - intended
	if latency < 0 {
		a.Negative++
	}
	bad := live.counters[recEndToEnd].Record(latency) != nil
	if sent != rawlog.Null {
		bad = live.counters[recFromSend].Record(received-sent) != nil || bad
	}
	if broker != rawlog.Null {
		bad = live.counters[recBroker].Record(received-broker) != nil || bad
	}
	if bad {
		a.RecordsRejected++
	}
	if j.by != nil && j.by.inside(intended) {
		j.by.arrived(intended, sent, received, broker)
	}
	return live
}

// poll records a poll that was called and returned, once for all its messages.
// It belongs to the interval in which it was called.
func (j *joiner) poll(called, returned int64) {
	live := j.receiving.at(called)
	if live == nil || live.counters[recPoll].Record(returned-called) != nil {
		j.step.Accounting.RecordsRejected++
	}
}
