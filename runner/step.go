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
	"queuebench/runner/ledger"
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
	// depend on the run's context.
	removeTimeout = 30 * time.Second
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

	queue      queue.Queue
	partitions int
	events     *events
	senders    []*sender
	receivers  []*receiver
	groups     []*group

	start     atomic.Int64 // of the schedule, ns; 0 before it is set
	stop      atomic.Bool
	cut       bool    // ended before its drain had
	scheduled []int64 // per producer, once its load has ended

	receiving sync.WaitGroup
	ended     chan struct{} // closed when every actor has ended
	fatal     chan error    // the first error of each actor that cannot go on
	monitor   *monitor
}

// tagOf tells the messages of a run's steps apart, and from those of others.
func tagOf(runID string, index int) uint32 {
	h := fnv.New32a()
	h.Write([]byte(runID))
	return h.Sum32() + uint32(index)
}

func newStep(r *run, p Plan, index int) *step {
	s := &step{r: r, plan: p, tag: tagOf(r.cfg.Run, index), partitions: 1, ended: make(chan struct{})}
	s.rec = rawlog.Step{
		Step: p.Step, Repeat: p.Repeat, Rate: p.Rate.PerSecond(), Settings: maps.Clone(p.Settings),
		DurationNs: int64(p.Schedule.Duration()), Producers: r.cfg.Producers, Parts: []rawlog.PartInfo{},
	}
	for g := range r.cfg.Groups {
		s.groups = append(s.groups, newGroup(fmt.Sprintf("group-%d", g), r.cfg.Producers))
		s.rec.Groups = append(s.rec.Groups, s.groups[g].name)
	}
	s.events = &events{clock: r.cfg.Clock, log: r.cfg.Log.Events(p.Step, p.Repeat, process), batches: r.cfg.Log.Batches(p.Step, p.Repeat, process)}
	s.fatal = make(chan error, r.cfg.Producers+r.cfg.Groups*r.cfg.Consumers)
	return s
}

// run runs the step to its end. Its failure is in the record, and returned.
// Clean-up of the queue's objects is left to remove.
func (s *step) run(ctx context.Context) error {
	s.events.add(process, "start", fmt.Sprintf("step %d, repeat %d: %s messages per second for %v", s.plan.Step, s.plan.Repeat, s.plan.Rate, s.plan.Schedule.Duration()), rawlog.Null)
	s.monitor = newMonitor(s)
	s.monitor.phase("opening")
	before, logBefore := s.r.requests(), s.r.cfg.Log.Stats()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stopWatching := context.AfterFunc(ctx, func() { s.stop.Store(true) })
	defer stopWatching()

	err := s.open(ctx, cancel)
	if err == nil {
		err = s.drive(ctx, cancel)
	}
	s.close(ctx, cancel)
	err = errors.Join(err, s.account())
	s.rec.Requests = requestsSince(before, s.r.requests())
	if err != nil {
		s.events.add(process, "failure", oneLine(err), rawlog.Null)
		if s.rec.Failure = oneLine(err); s.r.interrupted() {
			s.rec.Failure = "interrupted"
		}
	}
	for _, text := range logTrouble(logBefore, s.r.cfg.Log.Stats()) {
		s.events.add(process, "note", text, rawlog.Null)
		s.r.warn(fmt.Sprintf("step %d, repeat %d: %s", s.plan.Step, s.plan.Repeat, text))
	}
	s.rec.Complete = err == nil
	s.rec.EndedNs = s.r.cfg.Clock.Now()
	s.events.add(process, "end", fmt.Sprintf("step %d, repeat %d", s.plan.Step, s.plan.Repeat), rawlog.Null)
	s.events.close()
	s.monitor.stop()
	return err
}

