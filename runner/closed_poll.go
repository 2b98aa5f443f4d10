package runner

import (
	"context"
	"time"

	"queuebench/rawlog"
)

// fillAndPoll fills the queue while the consumers are held, releases them, and
// waits until they have done their polls, or have everything.
func (s *step) fillAndPoll(ctx context.Context, start int64) error {
	s.monitor.phase("fill")
	filling, cancel := context.WithTimeout(ctx, s.plan.Load.DrainTimeout)
	defer cancel()
	if err := s.fillQueue(filling, start, start+int64(s.plan.Load.DrainTimeout)); err != nil || ctx.Err() != nil {
		return err
	}
	s.release()
	s.monitor.phase("load")
	last, moved := s.received(), time.Now()
	for ctx.Err() == nil && !s.loop.polled() && !s.hasAll() {
		time.Sleep(time.Millisecond)
		if n := s.received(); n > last {
			last, moved = n, time.Now()
		}
		if time.Since(moved) > s.plan.Load.DrainTimeout { // what is missing is lost
			break
		}
	}
	return nil
}

// polled tells whether all polls are done.
func (l *loop) polled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.enough()
}

// poll is what a receiver knows of the poll that it has under way.
type poll struct {
	at   int64 // when Receive was called; 0 for one that is not measured
	warm bool
}

// beginPoll is called before Receive.
func (r *receiver) beginPoll() {
	r.poll = poll{}
	if r.loop != nil && r.loop.cfg.Mode == rawlog.ModeConsume {
		r.poll.at, r.poll.warm, _ = r.loop.begin(nil)
	}
}

// endPoll is called when the poll has returned messages of the step, before
// they are recorded.
func (r *receiver) endPoll(now int64) {
	if r.poll.at != 0 && !r.loop.count(completed, r.poll.at, now, r.poll.warm) {
		r.poll.at = 0
	}
}
