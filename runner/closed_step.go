package runner

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"queuebench/queue"
	"queuebench/rawlog"
)

// driveClosed runs a closed loop and its drain.
func (s *step) driveClosed(ctx context.Context, cancel context.CancelCauseFunc) error {
	clock, l := s.r.cfg.Clock, s.loop
	start := clock.Now()
	s.start.Store(start)
	if s.besides != nil {
		close(s.besides.started)
	}
	s.rec.StartedNs = start
	s.scheduled = make([]int64, len(s.senders))
	s.monitor.begin(start, start)
	var err error
	if l.cfg.Mode == rawlog.ModeConsume {
		err = s.fillAndPoll(ctx, start)
	} else {
		err = s.operate(ctx)
	}
	if err != nil && ctx.Err() == nil {
		cancel(err)
	}
	end := max(l.ended(), start)
	s.rec.DurationNs = end - start + 1
	s.rec.DeadlineNs = clock.Now() + int64(s.plan.Load.DrainTimeout)
	s.monitor.phase("drain")
	s.events.add(s.r.cfg.actor(), "drain", "the operations have ended", rawlog.Null)
	drain, cancelDrain := context.WithTimeout(ctx, s.plan.Load.DrainTimeout)
	defer cancelDrain()
	var finishing sync.WaitGroup
	for i, p := range s.senders {
		finishing.Go(func() {
			var err error
			if l.cfg.Mode != rawlog.ModeConsume {
				s.scheduled[i] = p.seq
				p.books.Next(clock.Now())
				err = p.finish(drain)
			}
			s.events.add(p.name(), "end", endText(err), rawlog.Null)
		})
	}
	finishing.Wait()
	s.drained(drain)
	l.describe(start)
	return s.cause(ctx, err)
}

// operate runs the workers of a loop that sends.
func (s *step) operate(ctx context.Context) error {
	l := s.loop
	errs := make([]error, l.cfg.Workers)
	var working sync.WaitGroup
	for w := range l.cfg.Workers {
		ln := l.lines[w%len(l.lines)]
		working.Go(func() { errs[w] = l.work(ctx, ln) })
	}
	working.Wait()
	for _, p := range s.senders {
		p.refusals.tell(s.events, p.name())
	}
	return errors.Join(errs...)
}

// cause is why a step was cut off, if it was.
func (s *step) cause(ctx context.Context, err error) error {
	select {
	case err = <-s.fatal:
	default:
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		} else if err != nil && !errors.Is(err, queue.ErrClosed) && !errors.Is(err, queue.ErrBroken) {
			err = nil // told by the events
		}
	}
	if s.cut = err != nil; s.cut {
		s.rec.CutOffNs = s.r.cfg.Clock.Now()
	}
	return err
}

// describe puts what became of the loop into the step's record.
func (l *loop) describe(start int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rec := &l.s.rec
	rec.WarmupNs = l.warm - start
	if l.warm == 0 { // nothing was measured
		rec.WarmupNs = rec.DurationNs
	}
	l.tally.Done = l.done
	if d := rec.DurationNs - rec.WarmupNs; d > 0 && l.tally.Measured > 0 {
		l.tally.PerSecond = fourDigits(float64(l.tally.Measured) / (float64(d) / 1e9))
	}
	rec.Rate = l.tally.PerSecond
	l.tally.Latency = l.times.Take()
	l.s.closedResult = &l.tally
	missing := l.cfg.Warmup + l.cfg.Operations - l.done
	if l.cfg.Mode == rawlog.ModeConsume {
		missing = l.cfg.Operations - l.tally.Measured
	}
	if missing > 0 && !l.s.r.interrupted() {
		why := "they did not begin, or were cut off"
		if l.cfg.Mode == rawlog.ModeConsume {
			why = "the queue had no more messages for them: fill it with more, or have smaller polls"
		}
		l.s.warnf("%d of the operations are missing: %s", missing, why)
	}
	if n := l.tally.Abandoned; n > 0 {
		l.s.warnf("%d operations were not done within the drain timeout of %v, and their workers went on", n, l.s.plan.Load.DrainTimeout)
	}
}

// fourDigits rounds a rate to what it tells, so that it can be read and drawn.
func fourDigits(rate float64) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(rate, 'g', 4, 64), 64)
	if err != nil { // it is what was formatted
		return rate
	}
	return v
}
