package runner

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/runner/payload"
	"queuebench/runner/schedule"
)

const (
	// lead is between the moment when everybody is ready and the first message.
	lead = 100 * time.Millisecond
	// grace is how long a step waits, after every end mark has come, for
	// messages that were acknowledged and have not come, and for the marks
	// when all else has.
	grace = time.Second
	// closeTimeout bounds the closing of producers and consumers, and
	// hurriedTimeout bounds it after Ctrl-C.
	closeTimeout   = 10 * time.Second
	hurriedTimeout = 300 * time.Millisecond
	// removeTimeout bounds the removal of a step's objects, which does not
	// depend on the run's context, and hurriedRemoval bounds it after Ctrl-C.
	removeTimeout  = 2 * time.Minute
	hurriedRemoval = 30 * time.Second
	// removeNotice is how long a removal after an interrupt goes on in silence.
	removeNotice = 500 * time.Millisecond
	// storeTimeout bounds the wait for a step's parts to be stored; they are
	// kept in the spool and tried on afterwards.
	storeTimeout = time.Minute
)

// allowance is for how long after the schedule's end messages that are late are
// still sent: a second, but no longer than the step itself. Without it the last
// messages of a step would be overrun whenever the thread wakes up late.
func allowance(d time.Duration) time.Duration { return min(d, time.Second) }

// step is a step that is running.
type step struct {
	r    *run
	plan Plan
	rec  rawlog.Step
	tag  uint32

	queues     []queue.Queue // of each topic
	partitions int           // of each queue
	outlets    []queue.Queue // what consumers of each topic read: queues, unless a pipeline lies between
	outlet     queue.Info    // of each
	payloads   *payload.Set
	events     *events
	besides    *Beside // nil for none
	senders    []*sender
	receivers  []*receiver
	groups     []*group

	attendance *attendance // of a consume half
	troubled   bool        // shareMarks has told of trouble
	withoutEnd string      // why a consume half ended without end marks; empty when it did not

	start     atomic.Int64 // of the schedule, ns; 0 before it is set
	stop      atomic.Bool
	cut       bool    // ended before its drain had
	scheduled []int64 // per producer, once its load has ended

	receiving sync.WaitGroup
	ended     chan struct{} // closed when every actor has ended
	fatal     chan error    // the first error of each actor that cannot go on
	monitor   *monitor
	loop      *loop // of a closed loop
	hold      *hold // of the consumers; nil for none
	// until is when a load ends that goes on until something has happened, ns
	// since the epoch; 0 as long as nobody knows.
	until        atomic.Int64
	closedResult *ClosedResult
	trend        Trend // where the run is a search
	expired      bool  // the drain deadline passed
}

// tagOf tells the messages of a run's steps apart, and from those of others.
func tagOf(runID string, index int) uint32 {
	h := fnv.New32a()
	h.Write([]byte(runID))
	return h.Sum32() + uint32(index)
}

func newStep(r *run, p Plan, index int) *step {
	if p.Schedule == nil {
		p.Schedule = untold
	}
	s := &step{r: r, plan: p, tag: tagOf(r.cfg.Run, index), partitions: 1, ended: make(chan struct{})}
	s.rec = rawlog.Step{
		Step: p.Step, Repeat: p.Repeat, Rate: p.Rate.PerSecond(), Settings: maps.Clone(p.Settings),
		DurationNs: int64(p.Schedule.Duration()), Producers: p.Load.AllProducers(), Parts: []rawlog.PartInfo{},
	}
	s.rec.Arrivals = p.Schedule.Name()
	if v, ok := p.Schedule.(schedule.Varying); ok && len(v.Profile()) > 1 {
		s.rec.RateProfile = v.Profile().String()
	}
	if c := p.Closed; c != nil {
		s.loop = newLoop(s, *c)
		s.rec.Loop, s.rec.Mode, s.rec.Workers, s.rec.Concurrency = rawlog.LoopClosed, c.Mode, c.Workers, c.Concurrency
		s.rec.Operations, s.rec.WarmupOperations = c.Operations, c.Warmup
	}
	if p.Backlog != nil || p.Closed != nil && p.Closed.Mode == rawlog.ModeConsume {
		s.hold = newHold()
	}
	s.payloads = payload.New(p.Load.Payload, r.cfg.Seed, p.Load.AllProducers())
	first := 0
	if r.cfg.Half != nil {
		first = r.cfg.Half.FirstGroup
	}
	for g := range p.Load.Groups {
		s.groups = append(s.groups, newGroup(fmt.Sprintf("group-%d", first+g), p.Load.AllProducers()))
		s.rec.Groups = append(s.rec.Groups, s.groups[g].name)
	}
	if p.Role == rawlog.RoleConsume {
		s.attendance = newAttendance(s)
	}
	s.events = &events{clock: r.cfg.Clock, log: r.cfg.Log.Events(p.Step, p.Repeat, r.cfg.actor()), batches: r.cfg.Log.Batches(p.Step, p.Repeat, r.cfg.actor())}
	s.fatal = make(chan error, p.Load.AllProducers()+p.Load.Topics*p.Load.Groups*p.Load.Consumers)
	return s
}

