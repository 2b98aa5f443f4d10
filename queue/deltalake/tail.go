package deltalake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"queuebench/objectstore"
	"queuebench/queue"
)

// tail follows the log of one table for one group. One goroutine finds
// versions; data files are fetched and decoded beside it; what is ready is
// handed out in the order of versions.
type tail struct {
	t     *table
	g     *group
	owner *Consumer // guarded by the group's lock

	next      int64
	notBefore int64 // ms since the epoch: versions before that are passed over
	began     bool  // a version was found
	decoder   decoder
	pace      pace
	fetching  chan struct{} // one for each GET of data under way

	mu      sync.Mutex
	pending []*fetched // in order; the first may not be ready yet
	room    chan struct{}
	err     error // after all of pending
	free    [][]queue.Delivery
}

// fetched is a data file of a version, on its way to the consumer.
type fetched struct {
	ready      bool
	err        error
	deliveries []queue.Delivery
	trace      queue.Trace
	readyAt    int64 // clock, ns
}

// fetchParallel is how many data files of a table are fetched at once.
const fetchParallel = 8

func newTail(t *table, g *group, start int64, notBefore int64) *tail {
	return &tail{
		t: t, g: g, next: start, notBefore: notBefore, room: make(chan struct{}, 1),
		fetching: make(chan struct{}, fetchParallel), pace: newPace(t.cfg.CommitInterval, t.cfg.PollInterval),
		decoder: decoder{column: t.cfg.Column, partition: t.partition},
	}
}

// run follows the log until the context ends or something is wrong for good.
func (t *tail) run(ctx context.Context) {
	var wg sync.WaitGroup
	err := t.follow(ctx, &wg)
	wg.Wait()
	if ctx.Err() == nil {
		t.mu.Lock()
		t.err = fmt.Errorf("deltalake: table %s: %w", t.t.name, err)
		t.mu.Unlock()
		t.g.wakeOwner(t)
	}
}

func (t *tail) follow(ctx context.Context, wg *sync.WaitGroup) error {
	if err := t.prepare(ctx); err != nil {
		return err
	}
	clk := t.t.cfg.Clock
	since := clk.Now()
	for {
		c, asked, err := t.find(ctx)
		if err != nil {
			return err
		}
		got := clk.Now()
		if err := t.check(c); err != nil {
			return err
		}
		wait := t.pace.hit()
		base := queue.Trace{Partition: t.t.partition, Offset: c.version}
		base.Set(queue.StageDiscover, time.Duration(asked-since))
		base.Set(queue.StageCommitGet, time.Duration(got-asked))
		since = got
		if c.timestamp() >= t.notBefore {
			t.notBefore = 0 // the clocks of later writers may differ
			for i := range c.adds {
				// What was only moved (dataChange false) was delivered before.
				if !c.adds[i].DataChange {
					continue
				}
				if err := t.fetch(ctx, wg, c, &c.adds[i], base); err != nil {
					return err
				}
			}
		}
		t.next, t.began = c.version+1, true
		if err := sleep(ctx, wait-time.Duration(clk.Now()-asked)); err != nil {
			return err
		}
	}
}

// prepare learns protocol and columns where the tail does not begin with the
// version that has them.
func (t *tail) prepare(ctx context.Context) error {
	if t.next == 0 {
		return nil
	}
	var s *snapshot
	for {
		var err error
		if s, err = t.t.snapshot(ctx); err == nil {
			break
		}
		if !errors.Is(err, objectstore.ErrNotFound) || errors.Is(err, ErrGap) {
			return err
		}
		// No table yet.
		if err := sleep(ctx, max(t.t.cfg.PollInterval, 50*time.Millisecond)); err != nil {
			return err
		}
	}
	return t.check(&commit{version: s.version, protocol: s.protocol, metaData: s.metaData})
}

// check refuses what a queue cannot follow, and learns the columns.
func (t *tail) check(c *commit) error {
	if c.protocol != nil {
		if err := c.protocol.checkReader(); err != nil {
			return fmt.Errorf("version %d: %w", c.version, err)
		}
	}
	if c.metaData != nil {
		err := c.metaData.checkTable()
		var cs columns
		if err == nil {
			cs, err = c.metaData.payload(t.t.cfg.Column)
		}
		if err != nil {
			return fmt.Errorf("version %d: %w", c.version, err)
		}
		t.decoder.retracts = cs.retracts()
	}
	return c.checkQueue()
}

// find polls for the next version; asked is when the request that found it
// began.
func (t *tail) find(ctx context.Context) (c *commit, asked int64, err error) {
	clk := t.t.cfg.Clock
	silent := clk.Now()
	quiet := t.t.cfg.GapAfter
	failing, failures := time.Time{}, 0
	for {
		asked = clk.Now()
		c, err := t.t.getCommit(ctx, t.next)
		switch {
		case err == nil:
			return c, asked, nil
		case ctx.Err() != nil:
			return nil, 0, ctx.Err()
		case errors.Is(err, objectstore.ErrNotFound):
			failures = 0
			if time.Duration(clk.Now()-silent) >= quiet {
				if err := t.lookForGap(ctx); err != nil {
					return nil, 0, err
				}
				silent, quiet = clk.Now(), min(2*quiet, 30*time.Second)
			}
			if err := sleep(ctx, t.pace.miss()); err != nil {
				return nil, 0, err
			}
			continue
		case !transient(err) || errors.Is(err, ErrCorrupt):
			return nil, 0, err
		}
		if failures++; failures == 1 {
			failing = time.Now()
		}
		if time.Since(failing) > t.t.cfg.RetryFor {
			return nil, 0, fmt.Errorf("version %d could not be asked for during %v: %w", t.next, t.t.cfg.RetryFor, err)
		}
		t.g.event(t, kindOf(err), err.Error())
		if err := sleep(ctx, backoff(failures)); err != nil {
			return nil, 0, err
		}
	}
}

