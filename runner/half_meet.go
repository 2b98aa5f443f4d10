package runner

import (
	"context"
	"fmt"
	"time"

	"queuebench/rawlog"
)

// Meet is what several processes of a run have to agree on.
type Meet interface {
	// Create has the queue of a topic created by one of those that produce, and
	// returns when it is.
	Create(ctx context.Context, topic int, create func(context.Context) error) error
	// Begin waits, once everything is open, until it is known when the first
	// message is due.
	Begin(ctx context.Context) (Beginning, error)
}

// Beginning is what the processes of a run agreed on.
type Beginning struct {
	AtNs    int64    // when the first message is due, by the own clock
	Missing []string // processes that had not come by then
	Notes   []string // to be shown
}

// own tells whether this process has a producer.
func (s *step) own(producer int) bool {
	h := s.r.cfg.Half
	if h == nil || h.Workers < 2 {
		return true
	}
	each := s.plan.Load.Producers / h.Workers
	return producer%s.plan.Load.Producers/each == h.Worker
}

// ownPartitions are those that this process produces to; nil for all, as the
// queue chooses.
func (s *step) ownPartitions() (own []int32) {
	h := s.r.cfg.Half
	if h == nil || !h.OwnPartitions || h.Workers < 2 || s.partitions < h.Workers {
		return nil
	}
	for p := h.Worker; p < s.partitions; p += h.Workers {
		own = append(own, int32(p))
	}
	return own
}

// begins is when the schedule begins, once everything is open.
func (s *step) begins(ctx context.Context) (int64, error) {
	clk := s.r.cfg.Clock
	if s.r.cfg.Half == nil || s.r.cfg.Half.Meet == nil {
		return clk.Now() + int64(lead), nil
	}
	s.monitor.phase(PhaseMeeting)
	b, err := s.r.cfg.Half.Meet.Begin(ctx)
	if err != nil {
		return 0, err
	}
	s.r.mu.Lock()
	s.r.cfg.Manifest.Missing = b.Missing
	s.r.mu.Unlock()
	for _, text := range b.Notes {
		s.r.warn(text)
	}
	for _, name := range b.Missing {
		s.r.warn("worker " + name + " did not come, and nobody does its part")
	}
	if late := clk.Now() - b.AtNs; late > 0 && s.plan.Role != rawlog.RoleConsume {
		return 0, fmt.Errorf("the run began %v before this worker knew of it: give all workers a longer --start-delay", time.Duration(late))
	}
	return b.AtNs, nil
}

// PhaseMeeting is the phase of a process that waits for the others of its run.
const PhaseMeeting = "meeting"
