package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/runner/identity"
	"queuebench/runner/ledger"
	"queuebench/runner/schedule"
)

// open makes the queues and their actors: consumers first, which wait for what
// the producers make.
func (s *step) open(ctx context.Context, cancel context.CancelCauseFunc) error {
	for topic := range s.plan.Load.Topics {
		if err := s.openQueue(ctx, topic); err != nil {
			return err
		}
	}
	s.describeQueues()
	for topic := range s.queues {
		for _, g := range s.groups {
			for range s.plan.Load.Consumers {
				if err := s.openConsumer(ctx, topic, g, cancel); err != nil {
					return err
				}
			}
		}
	}
	for id := range s.plan.Load.AllProducers() {
		if !s.own(id) {
			continue
		}
		if err := s.openProducer(ctx, id); err != nil {
			return err
		}
	}
	return s.sendHeaders(ctx)
}

func (s *step) openQueue(ctx context.Context, topic int) error {
	q, err := s.plan.Open(ctx, topic)
	if err != nil {
		return fmt.Errorf("opening the queue: %w", err)
	}
	s.queues = append(s.queues, q)
	n := q.Info().Partitions
	switch {
	case n < 1:
		return fmt.Errorf("opening the queue: it has %d partitions", n)
	case topic > 0 && n != s.partitions:
		return fmt.Errorf("opening the queue: topic %d has %d partitions, topic 0 has %d", topic, n, s.partitions)
	}
	if len(s.plan.Load.Payload.Headers) > 0 && !q.Info().Headers {
		return fmt.Errorf("opening the queue: a %s queue carries no headers, and the load has %d", q.Info().Kind, len(s.plan.Load.Payload.Headers))
	}
	if err := carries(q.Info(), s.plan.Load.Payload.Identity); err != nil {
		return err
	}
	s.partitions = n
	if s.plan.Role == rawlog.RoleConsume {
		return s.openOutlet(ctx, topic) // the producers' half creates it
	}
	create := q.Create
	if h := s.r.cfg.Half; h != nil && h.Meet != nil {
		create = func(ctx context.Context) error { return h.Meet.Create(ctx, topic, q.Create) }
	}
	if err := create(ctx); err != nil {
		return fmt.Errorf("creating the queue: %w", err)
	}
	return s.openOutlet(ctx, topic)
}

func (s *step) openConsumer(ctx context.Context, topic int, g *group, cancel context.CancelCauseFunc) (err error) {
	cfg := s.r.cfg
	id := len(s.receivers)
	start := queue.Start{Kind: queue.StartEarliest}
	if a := s.attendance; a != nil {
		id += a.cfg.FirstConsumer
		if a.cfg.Recorded != nil {
			start = a.cfg.Recorded.start(g.name, topic)
		}
	}
	if s.plan.Through != nil {
		start.Kind = queue.StartLatest
	}
	r := newReceiver(id, g, s.tag, s.plan.Schedule, s.plan.Load.AllProducers(), s.outlet.Partitions)
	if s.plan.readsElsewhere() {
		r.elsewhere, r.unframe, r.headerLine = identity.NewReader(s.plan.identity()), s.plan.unframe(), s.payloads.HeaderLine()
	}
	r.clock, r.start, r.hold, r.loop = cfg.Clock, &s.start, s.hold, s.loop
	if s.loop != nil {
		for p := range r.tracks { // any of them may have sent any number
			r.tracks[p].len = s.loop.cfg.messages()
		}
	}
	r.delay, r.pacing, r.stop = s.plan.Load.ConsumerDelay, s.plan.Load.Pacing, &s.stop
	if s.attendance != nil {
		s.attendance.goOn(r)
	}
	r.consumer, err = s.outlets[topic].Consumer(ctx, queue.ConsumerConfig{
		ID: id, Group: g.name, Start: start, Trace: s.events.traces(r.name()), Event: s.events.of(r.name()),
	})
	if err != nil {
		return fmt.Errorf("opening %s: %w", r.name(), err)
	}
	r.log = cfg.Log.Received(s.plan.Step, s.plan.Repeat, r.name())
	s.receivers = append(s.receivers, r)
	s.events.add(r.name(), "start", "in "+g.name+s.ofTopic(topic), rawlog.Null)
	s.receiving.Go(func() {
		err := r.run(ctx)
		s.events.add(r.name(), "end", endText(err), rawlog.Null)
		if err != nil {
			s.fail(fmt.Errorf("%s: %w%s", r.name(), err, s.alone()), cancel)
		}
	})
	return nil
}

// alone says why a step ends with one consumer of several.
func (s *step) alone() string {
	if n := s.plan.Load.Topics * s.plan.Load.Groups * s.plan.Load.Consumers; n > 1 {
		return fmt.Sprintf(" (the step ends with the first of its %d consumers that fails: what was meant for it would be late or lost)", n)
	}
	return ""
}

func (s *step) openProducer(ctx context.Context, id int) (err error) {
	cfg, load := s.r.cfg, &s.plan.Load
	topic := id / load.Producers
	p := &sender{
		id: id, tag: s.tag, partitions: s.partitions, group: groupOf(s.plan.Schedule),
		unmarked: s.plan.Through != nil, clock: cfg.Clock, pacing: load.Pacing, events: s.events, stop: &s.stop, until: &s.until,
	}
	p.refusals.kind, p.refusals.what = "refused", "were not taken"
	p.failures.kind, p.failures.what = "failed", "failed"
	p.share, p.own = s.share(id), s.ownPartitions()
	if s.loop != nil && s.loop.cfg.Mode != rawlog.ModeConsume {
		p.line = newLine(s.loop, p)
		s.loop.lines = append(s.loop.lines, p.line)
	}
	limit := load.MaxInFlight / load.AllProducers()
	p.books = ledger.New(id, limit, s.partitions, cfg.Log.Sent(s.plan.Step, s.plan.Repeat, p.name()), cfg.Clock.Now)
	p.producer, err = s.queues[topic].Producer(ctx, queue.ProducerConfig{
		ID: id, Acked: p.acked, Trace: s.events.traces(p.name()), Event: s.events.of(p.name()),
	})
	if err != nil {
		return fmt.Errorf("opening %s: %w", p.name(), err)
	}
	if p.source, err = s.payloads.Source(id, s.tag, maxBatch, maxBatchBytes); err != nil {
		return errors.Join(fmt.Errorf("opening %s: %w", p.name(), err), p.producer.Close())
	}
	s.senders = append(s.senders, p)
	s.events.add(p.name(), "start", strings.TrimPrefix(s.ofTopic(topic), " "), rawlog.Null)
	return nil
}

// groupOf is the most messages of a schedule that are handed over at once.
func groupOf(s schedule.Schedule) int {
	if g, ok := s.(schedule.Grouped); ok {
		return g.Group()
	}
	return maxBatch
}

// share is a producer's part of the schedule, which all producers of all topics
// share.
func (s *step) share(producer int) schedule.Share {
	return schedule.NewShare(s.plan.Schedule, producer, s.plan.Load.AllProducers())
}

// ofTopic names a topic where there are several.
func (s *step) ofTopic(topic int) string {
	if s.plan.Load.Topics == 1 {
		return ""
	}
	return fmt.Sprintf(" of topic-%d", topic)
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
