package runner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"queuebench/rawlog"
)

// attending is the look of a consume half for its end.
type attending struct {
	*step
	opened int64
	told   bool  // the begin mark is in the manifest
	since  int64 // when every end mark had come, own clock; 0 before
}

// look says whether the half is done.
func (w *attending) look(ctx context.Context) (done bool, err error) {
	s, a := w.step, w.attendance
	now := s.r.cfg.Clock.Now()
	a.mu.Lock()
	begin, refused, start, toldAt, untimed := a.begin, a.refused, a.started.Load(), a.toldAt, a.untimed
	a.mu.Unlock()
	if refused != nil {
		return false, refused
	}
	last := a.last.Load()
	if begin == nil && last == 0 {
		if time.Duration(now-w.opened) > a.cfg.Wait {
			return false, fmt.Errorf("%w: no message of run %s came within %v; start `bench produce` with the same --run-id, queue, partitions and stores, or give a longer --wait", ErrNothingCame, s.r.cfg.Run, a.cfg.Wait)
		}
		return false, nil
	}
	drain := int64(s.plan.Load.DrainTimeout)
	deadline := max(last, w.opened) + drain
	if begin != nil {
		if !w.told {
			w.told = true
			w.learn(ctx, begin, start, untimed)
		}
		deadline = toldAt + max(int64(lead), begin.LeadNs) + begin.DurationNs + drain
		if start != 0 {
			deadline = max(start+begin.DurationNs+drain, w.opened+drain)
		}
		s.rec.DeadlineNs = deadline
		if w.marked(begin, now) {
			return true, nil
		}
	}
	switch idle := a.cfg.IdleTimeout; {
	case now >= deadline:
		s.unended("the deadline", begin)
		return true, nil
	case idle > 0 && now-max(last, w.opened) > int64(idle):
		s.unended(fmt.Sprintf("the idle timeout of %v", idle), begin)
		s.cut, s.rec.CutOffNs = true, now
		return true, nil
	}
	return false, nil
}

// PhaseWaiting is the phase of a consume half that has heard of no producer.
const PhaseWaiting = "waiting"

// ErrNothingCame: a consume half waited for the producers in vain.
var ErrNothingCame = errors.New("no producer was heard of")

// learn keeps what the begin mark told.
func (w *attending) learn(ctx context.Context, b *Begin, start int64, untimed string) {
	s := w.step
	s.rec.Rate, s.rec.DurationNs, s.rec.Producers, s.rec.Arrivals = b.Rate, b.DurationNs, b.Producers, b.Arrivals
	if start != 0 {
		s.rec.StartedNs = start
	}
	s.events.add(s.r.cfg.actor(), "mark", fmt.Sprintf("begin: %d producers, %d messages over %v", b.Producers, b.Messages, time.Duration(b.DurationNs)), rawlog.Null)
	if untimed != "" {
		s.r.cfg.noteTo("no latencies are shown while it runs: %s", untimed)
	}
	s.r.mu.Lock()
	s.r.cfg.Manifest.Begin = b.raw()
	s.r.mu.Unlock()
	if err := s.r.writeManifest(ctx); err != nil && ctx.Err() == nil {
		s.r.warn(err.Error())
	}
}

// marked says whether every end mark has come, and with them all messages or
// the time for those.
func (w *attending) marked(b *Begin, now int64) bool {
	whole := true
	for _, g := range w.groups {
		if g.count.Load() < int64(b.Producers*w.partitions) {
			return false
		}
		whole = whole && g.whole()
	}
	if w.since == 0 {
		w.since = now
	}
	return whole || now-w.since >= int64(grace)
}

// whole says whether a group has each message that lies before an end mark.
func (g *group) whole() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for m, seq := range g.marks {
		if int(m.producer) >= len(g.got) && seq > 0 || int(m.producer) < len(g.got) && g.got[m.producer].Len() < seq {
			return false
		}
	}
	return true
}

// unended notes that the half ended without the producers' end marks.
func (s *step) unended(by string, b *Begin) {
	want, have := "?", int64(math.MaxInt64)
	if b != nil {
		want = fmt.Sprint(b.Producers * s.partitions)
	}
	for _, g := range s.groups {
		have = min(have, g.count.Load())
	}
	s.withoutEnd = fmt.Sprintf("%s ended it with %d of %s end marks: the producers died, or a message of theirs was lost", by, have, want)
	s.events.add(s.r.cfg.actor(), "note", s.withoutEnd, rawlog.Null)
	s.r.warn(s.withoutEnd)
}
