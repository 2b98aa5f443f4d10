package logwriter

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// CloseStep closes the writers of a repeat that are still open (no Append may
// be under way) and waits until their parts are stored. When ctx ends first,
// uploading goes on and the error says how much is left; so it does when the store
// has refused everything for some time, as one that is full does, or has failed for
// FailingFor.
func (l *Log) CloseStep(ctx context.Context, step, repeat int) error {
	for _, s := range l.streamsWhere(func(k streamKey) bool { return k.step == step && k.repeat == repeat }) {
		s.close()
		<-s.encoded // encoders take what is at hand and end
	}
	ctx, stop := l.uploads.unlessRefused(ctx)
	defer stop()
	left := 0
	for _, p := range l.partsOf(step, repeat) {
		select {
		case <-p.done:
		case <-ctx.Done():
		}
		if !p.isStored() {
			left++
		}
	}
	if left > 0 {
		return errors.Join(l.Err(), l.notStored(left, ctx.Err()))
	}
	return l.Err()
}

func (l *Log) streamsWhere(match func(streamKey) bool) []*stream {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []*stream
	for key, s := range l.streams {
		if match(key) {
			found = append(found, s)
		}
	}
	return found
}

// Close closes the writers that are still open (no Append may be under way),
// uploads what is left until ctx ends, or the store has refused everything for some
// time, and returns when every goroutine of the
// log has ended. What could not be stored stays in the spool: unsent names
// these files, and err is not nil then. The first error of the log comes too.
// A second call does nothing.
func (l *Log) Close(ctx context.Context) (unsent []string, err error) {
	l.mu.Lock()
	again := l.closed
	l.closed = true
	l.mu.Unlock()
	if again {
		return nil, l.Err()
	}
	for _, s := range l.streamsWhere(func(streamKey) bool { return true }) {
		s.close()
	}
	l.encoders.Wait()
	for _, name := range l.uploads.finish(ctx) {
		unsent = append(unsent, l.spool.path(name))
	}
	slices.Sort(unsent)
	l.spool.prune()
	if len(unsent) > 0 {
		return unsent, errors.Join(l.Err(), l.notStored(len(unsent), ctx.Err()))
	}
	return nil, l.Err()
}

func (l *Log) notStored(files int, cause error) error {
	if last := l.uploads.lastError(); last != nil {
		cause = last
	}
	return fmt.Errorf("raw log: %d files are not in the store yet and lie in the spool %s under the same names: %w", files, l.opt.SpoolDir, cause)
}
