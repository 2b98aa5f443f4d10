package runner

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/runner/ledger"
)

// line is a producer at which the workers of a closed loop take turns, in the
// order in which their operations began.
type line struct {
	loop *loop
	p    *sender

	turn turn
	one  [1]queue.Message

	mu       sync.Mutex
	position int64                // of the next message among those that the client took
	open     map[int64]*operation // by position, and by seq where receipt is awaited
	sent     sentTimes
}

// turn is a lock that is given in the order in which it was asked for.
type turn struct {
	mu      sync.Mutex
	held    bool
	waiting []chan struct{}
}

// ask asks for the turn. It has come when the channel is closed; nil: at once.
func (t *turn) ask() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.held {
		t.held = true
		return nil
	}
	ch := make(chan struct{})
	t.waiting = append(t.waiting, ch)
	return ch
}

func (t *turn) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		t.held = false
		return
	}
	close(t.waiting[0])
	t.waiting = t.waiting[1:]
}

func newLine(l *loop, p *sender) *line {
	ln := &line{loop: l, p: p, open: map[int64]*operation{}, sent: newSentTimes(len(l.s.senders) + 1)}
	ln.one[0].Partition = queue.AnyPartition
	return ln
}

// do begins an operation: it sends a message. It returns nil when there are no
// more, or with an error when this producer cannot go on.
func (ln *line) do(ctx context.Context, freed chan<- struct{}) (*operation, error) {
	var mine <-chan struct{}
	at, warm, ok := ln.loop.begin(func(int64) { mine = ln.turn.ask() })
	if !ok {
		return nil, nil
	}
	if mine != nil {
		<-mine // whoever has the turn ends with ctx
	}
	defer ln.turn.leave()
	o := &operation{loop: ln.loop, began: at, warm: warm, freed: freed}
	if err := ln.send(ctx, o); err != nil {
		return nil, err
	}
	return o, nil
}

// send sends the message of an operation.
func (ln *line) send(ctx context.Context, o *operation) error {
	p := ln.p
	p.books.Next(o.began)
	var slots []ledger.Entry
	for slots = p.books.Slots(1); len(slots) == 0; slots = p.books.Slots(1) {
		// As many as may be in flight were abandoned.
		if ctx.Err() != nil {
			return ctx.Err()
		}
		time.Sleep(roomPause)
	}
	seq := p.seq
	p.source.Next()
	if !p.source.Fill(&ln.one[0], seq) {
		return p.source.Err()
	}
	slots[0] = ledger.Entry{Seq: seq, Intended: o.began, Sent: o.began, Blocked: p.clock.Now() - o.began}
	key := ln.await(o, seq)
	p.seq++
	p.books.Register(1)
	n, err := p.producer.Send(ctx, ln.one[:])
	if n == 1 {
		return nil
	}
	ln.forget(key)
	p.books.Retract(1, ctx.Err() != nil)
	if ctx.Err() != nil || errors.Is(err, queue.ErrClosed) || errors.Is(err, queue.ErrBroken) {
		return err
	}
	p.refusals.add(p.events, p.name(), 1, err)
	o.end(failed, p.clock.Now())
	return nil
}

// await notes an operation before its message is handed over.
func (ln *line) await(o *operation, seq int64) (key int64) {
	ln.sent.put(seq, o.began)
	o.waits.Store(1)
	if ln.loop.cfg.Mode == rawlog.ModeEndToEnd {
		o.waits.Store(int32(len(ln.loop.s.groups)))
	}
	ln.mu.Lock()
	defer ln.mu.Unlock()
	key = ln.position
	ln.position++
	ln.open[key] = o
	if ln.loop.cfg.Mode == rawlog.ModeEndToEnd {
		ln.open[bySeq(seq)] = o
	}
	return key
}

// bySeq is the key of a seq beside those of positions.
func bySeq(seq int64) int64 { return -1 - seq }

// forget takes back what Send did not take.
func (ln *line) forget(key int64) {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	delete(ln.open, key)
	delete(ln.open, bySeq(ln.p.seq-1))
	ln.position--
}

// take removes an operation; nil where there is none.
func (ln *line) take(key int64) *operation {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	o := ln.open[key]
	delete(ln.open, key)
	return o
}

// acked hears of fates.
func (ln *line) acked(acks []queue.Ack) {
	now := ln.p.clock.Now()
	for i := range acks {
		for at := acks[i].First; at < acks[i].First+acks[i].N; at++ {
			o := ln.take(at)
			switch {
			case o == nil: // an end mark
			case acks[i].Err != nil:
				o.end(failed, now)
			case ln.loop.cfg.Mode == rawlog.ModeProduce:
				o.end(completed, now)
			}
		}
	}
}

// received hears that a group has a message.
func (ln *line) received(seq, now int64) {
	ln.mu.Lock()
	o := ln.open[bySeq(seq)]
	if o != nil && o.waits.Add(-1) == 0 {
		delete(ln.open, bySeq(seq))
	} else {
		o = nil
	}
	ln.mu.Unlock()
	if o != nil {
		o.end(completed, now)
	}
}

// freshOf counts messages of a closed loop that the group did not have before.
func (r *receiver) freshOf(ln *line, from, to, now int64) {
	for seq := from; seq < to; seq++ {
		if at, ok := ln.sent.get(seq); ok {
			_ = r.live.latencies.Record(now - at) // what is beyond its 30 days is in the log
		}
		if ln.loop.cfg.Mode == rawlog.ModeEndToEnd {
			ln.received(seq, now)
		}
	}
	r.group.fresh.Add(to - from)
}

// sentTimes keeps when the last messages were sent, for latencies that are shown
// while the step runs. Older ones are in the log.
type sentTimes struct{ ring []sentTime }

// sentTime is of the message before next; the zero value of none.
type sentTime struct{ next, at atomic.Int64 }

// newSentTimes shares a bounded memory, 16 MB, among producers.
func newSentTimes(producers int) sentTimes {
	n := 1 << 10
	for 2*n*producers <= 1<<20 {
		n *= 2
	}
	return sentTimes{make([]sentTime, n)}
}

func (t *sentTimes) put(seq, at int64) {
	e := &t.ring[seq&int64(len(t.ring)-1)]
	e.next.Store(0) // a reader sees either seq with its time
	e.at.Store(at)
	e.next.Store(seq + 1)
}

func (t *sentTimes) get(seq int64) (at int64, ok bool) {
	e := &t.ring[seq&int64(len(t.ring)-1)]
	if e.next.Load() != seq+1 {
		return 0, false
	}
	at = e.at.Load()
	return at, e.next.Load() == seq+1
}
