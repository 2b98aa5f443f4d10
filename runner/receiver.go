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

	tracks []track // per producer

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
	Append(rawlog.ReceivedRow)
	SetWatermark(ns int64)
}

// track is what a receiver has seen of a producer.
type track struct {
	share schedule.Share
	len   int64
	high  []int64 // per partition: the highest seq seen, −1 for none
}

// group is the consumers that share the messages. What one of them has received
// is a duplicate for all: after a rebalance another one may get it again.
type group struct {
	name  string
	mu    sync.Mutex
	marks map[mark]bool
	got   []seqset.Set // per producer
	count atomic.Int64 // of marks
	fresh atomic.Int64 // distinct messages
}

func newGroup(name string, producers int) *group {
	return &group{name: name, marks: map[mark]bool{}, got: make([]seqset.Set, producers)}
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
func (g *group) seen(m mark) {
	if !g.marks[m] {
		g.marks[m] = true
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
		r.tracks[p] = track{share: share, len: share.Len(), high: high}
	}
	return r
}

func (r *receiver) name() string { return fmt.Sprintf("consumer-%d", r.id) }

// run receives until ctx ends, which is no error.
func (r *receiver) run(ctx context.Context) error {
	defer r.settle()
	for {
		r.idle.Store(true)
		batch, err := r.consumer.Receive(ctx)
		r.idle.Store(false)
		if ctx.Err() != nil {
			return nil // what comes after the deadline does not count
		}
		if err != nil {
			return err
		}
		r.take(batch, r.clock.Now())
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
	row := rawlog.ReceivedRow{Consumer: int32(r.id), Group: r.group.name, ReceivedNs: now}
	start := r.start.Load()
	if second := r.second(now); second > r.live.second {
		r.live = r.tallies.give(r.live, second)
	}
	var deliveries, fresh int64
	for i := range batch {
		d := &batch[i]
		id, err := envelope.Decode(d.Payload)
		if err != nil || id.Tag != r.tag || int(id.Producer) >= len(r.tracks) {
			r.notOurs(err)
			continue
		}
		t := &r.tracks[id.Producer]
		if id.Kind == envelope.End {
			r.group.seen(mark{id.Producer, d.Partition})
			continue
		}
		if id.Seq >= t.len || d.Partition < 0 || int(d.Partition) >= r.partitions {
			r.corrupt.Add(1)
			continue
		}
		deliveries++
		if r.group.got[id.Producer].Add(id.Seq) {
			fresh++
			if high := &t.high[d.Partition]; id.Seq < *high {
				r.outOfOrder.Add(1)
			} else {
				*high = id.Seq
			}
			// A latency beyond the histogram's 30 days is in the log all the same.
			_ = r.live.latencies.Record(now - start - t.share.At(id.Seq))
		}
		row.Producer, row.Seq, row.Partition, row.Offset = int32(id.Producer), id.Seq, d.Partition, d.Offset
		row.BrokerNs, row.BrokerKind = d.BrokerNs, d.BrokerKind
		r.log.Append(row)
	}
	r.deliveries.Add(deliveries)
	r.group.fresh.Add(fresh)
	r.stamped = now
	r.log.SetWatermark(now)
	r.live.deliveries += deliveries
	if r.tallies.wanted.Load() {
		r.live = r.tallies.give(r.live, r.live.second)
	}
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
