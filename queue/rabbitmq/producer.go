package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

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

// session is a connection and its channels.
type session struct {
	conn  *amqp.Connection
	lines []*line
	ended chan struct{} // closed when the connection or a channel has ended
	once  sync.Once
	why   error
	work  sync.WaitGroup
}

// line is the channel of a partition, with the messages that it has published
// and that are not confirmed, in order.
type line struct {
	ch       *amqp.Channel
	confirms chan amqp.Confirmation
	returns  chan amqp.Return

	mu       sync.Mutex
	numbers  []int64
	returned map[string]bool
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

// connect opens a session.
func (p *Producer) connect(ctx context.Context) (*session, error) {
	conn, err := p.q.dial(ctx, fmt.Sprintf("producer-%d", p.cfg.ID))
	if err != nil {
		return nil, err
	}
	s := &session{conn: conn, ended: make(chan struct{})}
	blocked := conn.NotifyBlocked(make(chan amqp.Blocking, 8))
	s.work.Go(func() {
		for b := range blocked {
			if b.Active {
				p.event("throttled", "the server takes no messages: "+b.Reason)
			} else {
				p.event("throttled", "the server takes messages again")
			}
		}
	})
	watch := func(closed chan *amqp.Error) {
		s.work.Go(func() {
			if e := <-closed; e != nil {
				s.end(e)
			} else {
				s.end(amqp.ErrClosed)
			}
		})
	}
	watch(conn.NotifyClose(make(chan *amqp.Error, 1)))
	for k := range p.q.cfg.Partitions {
		l := &line{returned: map[string]bool{}}
		if l.ch, err = conn.Channel(); err == nil && !p.q.cfg.Unconfirmed {
			err = l.ch.Confirm(false)
		}
		if err != nil {
			conn.Close()
			s.work.Wait()
			return nil, fmt.Errorf("rabbitmq: opening a channel: %w", err)
		}
		watch(l.ch.NotifyClose(make(chan *amqp.Error, 1)))
		// The connection's reader must never wait for us.
		l.returns = l.ch.NotifyReturn(make(chan amqp.Return, p.q.cfg.MaxPending+64))
		if !p.q.cfg.Unconfirmed {
			l.confirms = l.ch.NotifyPublish(make(chan amqp.Confirmation, p.q.cfg.MaxPending+64))
			s.work.Go(func() { p.readConfirms(l, int32(k)) })
		} else {
			s.work.Go(func() {
				for r := range l.returns {
					p.event("returned", fmt.Sprintf("the server has no queue for a message and returned it: %s", r.ReplyText))
				}
			})
		}
		s.lines = append(s.lines, l)
	}
	return s, nil
}

func (s *session) end(why error) {
	s.once.Do(func() {
		s.why = why
		close(s.ended)
	})
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
		s := p.session
		s.conn.Close()
		s.work.Wait()
		if p.ctx.Err() != nil {
			return
		}
		p.event("disconnected", s.why.Error())
		p.window.Fail(next, fmt.Errorf("rabbitmq: the connection ended before a confirm, so whether the queue has the message is not known: %w", s.why))
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
				s.conn.Close()
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
			l := s.lines[m.Partition]
			if !p.q.cfg.Unconfirmed {
				l.mu.Lock()
				l.numbers = append(l.numbers, m.Number)
				l.mu.Unlock()
			}
			if err := l.ch.Publish(p.q.cfg.Name, strconv.Itoa(int(m.Partition)), true, false, p.q.publishing(m)); err != nil {
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

// readConfirms settles confirms, as many at once as have come, until the channel
// has ended.
func (p *Producer) readConfirms(l *line, partition int32) {
	var acks []queue.Ack
	for first := range l.confirms {
		acks = l.confirm(acks[:0], first, partition)
		for more := true; more && len(acks) < 1024; {
			select {
			case c, ok := <-l.confirms:
				if more = ok; ok {
					acks = l.confirm(acks, c, partition)
				}
			default:
				more = false
			}
		}
		p.window.Settle(acks)
	}
}

// confirm is the fate of the first message that has none. A message that the
// server returned was returned before it is confirmed.
func (l *line) confirm(acks []queue.Ack, c amqp.Confirmation, partition int32) []queue.Ack {
	for more := true; more; {
		select {
		case r, ok := <-l.returns:
			if more = ok; ok {
				l.returned[r.MessageId] = true
			}
		default:
			more = false
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.numbers) == 0 {
		return acks
	}
	number := l.numbers[0]
	if l.numbers = l.numbers[1:]; len(l.numbers) == 0 {
		l.numbers = nil
	}
	a := queue.Ack{First: number, N: 1, Partition: partition, Offset: -1}
	if !c.Ack {
		a.Err = errNack
	}
	if len(l.returned) > 0 {
		if id := messageID(number); l.returned[id] {
			delete(l.returned, id)
			a.Err = errReturned
		}
	}
	return append(acks, a)
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
		// A server that does not answer is left after a while; a publish that waits
		// for its socket ends with it.
		s.conn.CloseDeadline(time.Now().Add(500 * time.Millisecond))
		p.working.Wait()
		p.window.Close(errAbandoned)
		p.q.handles.Forget(p)
	})
	return nil
}
