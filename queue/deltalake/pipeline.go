package deltalake

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"queuebench/objectstore"
	"queuebench/queue"
)

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
	w.event("phase", fmt.Sprintf("the commit timer of %v fires at %v (%d ns) after each multiple", T, phase, int64(phase)))
	if w.t.cfg.Design == AsPathway {
		w.cutAsPathway(phase)
		return
	}
	ticks, first := make(chan struct{}, 1), next
	w.wg.Go(func() { w.tick(ticks, first) })
	for {
		select {
		case <-ticks:
		case <-w.full:
		case <-w.ctx.Done():
			return
		}
		// One tick cuts one batch: what was taken since it was cut waits for
		// the next tick, however long encoding and waiting for a slot took.
		due := false
		for {
			select {
			case w.slots <- struct{}{}:
			case <-w.ctx.Done():
				return
			}
			for next <= w.t.cfg.Clock.Now() {
				due, next = true, next+int64(T)
			}
			b, open := w.take(due)
			if b == nil {
				<-w.slots
				break
			}
			due = due && !open
			w.send(b)
		}
	}
}

// tick fills ticks at next and every CommitInterval after it, not before. What
// is not taken in time is one tick with the one after it.
func (w *writer) tick(ticks chan<- struct{}, next int64) {
	clk, T := w.t.cfg.Clock, int64(w.t.cfg.CommitInterval)
	a := w.t.cfg.newAlarm()
	defer a.Close()
	for {
		now := clk.Now()
		if now >= next {
			wake(ticks)
			next += ((now-next)/T + 1) * T
		}
		if a.Sleep(w.ctx, time.Duration(next-now)) != nil {
			return
		}
	}
}

// take returns the oldest full batch, or else the open one if it is due, or
// nil.
func (w *writer) take(due bool) (b *batch, open bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		open = false
		switch {
		case w.err != nil:
			return nil, false
		case len(w.sealed) > 0:
			b = w.sealed[0]
			w.sealed = slices.Delete(w.sealed, 0, 1)
		case due && w.open.count > 0:
			b, w.open, open = w.open, w.spare(), true
		default:
			return nil, false
		}
		if w.begin(b) != nil {
			return b, open
		}
	}
}

// begin seals a batch and puts it under way, or gives it up if nothing in it
// has an owner. The lock is held.
func (w *writer) begin(b *batch) *batch {
	if b.seal() == 0 {
		w.recycle(b)
		return nil
	}
	if w.counts != nil {
		b.countTxns(w.counts)
	}
	w.underWay = append(w.underWay, b)
	return b
}

// spare is an empty batch, the one that has been free for longest: so that each has
// its turn, and gives up what an outage made it hold. The lock is held.
func (w *writer) spare() *batch {
	if len(w.free) > 0 {
		b := w.free[0]
		w.free = slices.Delete(w.free, 0, 1)
		return b
	}
	return newBatch(w.encoder.pageBytes())
}

// recycle gives up a batch and its bytes. The lock is held.
func (w *writer) recycle(b *batch) {
	w.bytes -= b.bytes
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
	if w.counts == nil {
		b.txns = append(b.txns, txn{AppID: w.committer.appID, Version: b.number})
	}
	b.key = fmt.Sprintf("part-%s-%010d.parquet", w.id, b.number)
	err := w.encoder.encode(b, b.cutAt/1e6)
	b.size = int64(len(b.file))
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
		var tries int
		var err error
		var copying sync.WaitGroup
		if b.size <= w.t.cfg.InlineBytes { // while it is stored
			copying.Go(func() { b.inline = copyInline(b.key, b.file) })
		}
		if w.t.cfg.Design == AsPathway {
			err = w.look()
		}
		if err == nil {
			tries, err = w.t.retry(w.ctx, "PUT of "+b.key, w.event, func() error {
				return w.t.put(w.ctx, b.key, b.file, objectstore.PutOptions{})
			})
		}
		if tries > 1 || err != nil {
			// A request that was given up may still read the bytes.
			b.lent = true
		}
		copying.Wait()
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
			if w.t.cfg.Design == AsPathway {
				version, b.trace.Tries, err = w.commitAsPathway(b)
			} else {
				version, b.trace.Tries, err = w.commitBatch(b)
			}
			b.trace.Set(queue.StageCommitPut, time.Duration(clk.Now()-begun))
		}
		w.finish(b, version, err)
		if err == nil {
			w.checkpoints.maybe(w.ctx, &w.wg, w.event)
		}
		<-w.slots
	}
}

func (w *writer) commitBatch(b *batch) (int64, int, error) {
	actions := make([]action, 0, len(b.txns)+1)
	for i := range b.txns {
		b.txns[i].LastUpdated = w.t.cfg.Clock.Now() / 1e6
		actions = append(actions, action{Txn: &b.txns[i]})
	}
	return w.committer.commitWith(w.ctx, "WRITE", b.inline, append(actions, action{Add: &addFile{
		Path: b.key, PartitionValues: map[string]*string{}, Size: b.size, ModificationTime: b.cutAt / 1e6,
		DataChange: true, Stats: fmt.Sprintf(`{"numRecords":%d}`, b.rows),
	}})...)
}

func (w *writer) fatal() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
