package runner

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"queuebench/rawlog"
	"queuebench/runner/envelope"
	"queuebench/runner/schedule"
	"queuebench/runner/seqset"
)

// attendance is what the consumers of a half know of the load together.
type attendance struct {
	s   *step
	cfg *Half

	started atomic.Int64 // the schedule, by the own clock, ns; 0 where it is not known
	before  int64        // deliveries of a killed process, which are counted too
	last    atomic.Int64 // when a message of the run came last, own clock; 0 for never

	mu       sync.Mutex
	begin    *Begin
	schedule schedule.Schedule // nil where it is not known
	toldAt   int64             // own clock
	refused  error
	untimed  string // why there are no live latencies
}

// told takes what a begin mark tells.
func (a *attendance) told(body []byte) {
	b, err := ParseBegin(body)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil && a.begin == nil {
		err = a.accept(b)
	}
	if err != nil && a.refused == nil {
		a.refused = err
	}
}

// accept takes the first begin mark. The lock is held.
func (a *attendance) accept(b *Begin) error {
	info := a.s.queues[0].Info()
	for _, d := range []struct {
		name         string
		here, theirs any
	}{
		{"--queue", info.Kind, b.Queue},
		{"--partitions", a.s.partitions, b.Partitions},
		{"--topics", a.s.plan.Load.Topics, b.Topics},
		{"the commit interval", info.CommitInterval, time.Duration(b.CommitIntervalNs)},
		{"--run-id", a.s.r.cfg.Run, b.Run},
	} {
		if d.here != d.theirs {
			return fmt.Errorf("the producers have other settings: %s is %v there and %v here; start both halves with the same", d.name, d.theirs, d.here)
		}
	}
	a.begin, a.toldAt = b, a.s.r.cfg.Clock.Now()
	add, err := a.cfg.ToOwn(b.Clock)
	if err != nil {
		a.untimed = err.Error()
		return nil
	}
	a.started.Store(b.StartNs + add)
	if b.Schedule == nil {
		a.untimed = "the schedule is too long for a begin mark"
		return nil
	}
	made, err := schedule.New(*b.Schedule)
	switch {
	case err != nil:
		a.untimed = err.Error()
	case made.Len() != b.Messages || int64(made.Duration()) != b.DurationNs || made.Name() != b.Arrivals:
		a.untimed = "the schedule of the producers cannot be made here"
	default:
		a.schedule = made
	}
	return nil
}

// timed makes a producer's track know its schedule, if it is known.
func (a *attendance) timed(t *track, producer int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.schedule != nil && producer < a.begin.Producers {
		t.share = schedule.NewShare(a.schedule, producer, a.begin.Producers)
		t.len, t.timed = t.share.Len(), true
	}
}

// grow makes room for a producer that was not heard of before. The group is
// locked.
func (r *receiver) grow(producer uint16) bool {
	if r.half == nil || producer >= MaxActors {
		return false
	}
	for len(r.tracks) <= int(producer) {
		p := len(r.tracks)
		t := track{producer: p, head: envelope.NewHead(envelope.Data, uint16(p), r.tag), len: math.MaxInt64, high: make([]int64, r.partitions)}
		for k := range t.high {
			t.high[k] = -1
			if r.recorded != nil {
				if at := r.recorded.places[mark{uint16(p), int32(k)}]; at != nil {
					t.high[k] = at.high
				}
			}
		}
		r.half.timed(&t, p)
		r.tracks = append(r.tracks, t)
	}
	for len(r.group.got) < len(r.tracks) {
		r.group.got = append(r.group.got, seqset.Set{})
	}
	return true
}

// newAttendance prepares the consumers of a half, which go on where a killed
// process of the same name left off.
func newAttendance(s *step) *attendance {
	a := &attendance{s: s, cfg: s.r.cfg.Half}
	rec := a.cfg.Recorded
	if rec == nil {
		return a
	}
	for _, g := range s.groups {
		if r := rec.groups[g.name]; r != nil {
			g.got = r.now
			g.fresh.Store(r.fresh)
			a.before += r.deliveries
		}
	}
	return a
}

// goOn makes a receiver know what was recorded before.
func (a *attendance) goOn(r *receiver) {
	r.half = a
	rec := a.cfg.Recorded
	if rec == nil || rec.groups[r.group.name] == nil {
		return
	}
	r.recorded = rec.groups[r.group.name]
	for _, other := range a.s.receivers {
		if other.group == r.group {
			return // the first of the group counts what was before
		}
	}
	r.deliveries.Store(r.recorded.deliveries)
}

// attend receives until the producers' end marks have come, or nothing more is
// to be expected.
func (s *step) attend(ctx context.Context, cancel context.CancelCauseFunc) error {
	cfg, a := s.r.cfg, s.attendance
	if cfg.Half.Meet != nil {
		if _, err := s.begins(ctx); err != nil {
			return err
		}
	}
	opened := cfg.Clock.Now()
	s.rec.StartedNs = opened
	s.start.Store(opened) // its seconds are counted from here
	s.monitor.begin(opened, opened)
	if rec := a.cfg.Recorded; rec != nil {
		s.events.add(cfg.actor(), "resume", fmt.Sprintf("a process before this one recorded %d deliveries", rec.Rows), rawlog.Null)
		if rec.begin != nil {
			a.mu.Lock()
			err := a.accept(rec.begin)
			a.mu.Unlock()
			if err != nil {
				return err
			}
		}
	}
	if cfg.Half.Sharing != nil {
		s.rec.SharedGroups = true
		sharing, stop := context.WithCancel(ctx)
		var told sync.WaitGroup
		told.Go(func() { s.shareMarks(sharing) })
		defer told.Wait()
		defer stop()
	}
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	w := &attending{step: s, opened: opened}
	for {
		var err error
		done := false
		select {
		case <-ctx.Done():
			err = context.Cause(ctx)
		case err = <-s.fatal:
		case <-ticker.C:
			done, err = w.look(ctx)
		}
		if err != nil {
			s.cut = true
			s.rec.CutOffNs = cfg.Clock.Now()
			return err
		}
		if done {
			return nil
		}
	}
}

// beginOf is what stands behind a mark's identity. It is a copy.
func beginOf(payload []byte) []byte { return bytes.Clone(payload[envelope.Size:]) }

// toldSchedule is the schedule of a begin mark, to be shown.
type toldSchedule struct{ b *Begin }

func (t toldSchedule) Name() string              { return t.b.Arrivals }
func (t toldSchedule) Len() int64                { return t.b.Messages }
func (t toldSchedule) Duration() time.Duration   { return time.Duration(t.b.DurationNs) }
func (t toldSchedule) Offsets() schedule.Offsets { return nil }

// untold is the schedule of a consume half before it was told.
var untold = toldSchedule{&Begin{Arrivals: "not told yet"}}
