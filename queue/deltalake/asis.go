package deltalake

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Design says which requests and timers a queue makes.
type Design string

// The designs.
const (
	// Thin is what docs/delta.md describes: two PUTs and two GETs a commit.
	Thin Design = "thin"
	// AsPathway makes the round trips and keeps the timers of the Delta
	// connectors of Pathway, to stand beside the thin design: a LIST before
	// and after the data's PUT, a LIST and a GET after the commit's, one batch
	// at a time, a checkpoint every 100 commits in line; a timer of the
	// interval each in the connector, the writer and the reader; a reader that
	// polls after 5 ms, doubling to 100 ms, and fetches one file after the
	// other. What it promises is the same.
	AsPathway Design = "pathway"
)

// The reader of AsPathway waits so long after its first miss and at most.
const (
	firstWait = 5 * time.Millisecond
	lastWait  = 100 * time.Millisecond
)

// asPathway are its settings, where they differ from the thin design's.
func (c *Config) asPathway() {
	c.Pipeline = 1
	orDefault(&c.Schema, Pathway)
	orDefault(&c.Codec, Snappy)
	orDefault(&c.CheckpointCommits, 100)
	orDefault(&c.CheckpointInterval, 1)
}

// grid is a timer that fires every interval, at a phase of its own.
type grid struct{ next, interval int64 }

func newGrid(now int64, interval, phase time.Duration) *grid {
	return &grid{now - now%int64(interval) + int64(phase), int64(interval)}
}

// due says whether the timer has fired, once.
func (g *grid) due(now int64) (fired bool) {
	for g.next <= now {
		fired, g.next = true, g.next+g.interval
	}
	return fired
}

// cutAsPathway ends a batch every CommitInterval, as the connector does, and
// hands what has ended to a commit when a batch ends or the writer's own timer
// fires, if the last commit began an interval ago.
func (w *writer) cutAsPathway(phase time.Duration) {
	clk, T := w.t.cfg.Clock, w.t.cfg.CommitInterval
	own := rand.N(T)
	w.event("phase", fmt.Sprintf("the writer's timer of %v fires at %v (%d ns) after each multiple", T, own, int64(own)))
	connector, writer := newGrid(clk.Now(), T, phase), newGrid(clk.Now(), T, own)
	last := int64(math.MinInt64 / 2)
	for {
		if sleep(w.ctx, time.Duration(min(connector.next, writer.next)-clk.Now())) != nil {
			return
		}
		now := clk.Now()
		if connector.due(now) {
			w.endBatch()
		}
		writer.due(now)
		if now-last < int64(T) {
			continue
		}
		select {
		case w.slots <- struct{}{}:
		case <-w.ctx.Done():
			return
		}
		b := w.gather()
		if b == nil {
			<-w.slots
			continue
		}
		last = now
		w.send(b)
	}
}

// endBatch ends the open batch, if there is anything in it.
func (w *writer) endBatch() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && w.open.count > 0 {
		w.sealed = append(w.sealed, w.open)
		w.open = w.spare()
	}
}

// gather makes one batch of all that have ended, or nil.
func (w *writer) gather() *batch {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil || len(w.sealed) == 0 {
		return nil
	}
	b := w.sealed[0]
	for _, o := range w.sealed[1:] {
		b.absorb(o)
		w.recycle(o)
	}
	w.sealed = w.sealed[:0]
	return w.begin(b)
}

// absorb takes over all messages of a later batch.
func (b *batch) absorb(o *batch) {
	shift := len(b.data) - fileHead
	b.data = append(b.data, o.data[fileHead:]...)
	b.count += o.count
	b.bytes += o.bytes
	o.bytes = 0
	for _, r := range o.runs {
		r.begin, r.end = r.begin+shift, r.end+shift
		b.runs = append(b.runs, r)
	}
	if len(b.data)-b.open >= b.pageBytes {
		b.pages = append(b.pages, pageEnd{len(b.data), b.count})
		b.open = len(b.data)
	}
}

// look is a LIST of the newest versions, which the thin design never makes.
func (w *writer) look() error {
	_, err := w.t.retry(w.ctx, "LIST of the log", w.event, func() error {
		return w.t.listLog(w.ctx, w.committer.next-1, func(string) error { return nil })
	})
	return err
}

// commitAsPathway is commitBatch between a LIST and the reading of what it has
// committed.
func (w *writer) commitAsPathway(b *batch) (int64, int, error) {
	if err := w.look(); err != nil {
		return -1, 0, err
	}
	version, tries, err := w.commitBatch(b)
	if err == nil {
		err = w.look()
	}
	if err == nil {
		_, err = w.t.retry(w.ctx, "GET of the commit", w.event, func() error {
			_, err := w.t.getCommit(w.ctx, version)
			return err
		})
	}
	return version, tries, err
}

// deliverLate waits for the reader's own timer.
func (t *tail) deliverLate(ctx context.Context) {
	now := t.t.cfg.Clock.Now()
	t.mu.Lock()
	t.timer.due(now)
	next := t.timer.next
	t.mu.Unlock()
	_ = sleep(ctx, time.Duration(next-now)) // the context's end is met elsewhere
}

// readAsPathway gives a tail the reader's habits.
func (t *tail) readAsPathway() {
	t.timer = newGrid(t.t.cfg.Clock.Now(), t.t.cfg.CommitInterval, rand.N(t.t.cfg.CommitInterval))
	t.fetching = make(chan struct{}, 1)
	t.pace.doubling = true
}

// tellPhase tells of the reader's timer.
func (t *tail) tellPhase() {
	phase := t.timer.next % t.timer.interval
	t.g.event(t, "phase", fmt.Sprintf("the reader's timer of %v fires at %v (%d ns) after each multiple", t.t.cfg.CommitInterval, time.Duration(phase), phase))
}
