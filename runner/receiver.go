package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"queuebench/clock"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/runner/envelope"
	"queuebench/runner/identity"
	"queuebench/runner/pace"
	"queuebench/runner/schedule"
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

	elsewhere  *identity.Reader // of identities that are not the first bytes; nil for none
	headerLine []byte           // a message that is none; nil for none
	unframe    func([]byte) ([]byte, error)

	half     *attendance    // nil but in a consume half
	recorded *recordedGroup // before this process; nil for nothing
	skipped  int64          // deliveries that are recorded already

	deliveries, outOfOrder, stale, foreign, corrupt, misframed atomic.Int64
	whyMisframed                                               string // the first; guarded by logMu

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
		if ctx.Err() != nil || errors.Is(err, queue.ErrEnd) {
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
