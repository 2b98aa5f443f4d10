package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"queuebench/clock"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/runner/envelope"
	"queuebench/runner/schedule"
)

// Half is what a process needs that is the producers of a run alone, or its
// consumers; the Role of the plan says which. Both run one plan, each with a
// manifest, actors and a spool of its own, and share nothing but the queue:
// what the consumers must know of the load they learn from begin marks.
type Half struct {
	// Spec makes the schedule, and is told to the consumers.
	Spec schedule.Spec

	// Worker is which of the Workers processes of its role this is; 0 of 0 where
	// it is the only one. Load.Producers are those of all of them, and this one
	// has as many as each other.
	Worker, Workers int
	// OwnPartitions has each of the Workers produce to partitions of its own, for
	// queues whose writers hinder each other.
	OwnPartitions bool
	// Meet makes the processes of a run one run; nil where nobody is waited for.
	Meet Meet

	// The rest is of a consume half.

	// FirstConsumer and FirstGroup number its consumers and groups after those
	// of other processes.
	FirstConsumer, FirstGroup int
	// Sharing is with other processes that consume in the same groups; nil where
	// the groups are this one's own.
	Sharing Sharing
	// Wait bounds the wait for the first message.
	Wait time.Duration
	// IdleTimeout ends it when nothing has come for so long; 0 for never.
	IdleTimeout time.Duration
	// ToOwn is what is to be added to stamps of a clock to have those of this
	// process, or why that is not known.
	ToOwn func(clock.Identity) (addNs int64, err error)
	// Recorded is what a process of the same name recorded before it was killed;
	// nil where this is the first.
	Recorded *Recorded
	// MayRemove says, once every end mark has come, whether nobody else uses the
	// queue any more, and waits for that; nil leaves the queue alone.
	MayRemove func(ctx context.Context) error
}

// checkHalf refuses halves that are none.
func (c *Config) checkHalf() error {
	for i := range c.Plans {
		if (c.Plans[i].Role != rawlog.RoleAll) != (c.Half != nil) {
			return errors.New("a plan is of a half, and the run is not, or the other way round")
		}
	}
	if c.Half != nil && (len(c.Plans) != 1 || c.Next != nil) {
		return fmt.Errorf("a half of a run has one step, not %d", len(c.Plans))
	}
	if h := c.Half; h != nil && h.Workers > 1 {
		if p := c.Plans[0].Load.Producers; h.Worker < 0 || h.Worker >= h.Workers || c.Plans[0].Role == rawlog.RoleProduce && p%h.Workers != 0 {
			return fmt.Errorf("worker %d of %d cannot have its share of %d producers of a topic", h.Worker, h.Workers, p)
		}
	}
	return nil
}

// driveHalf runs a half's load and drain.
func (s *step) driveHalf(ctx context.Context, cancel context.CancelCauseFunc) error {
	if s.plan.Role == rawlog.RoleConsume {
		return s.attend(ctx, cancel)
	}
	return s.drive(ctx, cancel)
}

// beginMark is the payload of the begin marks, behind the identity.
func (s *step) beginMark(start int64) ([]byte, error) {
	cfg, load := s.r.cfg, &s.plan.Load
	b := Begin{
		Version: beginVersion, Run: cfg.Run, Queue: s.queues[0].Info().Kind,
		CommitIntervalNs: int64(s.queues[0].Info().CommitInterval),
		StartNs:          start, LeadNs: max(0, start-cfg.Clock.Now()), DurationNs: int64(s.plan.Schedule.Duration()), Rate: s.plan.Rate.PerSecond(),
		Arrivals: s.plan.Schedule.Name(), Messages: s.plan.Schedule.Len(),
		Topics: load.Topics, Producers: load.AllProducers(), Partitions: s.partitions,
		Clock: cfg.Clock.Identity(), Schedule: &cfg.Half.Spec,
	}
	return b.encode()
}

// begin sends a begin mark to each partition. That a queue refuses them is no
// failure: they are not what is measured.
func (s *sender) begin(ctx context.Context) error {
	if s.told == nil {
		return nil
	}
	from := s.clock.Now()
	marks := make([]queue.Message, s.partitions)
	for i := range marks {
		p := append(make([]byte, envelope.Size), s.told...)
		envelope.Encode(p, envelope.ID{Kind: envelope.Begin, Producer: uint16(s.id), Tag: s.tag})
		marks[i] = queue.Message{Payload: p, Partition: int32(i)}
	}
	s.books.RegisterEnd(len(marks), from)
	taken, err := s.producer.Send(ctx, marks)
	s.holds.Add(from, s.clock.Now())
	if err == nil {
		return nil
	}
	s.books.Retract(len(marks)-taken, true)
	if ctx.Err() != nil {
		return nil // load will see it
	}
	s.events.add(s.name(), "note", "begin marks were refused: "+err.Error(), rawlog.Null)
	return nil
}

