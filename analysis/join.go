package analysis

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"queuebench/rawlog"
)

const (
	blockBits = 10
	blockSize = 1 << blockBits // messages of a block
	// A block that lies so many behind the newest of its producer is moved
	// aside when at most an eighth of it is still open.
	asideBehind = 16
	asideShare  = blockSize / 8
	// maxOpenBlocks bounds the memory of a join: 67 million messages in
	// flight at 17 B each.
	maxOpenBlocks = 1 << 16
	maxGroups     = 64
	maxProducers  = 1 << 16
	// maxSeconds bounds ReceivedPerSecond: 11 days.
	maxSeconds = 1_000_000
)

// The state of a message in a block.
const (
	hasRow      uint8 = 1 << iota // its row of sent was seen
	wasAcked                      //
	wasOverrun                    // never sent: nothing is awaited
	isUnknown                     // beyond the watermark: nothing is counted
	openMessage uint8 = 0
)

// block is blockSize messages of one producer, next to one another by seq, from
// the moment when the first row or delivery of one is seen until all of them
// have both.
type block struct {
	index    int64
	open     int // rows and deliveries that are still awaited
	intended [blockSize]int64
	sent     [blockSize]int64 // 0 where it was not handed over
	state    [blockSize]uint8
	got      [][blockSize / 64]uint64 // by group: first deliveries
	early    []early                  // deliveries before their row, group by group
}

// early is a delivery whose row of sent was not seen yet.
type early struct{ received, broker int64 }

// straggler is a message of a block that was moved aside.
type straggler struct {
	intended, sent int64
	state          uint8
	got            uint64  // groups
	early          []early // by group, as above
}

// The blocks that are no longer there.
var (
	doneBlock  = new(block)
	asideBlock = new(block)
)

type messageKey struct {
	producer int32
	seq      int64
}

// producer is what a join knows of a producer.
type producer struct {
	id        int32
	watermark int64 // of its rows, ns since the epoch
	blocks    map[int64]*block
	newest    int64
	// The blocks used last, by rows and by deliveries.
	rowBlock, deliveryBlock *block
}

// joiner joins the rows of sent with those of received, of one repeat of one
// step, and counts. Its memory is that of the messages in flight: a block is
// given up when each of its messages is done, and the last open ones of an old
// block are moved aside, so that a lost message does not hold a thousand.
type joiner struct {
	step   *StepDigest
	start  int64
	groups []string
	// sentWhole: no row of sent is missing; receivedWhole likewise.
	sentWhole, receivedWhole bool
	// until is the watermark of the deliveries, ns since the epoch.
	until     int64
	maxSeq    int64
	endToEnd  bool // clocks can be compared
	sending   *recorder
	receiving *recorder

	producers map[int32]*producer
	lastOne   *producer
	aside     map[messageKey]*straggler
	free      []*block
	openCount int
	err       error
}

// Positions in the recorders.
const (
	recSendLag = iota
	recOwnLag
	recPublish
)
const (
	recEndToEnd = iota
	recFromSend
	recBroker
)

func newJoiner(s *StepDigest, groups []string) *joiner {
	return &joiner{
		step: s, start: s.StartNs, groups: groups, until: math.MaxInt64, endToEnd: s.NoEndToEnd == "",
		sending:   newRecorder(s.StartNs, s.Intervals, int(SendLag), ownSeries, int(Publish)),
		receiving: newRecorder(s.StartNs, s.Intervals, int(EndToEnd), int(EndToEndFromSend), int(BrokerToConsumer)),
		producers: map[int32]*producer{}, aside: map[messageKey]*straggler{},
	}
}