// open makes the queue and its actors: consumers first, which wait for what
// the producers make.
func (s *step) open(ctx context.Context, cancel context.CancelCauseFunc) (err error) {
	cfg := s.r.cfg
	if s.queue, err = cfg.Open(ctx, s.plan); err != nil {
		return fmt.Errorf("opening the queue: %w", err)
	}
	if s.partitions = s.queue.Info().Partitions; s.partitions < 1 {
		return fmt.Errorf("opening the queue: it has %d partitions", s.partitions)
	}
	s.r.queueIs(s.queue.Info())
	if err := s.queue.Create(ctx); err != nil {
		return fmt.Errorf("creating the queue: %w", err)
	}
	for _, g := range s.groups {
		for range cfg.Consumers {
			if err := s.openConsumer(ctx, g, cancel); err != nil {
				return err
			}
		}
	}
	for id := range cfg.Producers {
		if err := s.openProducer(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func (s *step) openConsumer(ctx context.Context, g *group, cancel context.CancelCauseFunc) (err error) {
	cfg := s.r.cfg
	id := len(s.receivers)
	r := newReceiver(id, g, s.tag, s.plan.Schedule, cfg.Producers, s.partitions)
	r.clock, r.start = cfg.Clock, &s.start
	r.consumer, err = s.queue.Consumer(ctx, queue.ConsumerConfig{
		ID: id, Group: g.name, Start: queue.Start{Kind: queue.StartEarliest}, Trace: s.events.traces(r.name()), Event: s.events.of(r.name()),
	})
	if err != nil {
		return fmt.Errorf("opening %s: %w", r.name(), err)
	}
	r.log = cfg.Log.Received(s.plan.Step, s.plan.Repeat, r.name())
	s.receivers = append(s.receivers, r)
	s.events.add(r.name(), "start", "in "+g.name, rawlog.Null)
	s.receiving.Go(func() {
		err := r.run(ctx)
		s.events.add(r.name(), "end", endText(err), rawlog.Null)
		if err != nil {
			s.fail(fmt.Errorf("%s: %w", r.name(), err), cancel)
		}
	})
	return nil
}

func (s *step) openProducer(ctx context.Context, id int) (err error) {
	cfg := s.r.cfg
	p := &sender{
		id: id, tag: s.tag, partitions: s.partitions, size: cfg.MessageSize, filler: s.r.filler,
		clock: cfg.Clock, pacing: cfg.Pacing, events: s.events, stop: &s.stop,
	}
	p.refusals.kind, p.refusals.what = "refused", "were not taken"
	p.failures.kind, p.failures.what = "failed", "failed"
	p.share = s.r.share(s.plan.Schedule, id)
	limit := cfg.MaxInFlight / cfg.Producers
	p.books = ledger.New(id, limit, s.partitions, cfg.Log.Sent(s.plan.Step, s.plan.Repeat, p.name()), cfg.Clock.Now)
	p.producer, err = s.queue.Producer(ctx, queue.ProducerConfig{
		ID: id, Acked: p.acked, Trace: s.events.traces(p.name()), Event: s.events.of(p.name()),
	})
	if err != nil {
		return fmt.Errorf("opening %s: %w", p.name(), err)
	}
	s.senders = append(s.senders, p)
	s.events.add(p.name(), "start", "", rawlog.Null)
	return nil
}

// fail notes that an actor cannot go on, and ends the step.
func (s *step) fail(err error, cancel context.CancelCauseFunc) {
	s.fatal <- err
	cancel(err)
}

func endText(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
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
		closing.Go(func() { s.closed(p.name(), p.producer.Close()) })
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
		s.events.add(process, "note", text, rawlog.Null)
		s.r.warn(text)
	}
}

func (s *step) closed(actor string, err error) {
	if err != nil {
		s.events.add(actor, "failure", "closing: "+err.Error(), rawlog.Null)
	}
}

// remove deletes what the step left in the queue's store, in a time of its own.
func (s *step) remove(ctx context.Context) error {
	if s.queue == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	select {
	case <-s.ended: // what is still written while it is removed would stay
	case <-ctx.Done():
	}
	err := s.queue.Remove(ctx)
	if err != nil {
		err = fmt.Errorf("removing the queue of step %d, repeat %d: %w", s.plan.Step, s.plan.Repeat, err)
	}
	return errors.Join(err, s.queue.Close())
}