// mark takes a delivery that is no message. The group is locked.
func (r *receiver) mark(id envelope.ID, d *queue.Delivery) {
	switch {
	case id.Kind == envelope.End:
		r.group.seen(mark{id.Producer, d.Partition}, id.Seq)
	case r.half != nil:
		r.half.told(beginOf(d.Payload))
	default:
		r.foreign.Add(1) // nobody of a whole run begins with a mark
	}
}

// attends makes a track know its schedule as soon as that is known, and tells
// whether a delivery is to be recorded: not one that a killed process recorded
// and that comes again because this one started before it.
func (r *receiver) attends(t *track, id envelope.ID, d *queue.Delivery) bool {
	if !t.timed {
		r.half.timed(t, int(id.Producer))
	}
	if r.recorded.again(id.Producer, id.Seq, d.Partition, d.Offset) {
		r.skipped++
		return false
	}
	return true
}

// tellPassedOver says how many deliveries came again that a killed process had
// recorded.
func (s *step) tellPassedOver() {
	for _, r := range s.receivers {
		r.logMu.Lock()
		n := r.skipped
		r.logMu.Unlock()
		if n > 0 {
			text := fmt.Sprintf("%d deliveries came again that were recorded before the kill, and were passed over", n)
			s.events.add(r.name(), "resume", text, rawlog.Null)
			s.r.cfg.noteTo("%s: %s", r.name(), text)
		}
	}
}

// title says what a step does.
func (s *step) title() string {
	text := fmt.Sprintf("step %d, repeat %d", s.plan.Step, s.plan.Repeat)
	if s.plan.Role != rawlog.RoleConsume {
		text += fmt.Sprintf(": %s%s", s.plan.What(), s.forHowLong())
	}
	return text
}

// keeps tells whether the queue stays when the step has ended: a half leaves it
// to the other one, and removes it only where it was asked to and nobody else
// uses it. A whole run does not keep it.
func (s *step) keeps(ctx context.Context) (bool, error) {
	half := s.r.cfg.Half
	if half == nil {
		return false, nil
	}
	if half.MayRemove == nil || s.withoutEnd != "" || s.cut || ctx.Err() != nil {
		return true, nil
	}
	if err := half.MayRemove(ctx); err != nil {
		return true, fmt.Errorf("the queue was not removed: %w; `bench clean` removes it", err)
	}
	return false, nil
}

// leaveOut makes null what a half cannot know.
func (s *step) leaveOut(row *rawlog.SecondRow) {
	switch s.plan.Role {
	case rawlog.RoleProduce:
		row.Received, row.Backlog = rawlog.Null, rawlog.Null
	case rawlog.RoleConsume:
		row.Scheduled, row.Attempted, row.Acked, row.Failed = rawlog.Null, rawlog.Null, rawlog.Null, rawlog.Null
		row.ScheduleLagNs, row.Backlog, row.InFlight, row.QueueDepth = rawlog.Null, rawlog.Null, rawlog.Null, rawlog.Null
	}
}

// show adds to a status what a consume half knows of the load.
func (a *attendance) show(st *Status, now int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	st.Last.Attempted, st.Last.Acked, st.Whole.Attempted, st.Whole.Acked = 0, 0, 0, 0
	if a.begin == nil {
		st.Phase = PhaseWaiting
		return
	}
	st.Plan.Schedule = toldSchedule{a.begin}
	begun := a.toldAt + max(int64(lead), a.begin.LeadNs)
	if at := a.started.Load(); at != 0 {
		begun = at
	}
	// What was waited before is no part of it, nor what a killed process received.
	if since := now - max(begun, a.s.start.Load()); since > 0 && st.Elapsed > 0 {
		st.Whole.Received = (st.Whole.Received*st.Elapsed.Seconds() - float64(a.before)) * 1e9 / float64(since)
	}
	if st.Elapsed = time.Duration(now - begun); st.Elapsed > st.Plan.Schedule.Duration() && st.Phase == "load" {
		st.Phase = "drain"
	}
}