// lookForGap asks, after a silence, whether a later version is there. It is
// trusted only if the next version is then still missing.
func (t *tail) lookForGap(ctx context.Context) error {
	beyond := int64(-1)
	err := t.t.listLog(ctx, t.next, func(key string) error {
		if v, ok := parseName(versionName, key); ok && v > t.next && (beyond < 0 || v < beyond) {
			beyond = v
		}
		return nil
	})
	if err != nil {
		if ctx.Err() != nil || !transient(err) {
			return err
		}
		t.g.event(t, kindOf(err), fmt.Sprintf("LIST of the log: %v", err))
		return nil // the next silence asks again
	}
	if beyond < 0 {
		return nil
	}
	_, err = t.t.get(ctx, versionKey(t.next))
	switch {
	case !errors.Is(err, objectstore.ErrNotFound):
		return nil // it is there, or the poll finds out what is wrong
	case !t.began:
		return fmt.Errorf("%w: version %d was asked for, the oldest is %d", ErrStartTooOld, t.next, beyond)
	}
	return fmt.Errorf("%w: version %d (%s) is missing, version %d is there", ErrGap, t.next, versionKey(t.next), beyond)
}

// fetch starts to get and decode a data file, once there is room.
func (t *tail) fetch(ctx context.Context, wg *sync.WaitGroup, c *commit, a *addFile, base queue.Trace) error {
	f := &fetched{trace: base}
	for {
		t.mu.Lock()
		if len(t.pending) < t.t.cfg.ReadAhead {
			t.pending = append(t.pending, f)
			if n := len(t.free); n > 0 {
				f.deliveries = t.free[n-1]
				t.free = t.free[:n-1]
			}
			t.mu.Unlock()
			break
		}
		t.mu.Unlock()
		select {
		case <-t.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	select {
	case t.fetching <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	d := t.decoder
	wg.Go(func() {
		d.fill(ctx, t, f, c.version, a)
		<-t.fetching
		t.mu.Lock()
		f.ready = true
		f.readyAt = t.t.cfg.Clock.Now()
		t.mu.Unlock()
		t.g.wakeOwner(t)
	})
	return nil
}

// fill gets a data file and decodes it. A file that is not there, or not what
// the log says, is fatal and named.
func (d *decoder) fill(ctx context.Context, t *tail, f *fetched, version int64, a *addFile) {
	clk := t.t.cfg.Clock
	begun := clk.Now()
	name := func(err error) error { return fmt.Errorf("version %d, data file %s: %w", version, a.Path, err) }
	key, err := dataKey(a.Path)
	if err != nil {
		f.err = name(err)
		return
	}
	var body []byte
	event := func(kind, text string) { t.g.event(t, kind, text) }
	_, err = t.t.retry(ctx, "GET of "+key, event, func() (err error) {
		body, err = t.t.get(ctx, key)
		if err == nil && int64(len(body)) != a.Size {
			err = fmt.Errorf("%w: it has %d bytes, the log says %d", ErrCorrupt, len(body), a.Size)
		}
		return err
	})
	if errors.Is(err, objectstore.ErrNotFound) {
		err = fmt.Errorf("%w (vacuum, or something else that deletes, must not run under a reader): %w", ErrMissingData, err)
	}
	if err != nil {
		f.err = name(err)
		return
	}
	decoding := clk.Now()
	deliveries, retractions, err := d.decode(body, version, f.deliveries[:0])
	if err != nil {
		f.err = name(err)
		return
	}
	f.deliveries = deliveries
	f.trace.Messages, f.trace.Bytes, f.trace.Tries = len(deliveries), int64(len(body)), 1
	f.trace.Set(queue.StageDataGet, time.Duration(decoding-begun))
	f.trace.Set(queue.StageDecode, time.Duration(clk.Now()-decoding))
	if retractions > 0 {
		event("retraction", fmt.Sprintf("version %d takes %d rows back (diff −1), which are no messages", version, retractions))
	}
}

// take returns the next file that is ready, or an error that comes in its
// turn, or nothing.
func (t *tail) take() (*fetched, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.pending) > 0 {
		f := t.pending[0]
		if !f.ready {
			return nil, nil
		}
		if f.err != nil {
			return nil, fmt.Errorf("deltalake: table %s: %w", t.t.name, f.err)
		}
		t.pending = slices.Delete(t.pending, 0, 1)
		wake(t.room)
		if len(f.deliveries) > 0 {
			return f, nil
		}
		t.giveBack(f.deliveries)
	}
	return nil, t.err
}

// recycle takes back the memory of deliveries that are no longer used.
func (t *tail) recycle(ds []queue.Delivery) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.giveBack(ds)
}

func (t *tail) giveBack(ds []queue.Delivery) {
	if cap(ds) > 0 && len(t.free) < t.t.cfg.ReadAhead {
		clear(ds) // so that the file's memory can go
		t.free = append(t.free, ds[:0])
	}
}
