package analysis

import (
	"queuebench/rawlog"
	"queuebench/stats"
)

// batch takes the deliveries from pos on that can be counted together, and
// returns how many: 0 where the next one is to be counted by itself.
func (s *receivedStream) batch(j *joiner) int {
	c, pos := s.cols, s.pos
	if pos < s.single || j.single {
		return 0
	}
	if pos >= s.alike {
		if s.alike = s.sameDeliveries(); s.alike-pos < leastBatch {
			s.single = s.alike
			return 0
		}
	}
	seq, got, code := c[1].Ints, c[2].Ints[pos], c[3].Codes[pos]
	p := j.producer(c[0].Ints[pos])
	if !j.endToEnd || p == nil || got >= j.until || code < 0 || s.groups[code] < 0 || c[6].Ints[pos] != rawlog.Null || seq[pos] < 0 {
		return 0
	}
	g := s.groups[code]
	b := p.deliveryBlock
	if b == nil || b.index != seq[pos]>>blockBits {
		if b = p.blocks[seq[pos]>>blockBits]; b == nil || b == doneBlock || b == asideBlock {
			return 0
		}
		p.deliveryBlock = b
	}
	base := b.index << blockBits
	live := j.receiving.at(b.intended[seq[pos]-base])
	if live == nil {
		return 0
	}
	end := min(s.alike, pos+stats.MaxBatch)
	seqs, words := seq[pos:end], &b.got[g]
	endToEnd := j.scratch.a[:len(seqs)]
	from, span, next := live.from, uint64(live.to-live.from), seqs[0]
	n := 0
	for i, q := range seqs {
		at := uint64(q - base)
		if at >= blockSize || q < next || b.state[at] != plainMessage || words[at>>6]>>(at&63)&1 != 0 || uint64(b.intended[at]-from) >= span {
			break
		}
		next = q + 1
		endToEnd[i] = got - b.intended[at]
		n++
	}
	if n == 0 {
		return 0
	}
	whole, ok1 := stats.NewBatch(endToEnd[:n])
	sent, ok2 := j.sinceSent(b, got, seqs[:n])
	broker, ok3 := j.sinceBroker(got, c[5].Ints[pos:pos+n])
	if !ok1 || !ok2 || !ok3 || j.by != nil && !j.by.room() {
		s.single = pos + n
		return 0
	}
	live.counters[recEndToEnd].RecordBatch(whole)
	live.counters[recFromSend].RecordBatch(sent)
	live.counters[recBroker].RecordBatch(broker)
	if j.slowest.worth(live.index, whole.Max()) {
		j.slowOf(whole, live.index, p, b, seqs, g, origin{s.number, c[4].Ints[pos]}, got, c[5].Ints[pos:])
	}
	for _, q := range seqs[:n] {
		words[uint64(q-base)>>6] |= 1 << (q & 63)
	}
	j.step.Accounting.Received += int64(n)
	j.perSecond(got, int64(n))
	s.stamped(&j.step.Stamps, got, c[5].Ints[pos:pos+n])
	if j.by != nil {
		j.origin = origin{s.number, c[4].Ints[pos]}
		j.by.receiving(int64(p.id), int64(g), j.origin)
		if j.by.inside(b.intended[seqs[0]-base]) {
			j.by.arrivedBatch(whole, sent, broker)
		}
	}
	if b.open -= n; b.open == 0 {
		j.release(p, b, doneBlock)
	}
	s.ordered(j, c[0].Ints[pos], c[4].Ints[pos], seqs[:n])
	return n
}

// slowOf keeps those messages of a batch that are among the slowest so far. Of
// its interval only the slowest matters.
func (j *joiner) slowOf(latencies stats.Batch, interval int, p *producer, b *block, seqs []int64, g int, o origin, received int64, broker []int64) {
	slowest := latencies.Max()
	for i, ns := range latencies.Values() {
		if ns > j.slowest.least || ns == slowest && j.slowest.worth(interval, ns) {
			at := seqs[i] & (blockSize - 1)
			j.keepSlow(interval, p.id, seqs[i], g, o, b.intended[at], b.sent[at], b.acked[at], received, broker[i])
		}
	}
}

// sameDeliveries is the end of the deliveries from pos on that share producer,
// group, partition and stamp, of polls that were not measured, and that all have
// a broker's stamp or all none.
func (s *receivedStream) sameDeliveries() int {
	c := s.cols
	end := sameInts(&c[2], s.pos, s.n)
	if end-s.pos < leastBatch {
		return end
	}
	for _, column := range [...]int{0, 4, 6} {
		end = sameInts(&c[column], s.pos, end)
	}
	end = sameCodes(&c[3], s.pos, end)
	broker := c[5].Ints
	if broker[s.pos] == rawlog.Null {
		return sameInts(&c[5], s.pos, end)
	}
	for i := s.pos; i < end; i++ {
		if broker[i] == rawlog.Null {
			return i
		}
	}
	return end
}

// sinceSent is the batch of latencies since messages were sent; an empty one where
// only those since they were due are wanted.
func (j *joiner) sinceSent(b *block, received int64, seqs []int64) (stats.Batch, bool) {
	if j.only {
		return stats.Batch{}, true
	}
	values := j.scratch.b[:len(seqs)]
	for i, q := range seqs {
		values[i] = received - b.sent[q&(blockSize-1)]
	}
	return stats.NewBatch(values)
}

// sinceBroker is the batch of latencies since the broker's stamps; an empty one
// where there are none.
func (j *joiner) sinceBroker(received int64, stamps []int64) (stats.Batch, bool) {
	if stamps[0] == rawlog.Null {
		return stats.Batch{}, true
	}
	values := j.scratch.c[:len(stamps)]
	for i, at := range stamps {
		values[i] = received - at
	}
	return stats.NewBatch(values)
}

// stamped counts the stamps of deliveries that came with one received stamp.
func (s *receivedStream) stamped(stamps *Stamps, received int64, broker []int64) {
	if received != s.stamp {
		s.stamp = received
		stamps.receivedStamp(received)
	}
	stamps.Deliveries += int64(len(broker))
	if broker[0] == rawlog.Null {
		return
	}
	stamps.BrokerDeliveries += int64(len(broker))
	for _, at := range broker {
		if at != s.broker {
			s.broker = at
			stamps.brokerStamp(at)
		}
	}
}

// ordered counts what came behind a later message of its producer and partition.
// seqs ascend.
func (s *receivedStream) ordered(j *joiner, producer, partition int64, seqs []int64) {
	last := s.highest(j, highKey{producer, partition})
	for _, seq := range seqs {
		if seq >= *last {
			break
		}
		j.step.Accounting.OutOfOrder++
	}
	*last = max(*last, seqs[len(seqs)-1])
}
