package deltalake

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"queuebench/internal/alarm"
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
	fetching  chan struct{}  // one for each GET of data under way
	asking    sync.WaitGroup // GETs that may be hedged
	alarm     *alarm.Alarm   // of the goroutine that finds versions
	timer     *grid          // AsPathway: what is there is handed out when it fires

	mu      sync.Mutex
	pending []*fetched // in order; the first may not be ready yet
	room    chan struct{}
	err     error      // after all of pending
	free    []*fetched // whose memory is used again
	// reads: the store can read into memory that is there.
	reads bool
}

// fetched is a data file of a version, on its way to the consumer.
type fetched struct {
	ready      bool
	err        error
	deliveries []queue.Delivery
	body       []byte // of the data file
	elsewhere  bool   // the deliveries do not point into it
	trace      queue.Trace
	readyAt    int64 // clock, ns
}

// fetchParallel is how many data files of a table are fetched at once.
const fetchParallel = 8

func newTail(t *table, g *group, start int64, notBefore int64) *tail {
	tail := &tail{
		t: t, g: g, next: start, notBefore: notBefore, room: make(chan struct{}, 1),
		fetching: make(chan struct{}, fetchParallel), pace: newPace(t.cfg.CommitInterval, t.cfg.PollInterval),
		decoder: decoder{column: t.cfg.Column, partition: t.partition, stamp: t.cfg.Stamp},
	}
	_, tail.reads = t.store.(objectstore.IntoGetter)
	if t.cfg.Design == AsPathway {
		tail.readAsPathway()
	}
	return tail
}

// run follows the log until the context ends or something is wrong for good.
func (t *tail) run(ctx context.Context) {
	if t.timer != nil {
		t.tellPhase()
	}
	var wg sync.WaitGroup
	t.alarm = t.t.cfg.newAlarm()
	defer t.alarm.Close()
	err := t.follow(ctx, &wg)
	wg.Wait()
	t.asking.Wait()
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
		wait := t.pace.hit(asked)
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
		if err := t.alarm.Sleep(ctx, wait-time.Duration(clk.Now()-asked)); err != nil {
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
	if s := t.t.inspected.Load(); s != nil && s.version+1 == t.next {
		return t.check(&commit{version: s.version, protocol: s.protocol, metaData: s.metaData})
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
	s.tellUnread(func(kind, text string) { t.g.event(t, kind, text) })
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
		if err == nil && t.t.cfg.Stamp != nil {
			err = t.t.cfg.Stamp.fits(cs, c.metaData)
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
	get := func(ctx context.Context, key string) ([]byte, error) {
		body, _, _, err := t.get(ctx, key, nil)
		return body, err
	}
	silent := clk.Now()
	quiet := t.t.cfg.GapAfter
	failing, failures := time.Time{}, 0
	for {
		asked = clk.Now()
		c, err := t.t.getCommitBy(ctx, t.next, get)
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
				if !t.began && t.next == 0 {
					if err := t.t.elsewhere(ctx); err != nil {
						return nil, 0, err
					}
					quiet = min(quiet, max(2*time.Second, t.t.cfg.GapAfter)) // who waits for a table wants to know soon
				}
			}
			if err := t.alarm.Sleep(ctx, t.pace.miss(clk.Now())); err != nil {
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
			return nil, 0, fmt.Errorf("asking for version %d failed for %v: %w", t.next, t.t.cfg.RetryFor, err)
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
