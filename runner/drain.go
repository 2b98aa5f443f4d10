package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/runner/pace"
	"queuebench/runner/payload"
	"queuebench/runner/seqset"
)

// drive runs the load and the drain.
func (s *step) drive(ctx context.Context, cancel context.CancelCauseFunc) error {
	switch {
	case s.loop != nil:
		return s.driveClosed(ctx, cancel)
	case s.plan.Backlog != nil:
		return s.driveBacklog(ctx, cancel)
	}
	cfg := s.r.cfg
	if s.plan.Load.Pacing == pace.Precise {
		all := s.plan.Load.AllProducers()
		defer pace.Processors(len(s.senders), time.Duration(float64(all)/s.plan.Rate.PerSecond()*1e9))()
	}
	start, err := s.begins(ctx)
	if err != nil {
		return err
	}
	s.start.Store(start)
	if s.besides != nil {
		close(s.besides.started)
	}
	end := start + int64(s.plan.Schedule.Duration())
	deadline := end + int64(s.plan.Load.DrainTimeout)
	closing := end + int64(allowance(s.plan.Schedule.Duration()))
	s.rec.StartedNs, s.rec.DeadlineNs = start, deadline
	s.scheduled = make([]int64, len(s.senders))
	s.monitor.begin(start, end)
	if cfg.Search {
		w := newWatch(s, start, end)
		defer func() { s.trend = w.stop(s.plan.Schedule.Duration()) }()
	}

	if cfg.Half != nil {
		told, err := s.beginMark(start)
		if err != nil {
			return err
		}
		for _, p := range s.senders {
			p.told = told
		}
	}
	drain, cancelDrain := context.WithTimeout(ctx, time.Duration(deadline-cfg.Clock.Now()))
	defer cancelDrain()
	var loading, finishing sync.WaitGroup
	pulse := s.newPulse()
	defer pulse.stop()
	for i, p := range s.senders {
		p.start, p.end, p.pulse = start, closing, pulse
		loading.Add(1)
		finishing.Go(func() {
			var err error
			s.scheduled[i], err = p.load(drain)
			loading.Done()
			if err == nil && !s.stop.Load() {
				err = p.finish(drain)
			}
			s.events.add(p.name(), "end", endText(err), rawlog.Null)
			if err != nil && ctx.Err() == nil && drain.Err() == nil && (errors.Is(err, queue.ErrClosed) || errors.Is(err, queue.ErrBroken) || errors.Is(err, payload.ErrLines)) {
				s.fail(fmt.Errorf("%s: %w", p.name(), err), cancel)
			}
		})
	}
	loading.Wait()
	s.monitor.phase("drain")
	s.events.add(s.r.cfg.actor(), "drain", "the load has ended", rawlog.Null)
	finishing.Wait()
	s.drained(drain)
	s.expired = drain.Err() != nil

	select {
	case err = <-s.fatal:
	default:
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
	}
	if s.cut = err != nil; s.cut {
		s.rec.CutOffNs = cfg.Clock.Now()
	}
	return err
}

// newPulse watches for moments in which the process stood still.
func (s *step) newPulse() *pulse {
	return newPulse(s.r.cfg.Clock, func(g gap) {
		s.events.add(s.r.cfg.actor(), "standstill", "the process stood still: it was stopped, or got no CPU", g.to-g.from)
	})
}

// drained waits until each group has everything, or the deadline passes.
func (s *step) drained(ctx context.Context) {
	marks := int64(len(s.senders) * s.partitions)
	var since time.Time
	for ctx.Err() == nil {
		acked, open := s.inBooks()
		all, either := true, true
		for _, g := range s.groups {
			whole, have := s.plan.Through == nil && g.count.Load() == marks, s.has(g, acked)
			all = all && whole && have
			either = either && (whole || have && open == 0)
		}
		switch {
		case all && open == 0:
			return
		case !either:
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case time.Since(since) >= grace:
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// has tells whether a group has all of so many messages that were acknowledged.
func (s *step) has(g *group, acked int64) bool { return g.fresh.Load() >= acked && s.missing(g) == 0 }

// missing is the number of messages that were acknowledged and the group has
// not received. Their counts do not tell: it may have others, which failed.
func (s *step) missing(g *group) (n int64) {
	for p, sender := range s.senders {
		sender.books.WithAcked(func(acked *seqset.Set) { n += g.missing(p, acked) })
	}
	return n
}
