package analysis

import (
	"math"
	"time"

	"queuebench/rawlog"
	"queuebench/stats"
)

// Nearly all messages of a log are acknowledged, come once and after their row,
// and stand next to others of the same producer, batch and interval: such rows
// are counted together. Whatever is different is counted row by row; both give
// the same digest.

// plainMessage is the state of a message that is counted in a batch.
const plainMessage = hasRow | wasAcked

// leastBatch is from how many deliveries on a batch costs less than they do one
// by one.
const leastBatch = 4

// scratch is the memory of one batch.
type scratch struct {
	a, b, c [stats.MaxBatch]int64
}

// sameInts is the end of the run of equal numbers from pos on, at most end.
func sameInts(c *rawlog.Values, pos, end int) int {
	if c.Same {
		return end
	}
	return sameFrom(c.Ints, pos, end)
}

// sameCodes is sameInts of strings.
func sameCodes(c *rawlog.Values, pos, end int) int {
	if c.Same {
		return end
	}
	return sameFrom(c.Codes, pos, end)
}

func sameFrom[T comparable](values []T, pos, end int) int {
	v := values[pos]
	for pos++; pos < end && values[pos] == v; pos++ {
	}
	return pos
}

// batch takes the rows from pos on that can be counted together, and returns how
// many: 0 where the next one is to be counted by itself.
func (s *sentStream) batch(j *joiner, limit int64) int {
	c, pos := s.cols, s.pos
	if pos < s.single || j.single {
		return 0
	}
	if pos >= s.alike {
		s.alike = s.sameRows(j)
	}
	seq, intended := c[1].Ints, c[2].Ints
	p := j.producer(c[0].Ints[pos])
	live := j.sending.at(intended[pos])
	code := c[5].Codes[pos]
	if p == nil || live == nil || live.from == rawlog.Null || seq[pos] < 0 || code < 0 || s.statuses[code] != rawlog.Acked {
		return 0
	}
	before := min(p.watermark, j.until, live.to, upTo(limit))
	b := p.rowBlock
	if b == nil || b.index != seq[pos]>>blockBits {
		if seq[pos] >= j.maxSeq {
			return 0
		}
		if b = j.block(p, seq[pos]>>blockBits); b == nil || b == doneBlock || b == asideBlock {
			return 0
		}
		p.rowBlock = b
	}
	if b.early != nil || before <= live.from {
		return 0
	}
	end := min(s.alike, pos+stats.MaxBatch)
	base, span, from := b.index<<blockBits, uint64(before-live.from), live.from
	seqs, times := seq[pos:end], intended[pos:end]
	n := 0
	for i, q := range seqs {
		at, t := uint64(q-base), times[i]
		if at >= blockSize || q >= j.maxSeq || b.state[at] != openMessage || uint64(t-from) >= span {
			break
		}
		b.state[at], b.intended[at] = plainMessage, t
		n++
	}
	if n == 0 {
		return 0
	}
	seqs, times = seqs[:n], times[:n]
	lag, publish, blocked, ok := j.sentBatch(b, live, rowsOf{seqs, times, c[3].Ints[pos : pos+n], c[4].Ints[pos : pos+n], c[6].Ints[pos : pos+n]})
	if !ok {
		for _, q := range seqs {
			b.state[q-base] = openMessage
		}
		s.single = pos + n
		return 0
	}
	a, iv := &j.step.Accounting, &j.step.Intervals[live.index]
	a.Scheduled += int64(n)
	a.Attempted += int64(n)
	a.Acked += int64(n)
	iv.Scheduled += int64(n)
	iv.Blocked += blocked
	if j.by != nil {
		if len(c) > 7 {
			j.rowPartition = c[7].Ints[pos]
		}
		j.by.sending(int64(p.id), j.rowPartition)
		if j.by.inside(times[0]) {
			j.by.sentBatch(lag, publish)
		}
	}
	if b.open -= n; b.open == 0 {
		j.release(p, b, doneBlock)
	}
	return n
}

// sentBatch records the latencies of rows of a block. It returns false where they
// cannot be counted together, and then nothing was counted.
func (j *joiner) sentBatch(b *block, live *liveInterval, rows rowsOf) (lag, publish stats.Batch, blocked time.Duration, ok bool) {
	if j.by != nil && !j.by.room() {
		return lag, publish, 0, false
	}
	if j.only {
		return lag, publish, 0, true
	}
	base, lags, published := b.index<<blockBits, j.scratch.a[:len(rows.seq)], j.scratch.b[:len(rows.seq)]
	sent, acked, times := rows.sent[:len(lags)], rows.acked[:len(lags)], rows.intended[:len(lags)]
	published = published[:len(lags)]
	for i, q := range rows.seq {
		at := uint64(q-base) & (blockSize - 1)
		b.sent[at], b.acked[at] = sent[i], acked[i]
		lags[i] = sent[i] - times[i]
		published[i] = acked[i] - times[i]
	}
	var ok1, ok2, ok3 bool
	lag, ok1 = stats.NewBatch(lags)
	publish, ok2 = stats.NewBatch(published)
	own, blocked, ok3 := j.ownLag(lag, rows.blocked)
	if !ok1 || !ok2 || !ok3 {
		return lag, publish, 0, false
	}
	if own.Values() == nil {
		live.common.RecordBatch(lag)
	} else {
		live.counters[recSendLag].RecordBatch(lag)
		live.counters[recOwnLag].RecordBatch(own)
	}
	live.counters[recPublish].RecordBatch(publish)
	return lag, publish, blocked, true
}

// rowsOf are rows next to one another.
type rowsOf struct{ seq, intended, sent, acked, blocked []int64 }

// sameRows is the end of the rows from pos on that share producer and status,
// and partition where messages are told apart by it.
func (s *sentStream) sameRows(j *joiner) int {
	c := s.cols
	end := sameCodes(&c[5], s.pos, s.n)
	end = sameInts(&c[0], s.pos, end)
	if len(c) > 7 && j.by != nil {
		end = sameInts(&c[7], s.pos, end)
	}
	return end
}

// upTo is the first time that lies behind a limit.
func upTo(limit int64) int64 {
	if limit == math.MaxInt64 {
		return limit
	}
	return limit + 1
}

// ownLag is the runner's own part of a batch of lags, which is empty where it is
// all of them: where the client made nobody wait.
func (j *joiner) ownLag(lag stats.Batch, blocked []int64) (own stats.Batch, sum time.Duration, ok bool) {
	waited := int64(0)
	for _, w := range blocked {
		waited |= w
	}
	if waited == 0 && lag.Min() >= 0 {
		return stats.Batch{}, 0, true
	}
	values := j.scratch.c[:len(blocked)]
	for i, v := range lag.Values() {
		values[i] = max(0, v-blocked[i])
		sum += time.Duration(blocked[i])
	}
	own, ok = stats.NewBatch(values)
	return own, sum, ok
}