func (j *joiner) producer(id int64) *producer {
	if p := j.lastOne; p != nil && int64(p.id) == id {
		return p
	}
	if id < 0 || id >= maxProducers {
		return nil
	}
	p := j.producers[int32(id)]
	if p == nil {
		p = &producer{id: int32(id), watermark: math.MaxInt64, blocks: map[int64]*block{}}
		if !j.sentWhole {
			// A producer without a part of its own: nothing is known of it.
			p.watermark = math.MinInt64
		}
		j.producers[int32(id)] = p
	}
	j.lastOne = p
	return p
}

// block returns a block of p, makes it if it is new; nil once memory is
// exhausted, with j.err set.
func (j *joiner) block(p *producer, index int64) *block {
	b := p.blocks[index]
	if b != nil {
		return b
	}
	if j.openCount++; j.openCount > maxOpenBlocks {
		j.err = fmt.Errorf("more than %d messages in flight at one time: too many to join in memory", maxOpenBlocks*blockSize)
		return nil
	}
	if n := len(j.free); n > 0 {
		b, j.free = j.free[n-1], j.free[:n-1]
		b.state, b.early = [blockSize]uint8{}, nil
		clear(b.got)
	} else {
		b = &block{got: make([][blockSize / 64]uint64, len(j.groups))}
	}
	b.index, b.open = index, blockSize*(1+len(j.groups))
	p.blocks[index] = b
	if index > p.newest {
		p.newest = index
		j.moveAside(p)
	}
	return b
}

// moveAside frees the old blocks of p that wait for a few messages only.
func (j *joiner) moveAside(p *producer) {
	limit := asideShare * (1 + len(j.groups))
	for index, b := range p.blocks {
		if b == doneBlock || b == asideBlock || index > p.newest-asideBehind || b.open > limit {
			continue
		}
		for i := range b.state {
			if s := j.leftOf(b, i); s != nil {
				j.aside[messageKey{p.id, index<<blockBits + int64(i)}] = s
			}
		}
		j.release(p, b, asideBlock)
	}
}

// leftOf is message i of b as a straggler, or nil when it is done.
func (j *joiner) leftOf(b *block, i int) *straggler {
	var got uint64
	for g := range b.got {
		got |= b.got[g][i>>6] >> (i & 63) & 1 << g
	}
	state := b.state[i]
	if state&wasOverrun != 0 || state&hasRow != 0 && bits.OnesCount64(got) == len(j.groups) {
		return nil
	}
	s := &straggler{intended: b.intended[i], sent: b.sent[i], state: state, got: got}
	if b.early != nil && state&hasRow == 0 && got != 0 {
		for g := range j.groups {
			s.early = append(s.early, b.early[g*blockSize+i])
		}
	}
	return s
}

