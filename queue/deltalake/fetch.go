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

// fetch starts to get and decode a data file, once there is room.
func (t *tail) fetch(ctx context.Context, wg *sync.WaitGroup, c *commit, a *addFile, base queue.Trace) error {
	var f *fetched
	for {
		t.mu.Lock()
		if len(t.pending) < t.t.cfg.ReadAhead {
			f = t.spare(base)
			t.pending = append(t.pending, f)
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
	d.commitMs = c.timestamp()
	wg.Go(func() {
		d.fill(ctx, t, f, c, a)
		<-t.fetching
		readyAt := t.t.cfg.Clock.Now()
		if t.timer != nil {
			t.deliverLate(ctx)
		}
		t.mu.Lock()
		f.ready = true
		f.readyAt = readyAt
		t.mu.Unlock()
		t.g.wakeOwner(t)
	})
	return nil
}

// fill gets a data file and decodes it. A file that is not there, or not what
// the log says, is fatal and named.
func (d *decoder) fill(ctx context.Context, t *tail, f *fetched, c *commit, a *addFile) {
	clk, version := t.t.cfg.Clock, c.version
	begun := clk.Now()
	name := func(err error) error { return fmt.Errorf("version %d, data file %s: %w", version, a.Path, err) }
	key, err := dataKey(a.Path)
	if err != nil {
		f.err = name(err)
		return
	}
	if t.reads {
		f.makeRoom(a.Size)
	}
	event := func(kind, text string) { t.g.event(t, kind, text) }
	body, copied, err := c.inlineOf(a, f.body)
	if err != nil {
		event("inline", fmt.Sprintf("version %d, data file %s: %v; the data file was read", version, a.Path, err))
	}
	tries, reads := 0, 0
	var deliveries []queue.Delivery
	var retractions int
	var decoding int64
	for {
		if !copied {
			var n int
			body, n, err = d.read(ctx, t, f, key, a.Size)
			tries += n
		}
		if errors.Is(err, objectstore.ErrNotFound) {
			err = fmt.Errorf("%w (vacuum, or something else that deletes, must not run under a reader): %w", ErrMissingData, err)
		}
		if err != nil {
			f.err = name(err)
			return
		}
		decoding = clk.Now()
		if deliveries, retractions, err = d.decode(body, version, f.deliveries[:0]); err == nil {
			break
		}
		// A byte may have been changed on the way, where the store tells no checksum.
		if reads++; copied || !errors.Is(err, ErrCorrupt) || reads == corruptTries || sleep(ctx, backoff(reads)) != nil {
			f.err = name(err)
			return
		}
		event(kindOf(err), fmt.Sprintf("version %d, data file %s: %v; it is read again", version, a.Path, err))
	}
	f.deliveries, f.body, f.elsewhere = deliveries, body, d.elsewhere
	f.trace.Messages, f.trace.Bytes, f.trace.Tries = len(deliveries), int64(len(body)), tries
	if !copied {
		f.trace.Set(queue.StageDataGet, time.Duration(decoding-begun))
	}
	f.trace.Set(queue.StageDecode, time.Duration(clk.Now()-decoding))
	if retractions > 0 {
		t.g.q.retractions.Add(int64(retractions))
		event("retraction", fmt.Sprintf("version %d takes %d rows back (diff −1), which are no messages", version, retractions))
	}
}

// read gets a data file that has so many bytes, after some tries.
func (d *decoder) read(ctx context.Context, t *tail, f *fetched, key string, size int64) (body []byte, tries int, err error) {
	event := func(kind, text string) { t.g.event(t, kind, text) }
	_, err = t.t.retry(ctx, "GET of "+key, event, func() (err error) {
		var hedged bool
		body, d.checked, hedged, err = t.get(ctx, key, f.body)
		tries++
		if hedged {
			// The request that lost may still write to it.
			f.body = nil
			clear(f.deliveries[:cap(f.deliveries)])
			tries++
		}
		if err == nil && int64(len(body)) != size {
			err = fmt.Errorf("%w: it has %d bytes, the log says %d", ErrCorrupt, len(body), size)
		}
		return err
	})
	return body, tries, err
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
		t.giveBack(f)
	}
	return nil, t.err
}

// spare is a fetched with memory of an earlier one, if there is any: the one that has
// been free for longest, so that each has its turn, and gives up what it needed for
// large files. The lock is held.
func (t *tail) spare(base queue.Trace) *fetched {
	if len(t.free) == 0 {
		return &fetched{trace: base}
	}
	f := t.free[0]
	t.free = slices.Delete(t.free, 0, 1)
	*f = fetched{trace: base, deliveries: f.deliveries, body: f.body}
	return f
}

// recycle takes back what is no longer used.
func (t *tail) recycle(f *fetched) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.giveBack(f)
}

// So much memory is always kept: bytes of a body, and deliveries.
const (
	smallBody     = 1 << 20
	fewDeliveries = 8192
)

// tooLarge says that memory of so many bytes is not kept for what needed fewer.
func tooLarge(size, used int) bool { return size > max(4*used, smallBody) }

// giveBack keeps the memory of a data file and its deliveries for another one,
// but not what is much larger than this one needed. The lock is held.
func (t *tail) giveBack(f *fetched) {
	if len(t.free) >= t.t.cfg.ReadAhead {
		return
	}
	if !t.reads || tooLarge(cap(f.body), len(f.body)) {
		f.body = nil
	}
	if cap(f.deliveries) > max(4*len(f.deliveries), fewDeliveries) {
		f.deliveries = nil
	}
	if f.body == nil || f.elsewhere {
		clear(f.deliveries) // so that what they point to can go
	}
	t.free = append(t.free, f)
}

// maxRoom is the largest size in a log, in bytes, that is believed before the
// file is there.
const maxRoom = 64 << 20

// makeRoom gives a fetched memory for a data file, and some more, since the
// next one may be larger.
func (f *fetched) makeRoom(size int64) {
	if size <= int64(cap(f.body)) {
		return
	}
	f.body = nil
	clear(f.deliveries[:cap(f.deliveries)])
	if size <= maxRoom {
		f.body = make([]byte, 0, size+size/8)
	}
}
