package deltalake

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"queuebench/objectstore"
	"queuebench/queue"
)

// writer is the one writer of a table. All producers of a queue share it, so
// that their messages are committed together: several writers on one log
// collapse (56 of 400 commits a second at eight writers).
//
// Three goroutines pass batches on. The cutter ends a batch when the timer
// fires or the batch is full, and encodes it; a PUT per batch stores its data;
// the committer commits one batch after the other, in order. So the data of
// one batch is stored while another one is committed.
type writer struct {
	t         *table
	id        string // makes the names of data files unique
	committer committer
	encoder   *encoder
	ctx       context.Context
	cancel    context.CancelFunc
	wg        sync.WaitGroup
	full      chan struct{} // a batch was sealed before its time
	slots     chan struct{} // one for each batch under way
	commits   chan *batch

	mu       sync.Mutex
	open     *batch   // being filled
	sealed   []*batch // full, waiting for the cutter, in order
	free     []*batch
	bytes    int64 // of payload, open, sealed or under way
	refs     []*Producer
	underWay []*batch // between cutter and committer, in order
	err      error    // fatal
	events   []queue.Event

	number int64         // of the next batch; the cutter's
	acks   []producerAck // the committer's

	checkpoints checkpointer
}

// openWriter opens the table and starts the goroutines. They end with close.
func openWriter(ctx context.Context, t *table) (*writer, error) {
	e, err := newEncoder(t.cfg)
	if err != nil {
		return nil, err
	}
	w := &writer{
		t: t, id: uuid.NewString(), encoder: e, full: make(chan struct{}, 1), open: newBatch(),
		slots: make(chan struct{}, t.cfg.Pipeline), commits: make(chan *batch, t.cfg.Pipeline),
	}
	s, err := t.openForWriting(ctx, w.event)
	if err != nil {
		return nil, err
	}
	appID := t.cfg.AppID
	if appID == "" {
		appID = "queuebench-" + w.id
	}
	w.number = s.txns[appID].Version + 1
	w.checkpoints = newCheckpointer(t, s)
	w.committer = committer{t: t, appID: appID, next: s.version + 1, event: w.event, seen: w.checkpoints.seen}
	if t.cfg.AppID != "" && s.version > 0 {
		// Whoever still writes under this AppID finds this version taken by
		// it, and fences itself.
		w.committer.opening = true
		if _, _, err := w.committer.commit(ctx, "OPEN", action{Txn: &txn{AppID: appID, Version: w.number, LastUpdated: t.cfg.Clock.Now() / 1e6}}); err != nil {
			return nil, err
		}
		w.number++
		w.committer.opening = false
	}
	w.ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	w.wg.Go(w.cut)
	w.wg.Go(w.commitAll)
	return w, nil
}

// event tells a producer; what happens before there is one is kept for it.
func (w *writer) event(kind, text string) {
	w.mu.Lock()
	var to *Producer
	for _, p := range w.refs {
		if p.cfg.Event != nil {
			to = p
			break
		}
	}
	e := queue.Event{Kind: kind, Text: fmt.Sprintf("partition %d: %s", w.t.partition, text)}
	if to == nil && len(w.refs) == 0 {
		w.events = append(w.events, e)
	}
	w.mu.Unlock()
	if to != nil {
		to.event(e)
	}
}

// cut ends a batch every CommitInterval, on a grid that does not drift, or
// when it is full.
func (w *writer) cut() {
	defer close(w.commits)
	T := w.t.cfg.CommitInterval
	phase := w.t.cfg.Phase
	if !w.t.cfg.FixedPhase {
		phase = rand.N(T)
	}
	// The grid is tied to the clock, so that writers with equal phases tick
	// together, and different ones do not.
	now := w.t.cfg.Clock.Now()
	next := now - now%int64(T) + int64(phase)
	w.event("phase", fmt.Sprintf("the commit timer of %v fires at %v after each multiple", T, phase))
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		for next <= w.t.cfg.Clock.Now() {
			next += int64(T)
		}
		timer.Reset(time.Duration(next - w.t.cfg.Clock.Now()))
		due := false
		select {
		case <-timer.C:
			due = true
		case <-w.full:
		case <-w.ctx.Done():
			return
		}
		for {
			select {
			case w.slots <- struct{}{}:
			case <-w.ctx.Done():
				return
			}
			b := w.take(due || next <= w.t.cfg.Clock.Now())
			if b == nil {
				<-w.slots
				break
			}
			w.send(b)
		}
	}
}

// take returns the oldest full batch, or else the open one if it is due, or
// nil.
func (w *writer) take(due bool) *batch {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		var b *batch
		switch {
		case w.err != nil:
			return nil
		case len(w.sealed) > 0:
			b = w.sealed[0]
			w.sealed = slices.Delete(w.sealed, 0, 1)
		case due && len(w.open.ends) > 0:
			b, w.open = w.open, w.spare()
		default:
			return nil
		}
		if b.rows = b.live(); b.rows > 0 {
			w.underWay = append(w.underWay, b)
			return b
		}
		w.recycle(b)
	}
}

// spare is an empty batch. The lock is held.
func (w *writer) spare() *batch {
	if n := len(w.free); n > 0 {
		b := w.free[n-1]
		w.free = w.free[:n-1]
		return b
	}
	return newBatch()
}