func (j *joiner) release(p *producer, b *block, left *block) {
	p.blocks[b.index] = left
	if p.rowBlock == b {
		p.rowBlock = nil
	}
	if p.deliveryBlock == b {
		p.deliveryBlock = nil
	}
	j.openCount--
	j.free = append(j.free, b)
}

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
	if live == nil {
		a.RecordsRejected++
		return
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
	b.state[i], b.intended[i], b.sent[i] = state, intended, sent
	b.open--
	if b.early != nil {
		for g := range b.got {
			if b.got[g][i>>6]>>(i&63)&1 != 0 {
				j.early(state, intended, sent, b.early[g*blockSize+i])
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
	s.intended, s.sent = intended, sent
	for g := range j.groups {
		if s.got>>g&1 != 0 && s.early != nil {
			j.early(s.state, intended, sent, s.early[g])
		}
	}
	if s.state&wasOverrun != 0 || bits.OnesCount64(s.got) == len(j.groups) {
		delete(j.aside, key)
	}
}

// countRow counts a row of sent and returns the message's state.
func (j *joiner) countRow(p *producer, live *liveInterval, intended, sent, acked, blocked int64, status rawlog.Status) uint8 {
	a := &j.step.Accounting
	iv := &j.step.Intervals[live.index]
	a.Scheduled++
	iv.Scheduled++
	if intended >= p.watermark || intended >= j.until {
		a.Unknown++
		iv.Unknown++
		return hasRow | isUnknown
	}
	iv.Blocked += time.Duration(blocked)
	never := int64(max(1, len(j.groups)))
	if status == rawlog.Overrun || sent == rawlog.Null {
		a.Overrun++
		iv.Infinite[EndToEnd] += never
		iv.Infinite[EndToEndFromSend] += never
		iv.Infinite[Publish]++
		return hasRow | wasOverrun
	}
	a.Attempted++
	lag := sent - intended
	bad := live.counters[recSendLag].Record(lag) != nil
	bad = live.counters[recOwnLag].Record(max(0, lag-blocked)) != nil || bad
	state := hasRow
	switch {
	case status == rawlog.Acked && acked != rawlog.Null:
		a.Acked++
		state |= wasAcked
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
	return state
}

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
			b.early = make([]early, len(j.groups)*blockSize)
		}
		b.early[g*blockSize+i] = early{received, broker}
	} else {
		j.arrived(state, b.intended[i], b.sent[i], received, broker)
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
			s.early = make([]early, len(j.groups))
		}
		s.early[g] = early{received, broker}
		return true
	}
	j.arrived(s.state, s.intended, s.sent, received, broker)
	if bits.OnesCount64(s.got) == len(j.groups) {
		delete(j.aside, key)
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
	for int64(len(j.step.ReceivedPerSecond)) <= second {
		j.step.ReceivedPerSecond = append(j.step.ReceivedPerSecond, 0)
	}
	j.step.ReceivedPerSecond[second] += n
}

// early takes a delivery that came before its row, now that the row is there.
func (j *joiner) early(state uint8, intended, sent int64, e early) {
	if state&isUnknown != 0 {
		j.step.Accounting.Received--
		j.perSecond(e.received, -1)
		return
	}
	j.arrived(state, intended, sent, e.received, e.broker)
}

// arrived records the latencies of a message that has both its row and a first
// delivery.
func (j *joiner) arrived(state uint8, intended, sent, received, broker int64) {
	if state&isUnknown != 0 {
		return
	}
	a := &j.step.Accounting
	if state&wasAcked == 0 {
		a.ReceivedUnacked++
	}
	if !j.endToEnd {
		return
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
}

// finish counts what is left when all rows were seen.
func (j *joiner) finish() {
	for _, p := range j.producers {
		for _, b := range p.blocks {
			if b == doneBlock || b == asideBlock {
				continue
			}
			for i := range b.state {
				if s := j.leftOf(b, i); s != nil && (s.state != openMessage || s.got != 0) {
					j.missing(s)
				}
			}
		}
	}
	for _, s := range j.aside {
		j.missing(s)
	}
	j.sending.finish()
	j.receiving.finish()
	a := &j.step.Accounting
	a.RecordsUsed = a.Scheduled - a.Unknown
}

// missing counts a message that lacks its row, or deliveries.
func (j *joiner) missing(s *straggler) {
	a := &j.step.Accounting
	if s.state&isUnknown != 0 {
		return
	}
	if s.state&hasRow == 0 {
		for g := range j.groups {
			if s.got>>g&1 != 0 {
				a.Received--
				if s.early != nil {
					j.perSecond(s.early[g].received, -1)
				}
				if j.sentWhole {
					a.Foreign++
				}
			}
		}
		if !j.sentWhole {
			a.Scheduled++
			a.Unknown++
		}
		return
	}
	if s.state&wasAcked == 0 {
		return
	}
	iv := &j.step.Intervals[intervalIndex(j.step.Intervals, s.intended-j.start)]
	if !j.receivedWhole {
		a.Attempted--
		a.Acked--
		a.Unknown++
		iv.Unknown++
		return
	}
	lost := int64(len(j.groups) - bits.OnesCount64(s.got))
	a.Lost += lost
	iv.Infinite[EndToEnd] += lost
	iv.Infinite[EndToEndFromSend] += lost
}
