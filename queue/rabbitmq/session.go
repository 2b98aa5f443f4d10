package rabbitmq

import (
	"context"
	"fmt"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"queuebench/queue"
)

// session is a producer's connection and its channels.
type session struct {
	conn  *link
	lines []*line
	ended chan struct{} // closed when the connection or a channel has ended
	once  sync.Once
	why   error
	work  sync.WaitGroup

	mu      sync.Mutex
	blocked bool      // the server said that it takes no messages
	freed   time.Time // when it last said that it takes them again
}

// connect opens a session.
func (p *Producer) connect(ctx context.Context) (*session, error) {
	conn, err := p.q.dial(ctx, fmt.Sprintf("producer-%d", p.cfg.ID))
	if err != nil {
		return nil, err
	}
	s := &session{conn: conn, ended: make(chan struct{})}
	if err := conn.during(ctx, func() error { return p.open(s) }); err != nil {
		s.end(err)
		s.close()
		return nil, err
	}
	return s, nil
}

// open opens a session's channels.
func (p *Producer) open(s *session) (err error) {
	conn := s.conn
	blocked := conn.NotifyBlocked(make(chan amqp.Blocking, 8))
	s.work.Go(func() {
		for b := range blocked {
			s.block(b.Active)
			if b.Active {
				p.event("throttled", "the server takes no messages: "+b.Reason)
			} else {
				p.event("throttled", "the server takes messages again")
			}
		}
	})
	s.watch(conn.NotifyClose(make(chan *amqp.Error, 1)))
	for k := range p.q.cfg.Partitions {
		l := &line{partition: int32(k), returned: map[string]bool{}}
		if l.ch, err = conn.Channel(); err == nil && !p.q.cfg.Unconfirmed {
			err = l.ch.Confirm(false)
		}
		if err != nil {
			return fmt.Errorf("rabbitmq: opening a channel: %w", err)
		}
		s.watch(l.ch.NotifyClose(make(chan *amqp.Error, 1)))
		// The connection's reader must never wait for us.
		l.returns = l.ch.NotifyReturn(make(chan amqp.Return, p.q.cfg.MaxPending+64))
		if !p.q.cfg.Unconfirmed {
			l.confirms = l.ch.NotifyPublish(make(chan amqp.Confirmation, p.q.cfg.MaxPending+64))
			s.work.Go(func() { l.readConfirms(p.window.Settle) })
		} else {
			s.work.Go(func() {
				for r := range l.returns {
					p.event("returned", fmt.Sprintf("the server has no queue for a message and returned it: %s", r.ReplyText))
				}
			})
		}
		s.lines = append(s.lines, l)
	}
	if !p.q.cfg.Unconfirmed {
		s.work.Go(func() { s.expire(p.q.cfg.ConfirmTimeout, p.window.Settle) })
	}
	return nil
}

// watch ends the session with what closes it.
func (s *session) watch(closed chan *amqp.Error) {
	s.work.Go(func() {
		if e := <-closed; e != nil {
			s.end(e)
		} else {
			s.end(amqp.ErrClosed)
		}
	})
}

func (s *session) end(why error) {
	s.once.Do(func() {
		s.why = why
		close(s.ended)
	})
}

// close returns when nothing of the session goes on.
func (s *session) close() {
	s.conn.hangUp()
	s.work.Wait()
}

func (s *session) block(active bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blocked = active; !active {
		s.freed = time.Now()
	}
}

// patience is since when the server may be expected to confirm; zero while it says
// that it takes no messages.
func (s *session) patience(l *line) (since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	since = l.waiting()
	switch {
	case s.blocked || since.IsZero():
		return time.Time{}
	case since.Before(s.freed):
		return s.freed
	}
	return since
}

// expire ends a session of which a channel has published messages and had none of
// them confirmed for so long. A server that lost them on their way to a queue, as a
// quorum queue without a leader does (RabbitMQ 3.10), keeps the channel open.
func (s *session) expire(timeout time.Duration, settle func([]queue.Ack)) {
	tick := time.NewTicker(max(time.Millisecond, timeout/50))
	defer tick.Stop()
	var acks []queue.Ack
	for {
		select {
		case <-s.ended:
			return
		case now := <-tick.C:
			for _, l := range s.lines {
				since := s.patience(l)
				if since.IsZero() || now.Sub(since) < timeout/25 {
					continue
				}
				if acks = l.overtaken(acks[:0]); len(acks) > 0 {
					settle(acks)
				}
				if now.Sub(since) >= timeout {
					s.end(fmt.Errorf("the server confirmed none of %d messages for %v", l.open(), timeout))
					return
				}
			}
		}
	}
}
