package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"queuebench/rawlog"
	"queuebench/runner/schedule"
)

// hold keeps the consumers of a step, which are open, from receiving until they
// are released.
type hold struct{ gate chan struct{} }

func newHold() *hold { return &hold{gate: make(chan struct{})} }

// wait waits for the release; false when ctx ended first. A nil hold holds
// nobody.
func (h *hold) wait(ctx context.Context) bool {
	if h == nil {
		return true
	}
	select {
	case <-h.gate:
		return true
	case <-ctx.Done():
		return false
	}
}

// Backlog makes a step one that measures how long a backlog takes to be gone:
// its consumers are held while the schedule fills the queue, and then released.
type Backlog struct {
	// Fill is when the consumers are released, since the schedule's start; 0: as
	// soon as the whole schedule is in the queue.
	Fill time.Duration
	// Continue lets the schedule, which must be longer than Fill, go on after
	// the release until the backlog is gone, and ends it then.
	Continue bool
}

// Check refuses what cannot run.
func (b *Backlog) Check(p *Plan) error {
	if b.Continue && (b.Fill <= 0 || p.Schedule.Duration() <= b.Fill) {
		return fmt.Errorf("the load cannot go on while the backlog is drained: its schedule of %v is no longer than the fill of %v", p.Schedule.Duration(), b.Fill)
	}
	return nil
}

// FillAtOnce is a schedule of n messages that are all due at its start, handed
// over as fast as the queue takes them.
func FillAtOnce(n int64) schedule.Schedule { return atOnce{n} }

type atOnce struct{ n int64 }

func (a atOnce) Name() string              { return "fill" }
func (a atOnce) Len() int64                { return a.n }
func (a atOnce) Duration() time.Duration   { return time.Nanosecond }
func (a atOnce) Offsets() schedule.Offsets { return a }
func (a atOnce) At(int64) int64            { return 0 }

// release releases the consumers, and returns when, and how many messages were
// acknowledged and not received.
func (s *step) release() (at, backlog int64) {
	backlog = s.acked() - s.received()
	at = s.r.cfg.Clock.Now()
	s.events.add(s.r.cfg.actor(), "release", fmt.Sprintf("the consumers were released, with a backlog of %d messages", backlog), rawlog.Null)
	close(s.hold.gate)
	return at, backlog
}

// inBooks is the number of messages that were acknowledged, and of those that
// are in flight.
func (s *step) inBooks() (acked, open int64) {
	for _, p := range s.senders {
		c := p.books.Counts()
		acked += c.Acked
		open += c.InFlight
	}
	return acked, open
}

// acked is the number of messages that were acknowledged.
func (s *step) acked() int64 {
	n, _ := s.inBooks()
	return n
}

// received is the number of distinct messages of the slowest group.
func (s *step) received() int64 { return s.monitor.slowest() }

// hasAll tells whether each group has all that was acknowledged, and nothing is
// in flight.
func (s *step) hasAll() bool {
	acked, open := s.inBooks()
	return open == 0 && !slices.ContainsFunc(s.groups, func(g *group) bool { return !s.has(g, acked) })
}

// fillQueue sends the whole schedule, with its end marks, and waits until it is
// acknowledged. Messages are sent until closing, and a queue that is full then
// has the drain timeout for the rest: while its consumers are held, nothing
// makes room in it.
func (s *step) fillQueue(ctx context.Context, start, closing int64) error {
	errs := make([]error, len(s.senders))
	timeout := s.plan.Load.DrainTimeout
	finishing, cancel := context.WithTimeout(ctx, time.Duration(closing-s.r.cfg.Clock.Now())+timeout)
	defer cancel()
	var filling sync.WaitGroup
	pulse := s.newPulse()
	defer pulse.stop()
	for i, p := range s.senders {
		p.start, p.end, p.pulse = start, closing, pulse
		filling.Go(func() {
			var err error
			if s.scheduled[i], err = p.load(ctx); err == nil && !s.stop.Load() {
				err = p.finish(finishing)
			}
			if errors.Is(err, context.DeadlineExceeded) {
				err = fmt.Errorf("the queue took no more within the drain timeout of %v: give fewer messages, let the queue hold more, or give a longer --drain-timeout: %w", timeout, err)
			}
			if err != nil {
				errs[i] = fmt.Errorf("%s: filling the queue: %w", p.name(), err)
			}
		})
	}
	filling.Wait()
	return errors.Join(errs...)
}