// run runs the step to its end. Its failure is in the record, and returned.
// Clean-up of the queue's objects is left to remove.
func (s *step) run(ctx context.Context) error {
	s.events.add(s.r.cfg.actor(), "start", s.title(), rawlog.Null)
	s.monitor = newMonitor(s)
	s.monitor.phase("opening")
	before, logBefore := s.r.requests(), s.r.cfg.Log.Stats()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stopWatching := context.AfterFunc(ctx, func() { s.stop.Store(true) })
	defer stopWatching()

	endBeside := s.beside(ctx)
	err := s.open(ctx, cancel)
	if err == nil {
		err = s.driveHalf(ctx, cancel)
	}
	endBeside()
	s.close(ctx, cancel)
	err = errors.Join(err, s.account())
	after := s.r.requests()
	s.rec.Requests = requestsSince(before, after)
	s.rec.Cost = costOf(s.r.cfg.Prices, before, after, s.rec.Accounting.Acked)
	if err != nil {
		s.events.add(s.r.cfg.actor(), "failure", oneLine(err), rawlog.Null)
		if s.rec.Failure = oneLine(err); s.r.interrupted() {
			s.rec.Failure = "interrupted"
		}
	}
	for _, text := range logTrouble(logBefore, s.r.cfg.Log.Stats()) {
		s.events.add(s.r.cfg.actor(), "note", text, rawlog.Null)
		s.r.warn(fmt.Sprintf("step %d, repeat %d: %s", s.plan.Step, s.plan.Repeat, text))
	}
	s.rec.Complete = err == nil
	s.rec.EndedNs = s.r.cfg.Clock.Now()
	s.events.add(s.r.cfg.actor(), "end", fmt.Sprintf("step %d, repeat %d", s.plan.Step, s.plan.Repeat), rawlog.Null)
	s.events.close()
	s.monitor.stop()
	s.monitor.showEnd()
	return err
}

// forHowLong is how long the schedule lasts, where there is one.
func (s *step) forHowLong() string {
	if s.loop != nil || s.plan.Backlog != nil {
		return ""
	}
	return fmt.Sprintf(" for %v", s.plan.Schedule.Duration())
}

// close ends the actors and the books.
func (s *step) close(ctx context.Context, cancel context.CancelCauseFunc) {
	s.monitor.phase("closing")
	timeout := closeTimeout
	if s.r.interrupted() {
		timeout = hurriedTimeout
	}
	s.stop.Store(true)
	cancel(nil)
	for _, p := range s.senders {
		p.books.Close(s.cut)
	}
	var closing sync.WaitGroup
	for _, p := range s.senders {
		closing.Go(func() { s.closed(p.name(), errors.Join(p.producer.Close(), p.source.Close())) })
	}
	for _, r := range s.receivers {
		closing.Go(func() { s.closed(r.name(), r.consumer.Close()) })
	}
	go func() {
		closing.Wait()
		s.receiving.Wait()
		close(s.ended)
	}()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-s.ended:
	case <-timer.C:
		text := fmt.Sprintf("producers or consumers did not close within %v; they were left behind", timeout)
		s.events.add(s.r.cfg.actor(), "note", text, rawlog.Null)
		s.r.warn(text)
	}
}

func (s *step) closed(actor string, err error) {
	if err != nil {
		s.events.add(actor, "failure", "closing: "+err.Error(), rawlog.Null)
	}
}

// remove deletes what the step left in the queue's store, in a time of its own.
func (s *step) remove(ctx context.Context) (err error) {
	if len(s.queues) == 0 {
		return nil
	}
	keep, err := s.keeps(ctx)
	timeout := removeTimeout
	if ctx.Err() != nil {
		timeout = hurriedRemoval
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	select {
	case <-s.ended: // what is still written while it is removed would stay
	case <-ctx.Done():
	}
	for i, q := range s.allQueues() {
		topic := i % len(s.queues)
		if keep {
			err = errors.Join(err, q.Close())
			continue
		}
		if rerr := q.Remove(ctx); rerr != nil {
			if ctx.Err() != nil {
				rerr = fmt.Errorf("it was not done within %v, and `bench clean` removes what is left: %w", timeout, rerr)
			}
			err = errors.Join(err, fmt.Errorf("removing the queue%s of step %d, repeat %d: %w", s.ofTopic(topic), s.plan.Step, s.plan.Repeat, rerr))
		}
		err = errors.Join(err, q.Close())
	}
	return err
}
