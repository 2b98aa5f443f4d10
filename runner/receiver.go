package runner

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"queuebench/clock"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/runner/envelope"
	"queuebench/runner/pace"
	"queuebench/runner/schedule"
	"queuebench/runner/seqset"
)

// receiver is one consumer of a group.
type receiver struct {
	id         int // among the consumers of all groups
	group      *group
	tag        uint32
	partitions int
	clock      *clock.Clock
	start      *atomic.Int64 // of the schedule, ns
	log        receivedLog
	consumer   queue.Consumer

	delay  time.Duration // for each message; 0 for none
	pacing pace.Kind     // of the delay
	stop   *atomic.Bool
	busy   int64 // until then it works on the last message

	hold *hold // until the consumers are released; nil for none
	loop *loop // of a closed loop; nil for none
	poll poll

	tracks []track // per producer

	half     *attendance    // nil but in a consume half
	recorded *recordedGroup // before this process; nil for nothing
	skipped  int64          // deliveries that are recorded already

	deliveries, outOfOrder, stale, foreign, corrupt atomic.Int64

	// idle and the watermark: see tick.
	idle    atomic.Bool
	stamped int64
	logMu   sync.Mutex

	live    *tally
	tallies tallies // on their way to the monitor
}

// receivedLog takes the rows: logwriter.ReceivedWriter, or a test.
type receivedLog interface {
	Reserve(n int) []rawlog.ReceivedRow
	Publish(n int)
	SetWatermark(ns int64)
}

// track is what a receiver has seen of a producer.
type track struct {
	producer int
	head     envelope.Head
	share    schedule.Share
	timed    bool // share is known
	len      int64
	high     []int64 // per partition: the highest seq seen, −1 for none
}

// group is the consumers that share the messages. What one of them has received
// is a duplicate for all: after a rebalance another one may get it again.
type group struct {
	name  string
	mu    sync.Mutex
	marks map[mark]int64 // the seq that each carried
	got   []seqset.Set   // per producer
	count atomic.Int64   // of marks
	fresh atomic.Int64   // distinct messages
}

func newGroup(name string, producers int) *group {
	return &group{name: name, marks: map[mark]int64{}, got: make([]seqset.Set, producers)}
}

// missing is the number of messages of a producer that were acknowledged and
// the group has not received.
func (g *group) missing(producer int, acked *seqset.Set) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return acked.Without(&g.got[producer])
}

type mark struct {
	producer  uint16
	partition int32
}

// seen notes an end mark. The group is locked.
func (g *group) seen(m mark, seq int64) {
	if _, again := g.marks[m]; !again {
		g.marks[m] = seq
		g.count.Add(1)
	}
}

func newReceiver(id int, g *group, tag uint32, s schedule.Schedule, producers, partitions int) *receiver {
	r := &receiver{id: id, group: g, tag: tag, partitions: partitions, tracks: make([]track, producers), live: new(tally)}
	for p := range r.tracks {
		share := schedule.NewShare(s, p, producers)
		high := make([]int64, partitions)
		for i := range high {
			high[i] = -1
		}
		r.tracks[p] = track{producer: p, head: envelope.NewHead(envelope.Data, uint16(p), tag), share: share, timed: true, len: share.Len(), high: high}
	}
	return r
}

func (r *receiver) name() string { return fmt.Sprintf("consumer-%d", r.id) }

// run receives until ctx ends, which is no error.
func (r *receiver) run(ctx context.Context) error {
	defer r.settle()
	r.idle.Store(true)
	if !r.hold.wait(ctx) {
		return nil
	}
	take := func(batch []queue.Delivery) { r.take(batch, r.clock.Now()) }
	if r.delay > 0 {
		w := pace.New(r.clock, r.pacing, r.stop)
		defer w.Close()
		take = func(batch []queue.Delivery) { r.serve(ctx, w, batch) }
	}
	for {
		r.idle.Store(true)
		r.beginPoll()
		batch, err := r.consumer.Receive(ctx)
		r.idle.Store(false)
		if ctx.Err() != nil {
			return nil // what comes after the deadline does not count
		}
		if err != nil {
			return err
		}
		take(batch)
	}
}

// serve takes a batch as a consumer does that polls single messages and works
// on each for the delay: a message is received when its turn comes.
func (r *receiver) serve(ctx context.Context, w *pace.Waiter, batch []queue.Delivery) {
	for i := range batch {
		now := w.Until(r.busy)
		if ctx.Err() != nil || r.stop.Load() {
			return // its turn has not come before the end
		}
		r.take(batch[i:i+1], now)
		r.busy = now + int64(r.delay)
	}
}

// settle says that nothing more comes: what was received until now is recorded.
func (r *receiver) settle() {
	r.logMu.Lock()
	defer r.logMu.Unlock()
	r.log.SetWatermark(r.clock.Now())
}