// recycle gives up a batch and its bytes. The lock is held.
func (w *writer) recycle(b *batch) {
	w.bytes -= int64(len(b.data))
	b.reset()
	w.free = append(w.free, b)
	for _, p := range w.refs {
		wake(p.room)
	}
}

// send encodes a batch and starts the PUT of its data.
func (w *writer) send(b *batch) {
	clk := w.t.cfg.Clock
	b.cutAt = clk.Now()
	b.number = w.number
	w.number++
	b.key = fmt.Sprintf("part-%s-%010d.parquet", w.id, b.number)
	err := w.encoder.encode(b, b.cutAt/1e6)
	b.size = int64(b.file.Len())
	encoded := clk.Now()
	b.trace = queue.Trace{Partition: w.t.partition, Offset: -1, Messages: int(b.rows), Bytes: b.size}
	b.trace.Set(queue.StageWait, time.Duration(b.cutAt-b.first))
	b.trace.Set(queue.StageEncode, time.Duration(encoded-b.cutAt))
	w.commits <- b // never full: it has as much room as there are slots
	if err != nil {
		b.stored <- err
		return
	}
	w.wg.Go(func() {
		tries, err := w.t.retry(w.ctx, "PUT of "+b.key, w.event, func() error {
			return w.t.put(w.ctx, b.key, b.file.Bytes(), objectstore.PutOptions{})
		})
		if tries > 1 || err != nil {
			// A request that was given up may still read the bytes.
			b.file = bytes.Buffer{}
		}
		b.storedAt = clk.Now()
		b.trace.Set(queue.StageDataPut, time.Duration(b.storedAt-encoded))
		b.stored <- err
	})
}

// commitAll commits batch after batch. After a fatal error it fails them all.
func (w *writer) commitAll() {
	clk := w.t.cfg.Clock
	for b := range w.commits {
		err := <-b.stored
		if err != nil {
			err = fmt.Errorf("deltalake: data file %s of table %s: %w", b.key, w.t.name, err)
		}
		if fatal := w.fatal(); fatal != nil {
			err = fatal
		}
		version := int64(-1)
		if err == nil {
			begun := clk.Now()
			// Waiting for the commit before this one is waiting, too.
			b.trace.Took[queue.StageWait] += time.Duration(begun - b.storedAt)
			version, b.trace.Tries, err = w.commitBatch(b)
			b.trace.Set(queue.StageCommitPut, time.Duration(clk.Now()-begun))
		}
		w.finish(b, version, err)
		<-w.slots
		if err == nil {
			w.checkpoints.maybe(w.ctx, &w.wg, w.event)
		}
	}
}

func (w *writer) commitBatch(b *batch) (int64, int, error) {
	return w.committer.commit(w.ctx, "WRITE",
		action{Txn: &txn{AppID: w.committer.appID, Version: b.number, LastUpdated: w.t.cfg.Clock.Now() / 1e6}},
		action{Add: &addFile{
			Path: b.key, PartitionValues: map[string]*string{}, Size: b.size, ModificationTime: b.cutAt / 1e6,
			DataChange: true, Stats: fmt.Sprintf(`{"numRecords":%d}`, b.rows),
		}})
}

func (w *writer) fatal() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// finish tells the producers of a batch its fate. A fatal error is the fate
// of all that waits behind it, too.
func (w *writer) finish(b *batch, version int64, err error) {
	b.trace.Offset = version
	var tracer *Producer
	w.mu.Lock()
	for i := range b.runs {
		if err == nil && b.runs[i].p.cfg.Trace != nil {
			tracer = b.runs[i].p
			break
		}
	}
	w.acks = b.take(nil, w.acks[:0], version, err)
	w.underWay = slices.DeleteFunc(w.underWay, func(o *batch) bool { return o == b })
	if err != nil && w.err == nil {
		w.err = err
		for _, lost := range append(w.sealed, w.open) {
			w.acks = lost.take(nil, w.acks, -1, err)
			w.recycle(lost)
		}
		w.sealed, w.open = nil, w.spare()
	}
	trace := b.trace
	w.recycle(b)
	w.mu.Unlock()
	if tracer != nil {
		tracer.trace(trace)
	}
	w.settle(w.acks)
}

// settle tells acknowledgements, those of one producer in a row in one call.
func (w *writer) settle(acks []producerAck) {
	for len(acks) > 0 {
		n := 1
		for n < len(acks) && acks[n].p == acks[0].p {
			n++
		}
		acks[0].p.settle(w.t.partition, acks[:n])
		acks = acks[n:]
	}
}

// giveUp takes the messages of a producer that are not under way, or all of
// them, and tells their fate.
func (w *writer) giveUp(p *Producer, underWay bool) {
	var acks []producerAck
	w.mu.Lock()
	if underWay {
		for _, b := range w.underWay {
			acks = b.take(p, acks, -1, errInFlight)
		}
	}
	for _, b := range append(slices.Clone(w.sealed), w.open) {
		acks = b.take(p, acks, -1, errAbandoned)
	}
	w.mu.Unlock()
	w.settle(acks)
}

// close ends the goroutines, and whatever they have under way.
func (w *writer) close() {
	w.cancel()
	w.wg.Wait()
}

// tellEarlyEvents tells what happened before there was a producer to tell.
func (w *writer) tellEarlyEvents(p *Producer) {
	w.mu.Lock()
	events := w.events
	w.events = nil
	w.mu.Unlock()
	for _, e := range events {
		p.event(e)
	}
}
