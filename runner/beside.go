package runner

import (
	"context"
	"time"

	"queuebench/rawlog"
)

// Beside is a step as what goes on beside it sees it: its plan, its start and
// its events. What it tells after the step has ended is dropped, and it is told
// so.
type Beside struct {
	Plan Plan

	step    *step
	started chan struct{} // closed when the schedule's start is set
}

// Start waits for the start of the schedule, and returns it in ns since the
// epoch of the run's clock.
func (b *Beside) Start(ctx context.Context) (ns int64, err error) {
	select {
	case <-b.started:
		return b.step.start.Load(), nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// Event records an event now, and how long it took; a negative time says
// nothing. It is false when the step has ended and the event is not kept.
func (b *Beside) Event(actor, kind, text string, took time.Duration) bool {
	ns := int64(took)
	if took < 0 {
		ns = rawlog.Null
	}
	return b.step.events.add(actor, kind, text, ns)
}

// beside starts what goes on beside the step. end ends it and waits for it.
func (s *step) beside(ctx context.Context) (end func()) {
	run := s.r.cfg.Beside
	if run == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	b := &Beside{Plan: s.plan, step: s, started: make(chan struct{})}
	s.besides = b
	go func() {
		defer close(done)
		run(ctx, b)
	}()
	return func() {
		cancel()
		<-done
	}
}