// driveBacklog fills the queue, releases the consumers, and waits until the
// backlog is gone.
func (s *step) driveBacklog(ctx context.Context, cancel context.CancelCauseFunc) error {
	clock, plan := s.r.cfg.Clock, s.plan
	b, timeout := plan.Backlog, int64(plan.Load.DrainTimeout)
	start := clock.Now() + int64(lead)
	s.start.Store(start)
	if s.besides != nil {
		close(s.besides.started)
	}
	s.rec.StartedNs = start
	s.scheduled = make([]int64, len(s.senders))
	end := start + int64(plan.Schedule.Duration())
	s.monitor.begin(start, start) // the verdict of an open loop says nothing here
	s.monitor.phase("fill")

	filled := make(chan error, 1)
	go func() {
		closing := end + int64(allowance(plan.Schedule.Duration()))
		if b.Fill == 0 {
			closing = end + timeout
		}
		filled <- s.fillQueue(ctx, start, closing)
	}()
	var err error
	ended := !b.Continue
	if ended {
		err = <-filled
	} else {
		wait(ctx, time.Duration(start+int64(b.Fill)-clock.Now()))
	}
	if err == nil && ctx.Err() == nil {
		s.drainBacklog(ctx, b)
	}
	if !ended {
		s.until.CompareAndSwap(0, clock.Now()) // where it was interrupted
		err = <-filled
	}
	if err != nil && ctx.Err() == nil {
		cancel(err)
	}
	s.monitor.phase("drain")
	now := clock.Now()
	s.rec.DurationNs, s.rec.DeadlineNs = now-start, now+timeout
	drain, cancelDrain := context.WithTimeout(ctx, plan.Load.DrainTimeout)
	defer cancelDrain()
	s.drained(drain)
	for _, p := range s.senders {
		s.events.add(p.name(), "end", "", rawlog.Null)
	}
	return s.cause(ctx, err)
}

// drainSettle is how much of the load may be under way, beyond two commit
// intervals, when a backlog is called gone while the load goes on.
const drainSettle = 100 * time.Millisecond

// drainBacklog releases the consumers and waits until the backlog is gone, and
// ends the load then.
func (s *step) drainBacklog(ctx context.Context, b *Backlog) {
	before := s.received()
	at, backlog := s.release()
	s.monitor.phase("drain")
	d := &rawlog.Drain{ReleasedNs: at, Backlog: backlog, Continued: b.Continue}
	s.rec.Drain = d
	if b.Continue {
		d.Gone = int64(s.plan.Rate.PerSecond() * (2*s.queues[0].Info().CommitInterval + drainSettle).Seconds())
	}
	deadline := at + int64(s.plan.Load.DrainTimeout)
	gone := func() bool {
		if b.Continue {
			return s.acked()-s.received() <= d.Gone
		}
		return s.hasAll()
	}
	now := at
	for ; ctx.Err() == nil && now < deadline; now = s.r.cfg.Clock.Now() {
		if gone() {
			d.DrainedNs = now
			break
		}
		time.Sleep(time.Millisecond)
	}
	d.Received = s.received() - before
	if b.Continue {
		s.until.Store(now + 1)
	}
	if took := now - at; took > 0 {
		d.PerSecond = float64(d.Received) / (float64(took) / 1e9)
	}
	if d.DrainedNs == 0 {
		d.Left = s.acked() - s.received()
		if ctx.Err() == nil {
			s.warnf("the backlog of %d messages was not gone %v after the release: %d messages were left", d.Backlog, s.plan.Load.DrainTimeout, d.Left)
		}
		return
	}
	s.events.add(s.r.cfg.actor(), "drained", fmt.Sprintf("%d messages were received in %v, and the backlog is gone", d.Received, time.Duration(now-at).Round(time.Microsecond)), now-at)
}

// wait waits for d, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// warnf keeps a finding about the step.
func (s *step) warnf(format string, a ...any) {
	text := fmt.Sprintf(format, a...)
	s.events.add(s.r.cfg.actor(), "note", text, rawlog.Null)
	s.r.warn(fmt.Sprintf("step %d, repeat %d: %s", s.plan.Step, s.plan.Repeat, text))
}
