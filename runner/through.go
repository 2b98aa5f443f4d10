package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/runner/envelope"
	"queuebench/runner/identity"
)

// Through makes a step one whose consumers do not read what its producers write:
// a pipeline of the user's lies between the two, and the latency is that of the
// pipeline with both queues. It is not the runner's: it must be there already.
//
// The pipeline may make one message of several, or answer them in any order. A
// step has no end marks then, since nobody knows what a pipeline would make of
// them: it ends a second after each group has all that was acknowledged.
type Through struct {
	// Open makes the queue that the consumers of a topic, from 0, read. It is
	// read from where it ends when the step begins.
	Open func(ctx context.Context, topic int) (queue.Queue, error)
	// Identity is where its messages carry the identities of those that they
	// stand for.
	Identity identity.Place
	// Unframe is Load.Unframe of its messages.
	Unframe func(payload []byte) (body []byte, err error)
}

// check refuses what cannot go through a pipeline.
func (t *Through) check(p *Plan) error {
	switch {
	case p.Role != rawlog.RoleAll:
		return errors.New("one half of a run cannot go through a pipeline: its other half would wait for marks that the pipeline does not pass on")
	case p.Closed != nil:
		return errors.New("a closed loop cannot go through a pipeline: it needs a schedule")
	case p.Backlog != nil:
		return errors.New("a backlog is of one queue: it cannot go through a pipeline")
	}
	return nil
}

// readsElsewhere tells whether identities are not the first bytes of payloads.
func (p *Plan) readsElsewhere() bool {
	return p.Through != nil || !p.Load.Payload.Identity.InPayload() || p.Load.Payload.Format != 0 || p.Load.Unframe != nil
}

// unframe takes off what stands before the bodies that consumers find; nil for
// nothing.
func (p *Plan) unframe() func([]byte) ([]byte, error) {
	if p.Through != nil {
		return p.Through.Unframe
	}
	return p.Load.Unframe
}

// identity is where consumers find identities.
func (p *Plan) identity() identity.Place {
	if p.Through != nil {
		return p.Through.Identity
	}
	return p.Load.Payload.Identity
}

// openOutlet makes what the consumers of a topic read.
func (s *step) openOutlet(ctx context.Context, topic int) error {
	if s.plan.Through == nil {
		s.outlets, s.outlet = s.queues, s.queues[0].Info()
		return nil
	}
	q, err := s.plan.Through.Open(ctx, topic)
	if err != nil {
		return fmt.Errorf("opening the queue behind the pipeline: %w", err)
	}
	s.outlets = append(s.outlets, q)
	n := q.Info().Partitions
	if n < 1 || topic > 0 && n != s.outlet.Partitions {
		return fmt.Errorf("opening the queue behind the pipeline: topic %d has %d partitions, topic 0 has %d", topic, n, s.outlet.Partitions)
	}
	s.outlet = q.Info()
	if err := carries(s.outlet, s.plan.Through.Identity); err != nil {
		return err
	}
	if err := q.Create(ctx); err != nil {
		return fmt.Errorf("creating the queue behind the pipeline: %w", err)
	}
	return nil
}

// carries refuses a place of identities that a queue does not hand over.
func carries(info queue.Info, p identity.Place) error {
	switch {
	case p.InKey() && !info.Keys:
		if info.Headers {
			return fmt.Errorf("a %s queue hands over no keys: put the identity into a header, --identity header:NAME", info.Kind)
		}
		return fmt.Errorf("a %s queue hands over no keys: put the identity elsewhere", info.Kind)
	case p.Header() != "" && !info.Headers:
		return fmt.Errorf("a %s queue hands over no headers: put the identity elsewhere", info.Kind)
	}
	return nil
}

// describeQueues keeps what the queues say of themselves. A pipeline promises
// nothing, whatever its queues do.
func (s *step) describeQueues() {
	info := s.queues[0].Info()
	s.rec.Durability = info.Durability
	if s.plan.Through == nil {
		s.r.queueIs(info, nil)
		return
	}
	info.LosesNothing, info.DeliversOnce = false, false
	out := s.outlet
	out.LosesNothing, out.DeliversOnce = false, false
	s.r.queueIs(info, &out)
}

// allQueues are those of both sides.
func (s *step) allQueues() []queue.Queue {
	if s.plan.Through == nil {
		return s.queues
	}
	return append(s.queues[:len(s.queues):len(s.queues)], s.outlets...)
}

// sendHeaders sends the line that comes before the messages, where the format
// has one, once to each topic, and waits until it is there.
func (s *step) sendHeaders(ctx context.Context) error {
	line := s.payloads.HeaderLine()
	if line == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.plan.Load.DrainTimeout)
	defer cancel()
	for topic := range s.queues {
		p := s.senders[topic*s.plan.Load.Producers]
		p.books.RegisterEnd(1, p.clock.Now())
		_, err := p.producer.Send(ctx, []queue.Message{{Payload: line, Partition: 0}})
		if err == nil {
			err = p.producer.Flush(ctx)
		}
		if err != nil {
			return fmt.Errorf("sending the header line of delimited messages: %w", err)
		}
	}
	return nil
}

// takeOther records a delivery whose identities stand elsewhere than in the
// first bytes of its payload, and returns for how many messages it stands.
func (r *receiver) takeOther(d *queue.Delivery, now int64) (deliveries int64) {
	if r.headerLine != nil && bytes.Equal(d.Payload, r.headerLine) {
		return 0
	}
	if r.unframe != nil {
		body, err := r.unframe(d.Payload)
		if err != nil {
			r.misframe(err)
			return 0
		}
		unframed := *d
		unframed.Payload = body
		d = &unframed
	}
	spans, err := r.elsewhere.Read(d)
	if err != nil {
		r.notOurs(err)
		return 0
	}
	for _, span := range spans {
		id := span.First
		switch {
		case id.Tag != r.tag || int(id.Producer) >= len(r.tracks):
			r.notOurs(nil)
			continue
		case id.Kind != envelope.Data:
			r.mark(id, d)
			continue
		case id.Seq+span.N > r.tracks[id.Producer].len || d.Partition < 0 || int(d.Partition) >= r.partitions:
			r.corrupt.Add(1)
			continue
		}
		if deliveries == 0 {
			r.endPoll(now)
		}
		r.count(id, span.N, d.Partition, now)
		row := r.row(id, d.Partition, now)
		row.Offset, row.BrokerNs, row.BrokerKind = d.Offset, d.BrokerNs, d.BrokerKind
		for left := span.N; left > 0; {
			rows := r.log.Reserve(int(min(left, maxBatch)))
			for i := range rows {
				rows[i] = row
				row.Seq++
			}
			r.log.Publish(len(rows))
			left -= int64(len(rows))
		}
		deliveries += span.N
	}
	return deliveries
}