// take records a batch that was received at now.
func (r *receiver) take(batch []queue.Delivery, now int64) {
	r.logMu.Lock()
	defer r.logMu.Unlock()
	r.group.mu.Lock()
	defer r.group.mu.Unlock()
	if second := r.second(now); second > r.live.second {
		r.live = r.tallies.give(r.live, second)
	}
	var deliveries int64
	for len(batch) > 0 {
		first, n := r.startOfRun(batch)
		if n > 0 {
			if deliveries == 0 {
				r.endPoll(now)
			}
			r.takeRun(first, batch[:n], now)
			deliveries += int64(n)
		}
		batch = batch[max(n, 1):]
	}
	if r.half != nil && deliveries > 0 {
		r.half.last.Store(now)
	}
	r.deliveries.Add(deliveries)
	r.stamped = now
	r.log.SetWatermark(now)
	r.live.deliveries += deliveries
	if r.tallies.wanted.Load() {
		r.live = r.tallies.give(r.live, r.live.second)
	}
}

// startOfRun decodes the first delivery of a batch and counts those that go on
// from it: of one producer and partition, with seqs that ascend by 1. n is 0 if
// the first is no message of the step.
func (r *receiver) startOfRun(batch []queue.Delivery) (first envelope.ID, n int) {
	partition := batch[0].Partition
	id, err := envelope.Decode(batch[0].Payload)
	if err != nil || id.Tag != r.tag || int(id.Producer) >= len(r.tracks) && !r.grow(id.Producer) {
		r.notOurs(err)
		return id, 0
	}
	if id.Kind != envelope.Data {
		r.mark(id, &batch[0])
		return id, 0
	}
	t := &r.tracks[id.Producer]
	if r.half != nil && !r.attends(t, id, &batch[0]) {
		return id, 0
	}
	if id.Seq >= t.len || partition < 0 || int(partition) >= r.partitions {
		r.corrupt.Add(1)
		return id, 0
	}
	n = 1
	for next := id.Seq + 1; n < len(batch) && next < t.len && batch[n].Partition == partition; n, next = n+1, next+1 {
		if seq, ok := t.head.Seq(batch[n].Payload); !ok || seq != next || r.recorded.again(id.Producer, seq, partition, batch[n].Offset) {
			break
		}
	}
	return id, n
}

// takeRun counts and records deliveries of one producer and partition, whose
// seqs ascend by 1 from first.
func (r *receiver) takeRun(first envelope.ID, run []queue.Delivery, now int64) {
	t := &r.tracks[first.Producer]
	got, high := &r.group.got[first.Producer], &t.high[run[0].Partition]
	from, to := first.Seq, first.Seq+int64(len(run))
	if from > *high && got.AddRange(from, to) {
		*high = to - 1
		r.fresh(t, from, to, now)
	} else {
		for seq := from; seq < to; seq++ {
			if !got.Add(seq) {
				continue
			}
			if seq < *high {
				r.outOfOrder.Add(1)
			} else {
				*high = seq
			}
			r.fresh(t, seq, seq+1, now)
		}
	}
	row := rawlog.ReceivedRow{Consumer: int32(r.id), Group: r.group.name, Producer: int32(first.Producer), ReceivedNs: now, Partition: run[0].Partition, PolledNs: r.poll.at}
	for seq := from; len(run) > 0; {
		rows := r.log.Reserve(len(run))
		for i := range rows {
			d := &run[i]
			rows[i] = row
			rows[i].Seq, rows[i].Offset, rows[i].BrokerNs, rows[i].BrokerKind = seq, d.Offset, d.BrokerNs, d.BrokerKind
			seq++
		}
		r.log.Publish(len(rows))
		run = run[len(rows):]
	}
}

// fresh counts messages that the group did not have before.
func (r *receiver) fresh(t *track, from, to, now int64) {
	if r.loop != nil && len(r.loop.lines) > 0 {
		r.freshOf(r.loop.lines[t.producer], from, to, now)
		return
	}
	r.group.fresh.Add(to - from)
	if !t.timed {
		return
	}
	start := r.scheduleStart()
	for seq := from; seq < to; seq++ {
		// A latency beyond the histogram's 30 days is in the log all the same.
		_ = r.live.latencies.Record(now - start - t.share.At(seq))
	}
}

// scheduleStart is when the schedule began, by the own clock.
func (r *receiver) scheduleStart() int64 {
	if r.half != nil {
		return r.half.started.Load()
	}
	return r.start.Load()
}

func (r *receiver) notOurs(err error) {
	switch err {
	case nil:
		r.stale.Add(1)
	case envelope.ErrCorrupt:
		r.corrupt.Add(1)
	default:
		r.foreign.Add(1)
	}
}

// second is the second of the step, from 0, in which now lies.
func (r *receiver) second(now int64) int64 {
	start := r.start.Load()
	if start == 0 { // the load has not begun
		return 0
	}
	return max(0, now-start) / int64(time.Second)
}

// offer hands over what a receiver that waits has counted. It returns at once
// when the receiver is at work: it hands over by itself then.
func (r *receiver) offer() {
	second := r.second(r.clock.Now()) // before idle is read: what is received later is stamped later
	if !r.idle.Load() || !r.logMu.TryLock() {
		return
	}
	defer r.logMu.Unlock()
	if second >= r.live.second {
		r.live = r.tallies.give(r.live, second)
	}
}

// tick says that a receiver that waits has received everything so far, for the
// log's watermark. It returns at once when the receiver is at work.
func (r *receiver) tick() {
	now := r.clock.Now() // before idle is read: what is received later is stamped later
	if !r.idle.Load() || !r.logMu.TryLock() {
		return
	}
	defer r.logMu.Unlock()
	if now > r.stamped {
		r.log.SetWatermark(now)
	}
}
