package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"queuebench/queue"
	"queuebench/queue/broker"
)

// Producer publishes over a connection of its own, with a channel for each
// partition: the library tells confirms in the order of a channel, and queues
// confirm apart from one another.
type Producer struct {
	q      *Queue
	cfg    queue.ProducerConfig
	window *broker.Window
	outbox *broker.Outbox
	turn   int

	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	working sync.WaitGroup
	close   sync.Once

	mu      sync.Mutex
	session *session // nil while there is no connection
}

var (
	errAbandoned = errors.New("rabbitmq: the producer was closed before the message was confirmed")
	errNack      = errors.New("rabbitmq: the server refused the message (basic.nack)")
	errReturned  = errors.New("rabbitmq: the server has no queue for the message and returned it")
)

// Producer opens a producer.
func (q *Queue) Producer(ctx context.Context, cfg queue.ProducerConfig) (queue.Producer, error) {
	if q.handles.Closed() {
		return nil, queue.ErrClosed
	}
	p := &Producer{q: q, cfg: cfg, window: broker.NewWindow(q.cfg.MaxPending, cfg.Acked), outbox: broker.NewOutbox(), turn: cfg.ID}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	s, err := p.connect(ctx)
	if err != nil {
		p.cancel()
		return nil, err
	}
	p.session = s
	p.working.Go(p.work)
	if !q.handles.Keep(p) {
		p.Close()
		return nil, queue.ErrClosed
	}
	return p, nil
}

// Send copies the messages, as long as there is room for more without a confirm.
func (p *Producer) Send(ctx context.Context, batch []queue.Message) (int, error) {
	if err := broker.CheckPartitions("rabbitmq", batch, p.q.cfg.Partitions); err != nil {
		return 0, err
	}
	for i := range batch {
		if err := checkHeaders(batch[i].Headers); err != nil {
			return 0, err
		}
	}
	p.turn++
	for sent := 0; sent < len(batch); {
		first, n, err := p.window.Take(ctx, len(batch)-sent)
		if err != nil {
			return sent, err
		}
		p.outbox.Put(first, batch[sent:sent+n], p.q.cfg.Partitions, p.turn)
		sent += n
	}
	return len(batch), nil
}

// work publishes until the producer is closed, over as many connections as it
// takes. What a connection leaves unconfirmed has failed.
func (p *Producer) work() {
	next := int64(0) // the number of the next message to publish
	for {
		p.publish(p.session, &next)
		p.session.close()
		for _, l := range p.session.lines {
			p.window.Settle(l.overtaken(nil))
		}
		if p.ctx.Err() != nil {
			return
		}
		p.event("disconnected", p.session.why.Error())
		p.window.Fail(next, fmt.Errorf("rabbitmq: the connection ended before a confirm, so whether the queue has the message is not known: %w", p.session.why))
		for {
			select {
			case <-time.After(100 * time.Millisecond):
			case <-p.ctx.Done():
				return
			}
			s, err := p.connect(p.ctx)
			if err != nil {
				continue
			}
			p.mu.Lock()
			p.session = s
			p.mu.Unlock()
			if p.ctx.Err() != nil { // Close may not have seen it
				s.conn.hangUp()
			}
			p.event("reconnected", p.q.cfg.URL)
			break
		}
	}
}

// publish ends when the session or the producer does.
func (p *Producer) publish(s *session, next *int64) {
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	stop := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-s.ended:
			cancel()
			s.conn.hangUp() // a publish that waits for its socket ends with it
		case <-stop:
		}
	})
	defer watching.Wait()
	defer close(stop)
	var acks []queue.Ack
	for {
		batch, err := p.outbox.Take(ctx, 1024)
		if err != nil {
			return
		}
		acks = acks[:0]
		for i := range batch {
			m := &batch[i]
			*next = m.Number + 1
			if err := s.lines[m.Partition].publish(p.q, m); err != nil {
				// What is left of the batch is lost to the session, too.
				*next = batch[len(batch)-1].Number + 1
				s.end(err)
				p.window.Settle(acks)
				return
			}
			if p.q.cfg.Unconfirmed {
				acks = append(acks, queue.Ack{First: m.Number, N: 1, Partition: m.Partition, Offset: -1})
			}
		}
		p.window.Settle(acks)
	}
}

func (p *Producer) event(kind, text string) {
	if p.cfg.Event != nil {
		p.cfg.Event(queue.Event{Kind: kind, Text: text})
	}
}

// Flush waits for the confirms of all that was sent.
func (p *Producer) Flush(ctx context.Context) error { return p.window.Flush(ctx) }

// Pending is the number of messages without a confirm.
func (p *Producer) Pending() int { return p.window.Pending() }

// Close fails what is pending.
func (p *Producer) Close() error {
	p.close.Do(func() {
		p.cancel()
		p.mu.Lock()
		s := p.session
		p.mu.Unlock()
		s.conn.hangUp()
		p.working.Wait()
		p.window.Close(errAbandoned)
		p.q.handles.Forget(p)
	})
	return nil
}
