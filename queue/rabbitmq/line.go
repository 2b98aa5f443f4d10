package rabbitmq

import (
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"queuebench/queue"
	"queuebench/queue/broker"
)

// line is the channel of a partition, with the messages that it has published
// and that are not confirmed, in order.
type line struct {
	partition int32
	ch        *amqp.Channel
	confirms  chan amqp.Confirmation
	returns   chan amqp.Return

	mu       sync.Mutex
	pending  []published
	since    time.Time // of the last confirm, or of the first message after it
	returned map[string]bool
}

// published is a message without a confirm.
type published struct {
	number int64
	// confirm knows of a confirm before those of earlier messages have come, for
	// which the library holds it back; nil while the message is being published.
	confirm *amqp.DeferredConfirmation
}

// publish hands a message to the socket.
func (l *line) publish(q *Queue, m *broker.Outgoing) error {
	exchange, key := q.to(m.Partition)
	if q.cfg.Unconfirmed {
		return l.ch.Publish(exchange, key, true, false, q.publishing(m))
	}
	l.mu.Lock()
	if len(l.pending) == 0 {
		l.since = time.Now()
	}
	l.pending = append(l.pending, published{number: m.Number})
	l.mu.Unlock()
	confirm, err := l.ch.PublishWithDeferredConfirm(exchange, key, true, false, q.publishing(m))
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.pending); n > 0 { // else it is confirmed already
		l.pending[n-1].confirm = confirm
	}
	return nil
}

// readConfirms settles confirms, as many at once as have come, until the channel
// has ended.
func (l *line) readConfirms(settle func([]queue.Ack)) {
	var acks []queue.Ack
	for first := range l.confirms {
		acks = l.confirm(acks[:0], first)
		for more := true; more && len(acks) < 1024; {
			select {
			case c, ok := <-l.confirms:
				if more = ok; ok {
					acks = l.confirm(acks, c)
				}
			default:
				more = false
			}
		}
		l.mu.Lock()
		l.since = time.Now()
		l.mu.Unlock()
		settle(acks)
	}
}

// confirm is the fate of the first message that has none. A message that the
// server returned was returned before it is confirmed.
func (l *line) confirm(acks []queue.Ack, c amqp.Confirmation) []queue.Ack {
	l.readReturns()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) == 0 {
		return acks
	}
	number := l.pending[0].number
	l.pending[0] = published{} // for the garbage collector
	if l.pending = l.pending[1:]; len(l.pending) == 0 {
		l.pending = nil
	}
	return append(acks, l.fate(number, c.Ack))
}

// readReturns notes which messages came back.
func (l *line) readReturns() {
	for {
		select {
		case r, ok := <-l.returns:
			if !ok {
				return
			}
			l.mu.Lock()
			l.returned[r.MessageId] = true
			l.mu.Unlock()
		default:
			return
		}
	}
}

// fate is that of a message which the server has confirmed or refused. The lock is
// held.
func (l *line) fate(number int64, ack bool) queue.Ack {
	a := queue.Ack{First: number, N: 1, Partition: l.partition, Offset: -1}
	if !ack {
		a.Err = errNack
	}
	if len(l.returned) > 0 {
		if id := messageID(number); l.returned[id] {
			delete(l.returned, id)
			a.Err = errReturned
		}
	}
	return a
}

// overtaken are the fates of messages that are confirmed while earlier ones are
// not, which the library does not tell before those are. They stay in their place,
// and may be told again.
func (l *line) overtaken(acks []queue.Ack) []queue.Ack {
	l.readReturns()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.pending {
		if m := &l.pending[i]; m.confirm != nil && m.confirm.Acked() {
			acks = append(acks, l.fate(m.number, true))
		}
	}
	return acks
}

// waiting is since when the server could have confirmed a message and has not; zero
// when none waits.
func (l *line) waiting() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) == 0 {
		return time.Time{}
	}
	return l.since
}

// open is how many messages are without a confirm, those that overtook others
// included.
func (l *line) open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pending)
}
