package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"queuebench/queue"
	"queuebench/rawlog"
)

// drive runs the load and the drain.
func (s *step) drive(ctx context.Context, cancel context.CancelCauseFunc) error {
	cfg := s.r.cfg
	start := cfg.Clock.Now() + int64(lead)
	s.start.Store(start)
	end := start + int64(s.plan.Schedule.Duration())
	deadline := end + int64(cfg.DrainTimeout)
	closing := end + int64(allowance(s.plan.Schedule.Duration()))
	s.rec.StartedNs, s.rec.DeadlineNs = start, deadline
	s.scheduled = make([]int64, len(s.senders))
	s.monitor.begin(start, end)

	drain, cancelDrain := context.WithTimeout(ctx, time.Duration(deadline-cfg.Clock.Now()))
	defer cancelDrain()
	var loading, finishing sync.WaitGroup
	for i, p := range s.senders {
		p.start, p.end = start, closing
		loading.Add(1)
		finishing.Go(func() {
			var err error
			s.scheduled[i], err = p.load(drain)
			loading.Done()
			if err == nil && !s.stop.Load() {
				err = p.finish(drain)
			}
			s.events.add(p.name(), "end", endText(err), rawlog.Null)
			if err != nil && ctx.Err() == nil && drain.Err() == nil && errors.Is(err, queue.ErrClosed) {
				s.fail(fmt.Errorf("%s: %w", p.name(), err), cancel)
			}
		})
	}
	loading.Wait()
	s.monitor.phase("drain")
	s.events.add(process, "drain", "the load has ended", rawlog.Null)
	finishing.Wait()
	s.drained(drain)

	select {
	case err := <-s.fatal:
		return err
	default:
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// drained waits until each group has everything, or the deadline passes.
func (s *step) drained(ctx context.Context) {
	marks := int64(len(s.senders) * s.partitions)
	var since time.Time
	for ctx.Err() == nil {
		var acked, open int64
		for _, p := range s.senders {
			c := p.books.Counts()
			acked += c.Acked
			open += c.InFlight
		}
		all, either := true, true
		for _, g := range s.groups {
			whole, have := g.count.Load() == marks, s.fresh(g) >= acked
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

func (s *step) fresh(g *group) (n int64) {
	for _, r := range s.receivers {
		if r.group == g {
			n += r.fresh.Load()
		}
	}
	return n
}
