package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"queuebench/queue"
	"queuebench/queue/broker"
)

// Producer publishes to the stream. Each message asks for its acknowledgement on
// a subject that ends in the message's number and partition.
type Producer struct {
	q        *Queue
	cfg      queue.ProducerConfig
	conn     *nats.Conn
	window   *broker.Window
	inbox    string // prefix of the reply subjects, with the dot
	subjects []string
	turn     int
	message  nats.Msg // reused

	answers chan *nats.Msg
	done    chan struct{}
	working sync.WaitGroup
	close   sync.Once

	mu    sync.Mutex
	marks []mark // of messages that may still be open
}

// mark says that the messages before a number were handed over by a time.
type mark struct {
	before int64
	at     time.Time
}

var (
	errAbandoned = errors.New("jetstream: the producer was closed before the message was acknowledged")
	errTimeout   = errors.New("jetstream: no acknowledgement in time: whether the stream has the message is not known")
)

// Producer opens a producer with a connection of its own.
func (q *Queue) Producer(ctx context.Context, cfg queue.ProducerConfig) (queue.Producer, error) {
	if q.handles.Closed() {
		return nil, queue.ErrClosed
	}
	p := &Producer{q: q, cfg: cfg, window: broker.NewWindow(q.cfg.MaxPending, cfg.Acked), turn: cfg.ID, done: make(chan struct{})}
	for k := range q.cfg.Partitions {
		p.subjects = append(p.subjects, q.cfg.Name+"."+strconv.Itoa(k))
	}
	var err error
	if q.cfg.Existing {
		if p.subjects, err = q.published(); err != nil {
			return nil, err
		}
	}
	if p.conn, err = q.connect(ctx, fmt.Sprintf("producer-%d", cfg.ID), cfg.Event); err != nil {
		return nil, err
	}
	p.inbox = p.conn.NewInbox() + "."
	// Room for all that may be under way: the library drops what does not fit.
	p.answers = make(chan *nats.Msg, 2*q.cfg.MaxPending+64)
	if _, err = p.conn.ChanSubscribe(p.inbox+"*", p.answers); err == nil {
		err = p.conn.FlushWithContext(limited(ctx))
	}
	if err != nil {
		p.conn.Close()
		return nil, fmt.Errorf("jetstream: subscribing to acknowledgements: %w", err)
	}
	p.working.Go(p.readAnswers)
	p.working.Go(p.expire)
	if !q.handles.Keep(p) {
		p.Close()
		return nil, queue.ErrClosed
	}
	return p, nil
}

// Send publishes without waiting for acknowledgements, as long as there is room
// for more of them.
func (p *Producer) Send(ctx context.Context, batch []queue.Message) (int, error) {
	if err := broker.CheckPartitions("jetstream", batch, len(p.subjects)); err != nil {
		return 0, err
	}
	p.turn++
	for sent := 0; sent < len(batch); {
		first, n, err := p.window.Take(ctx, len(batch)-sent)
		if err != nil {
			return sent, err
		}
		for i := range n {
			if err := p.publish(ctx, &batch[sent], first+int64(i)); err != nil {
				p.window.Return(n - i)
				p.mark()
				return sent, err
			}
			sent++
		}
		p.mark()
	}
	return len(batch), nil
}

// publish hands a message to the client, which copies it.
func (p *Producer) publish(ctx context.Context, m *queue.Message, number int64) error {
	partition := broker.Partition(m, len(p.subjects), p.turn)
	var buf [64]byte
	reply := string(strconv.AppendInt(append(buf[:0], p.inbox...), number*int64(len(p.subjects))+int64(partition), 36))
	p.message = nats.Msg{Subject: p.subjects[partition], Reply: reply, Data: m.Payload}
	if len(m.Headers) > 0 {
		var err error
		if p.message.Header, err = headersOf(m.Headers); err != nil {
			return err
		}
	}
	for {
		err := p.conn.PublishMsg(&p.message)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, nats.ErrConnectionClosed):
			return queue.ErrClosed
		case errors.Is(err, nats.ErrMaxPayload):
			return fmt.Errorf("jetstream: a message of %d bytes: the server takes %d at most (max_payload)", len(m.Payload), p.conn.MaxPayload())
		case !errors.Is(err, nats.ErrReconnectBufExceeded):
			return fmt.Errorf("jetstream: publishing: %w", err)
		}
		// The server is away, and the client's buffer full: the caller waits.
		select {
		case <-time.After(time.Millisecond):
		case <-p.done:
			return queue.ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// mark keeps when the messages so far were handed over, at most every
// millisecond.
func (p *Producer) mark() {
	now, next := time.Now(), p.window.Next()
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.marks); n > 0 && now.Sub(p.marks[n-1].at) < time.Millisecond {
		p.marks[n-1].before = next
		return
	}
	p.marks = append(p.marks, mark{next, now})
}

// expire fails messages that were not acknowledged in time.
func (p *Producer) expire() {
	tick := time.NewTicker(max(time.Millisecond, p.q.cfg.AckTimeout/50))
	defer tick.Stop()
	for {
		select {
		case <-p.done:
			return
		case now := <-tick.C:
			p.mu.Lock()
			due := 0
			for due < len(p.marks) && now.Sub(p.marks[due].at) > p.q.cfg.AckTimeout {
				due++
			}
			before := int64(0)
			if due > 0 {
				before = p.marks[due-1].before
				p.marks = append(p.marks[:0], p.marks[due:]...)
			}
			p.mu.Unlock()
			p.window.Fail(before, errTimeout)
		}
	}
}

// readAnswers settles acknowledgements, as many at once as have come.
func (p *Producer) readAnswers() {
	var acks []queue.Ack
	for {
		select {
		case <-p.done:
			return
		case m := <-p.answers:
			acks = p.answer(acks[:0], m)
		}
		for more := true; more && len(acks) < 1024; {
			select {
			case m := <-p.answers:
				acks = p.answer(acks, m)
			default:
				more = false
			}
		}
		p.window.Settle(acks)
	}
}

func (p *Producer) answer(acks []queue.Ack, m *nats.Msg) []queue.Ack {
	number, err := strconv.ParseInt(strings.TrimPrefix(m.Subject, p.inbox), 36, 64)
	if err != nil {
		return acks // not ours
	}
	partitions := int64(len(p.subjects))
	a := queue.Ack{First: number / partitions, N: 1, Partition: int32(number % partitions), Offset: -1, OffsetStep: 1}
	if m.Header.Get("Status") == "503" {
		a.Err = fmt.Errorf("jetstream: no stream answers for %s: it has no leader, or the server is starting", p.q.cfg.Name)
	} else {
		a.Offset, a.Err = parseAck(m.Data)
	}
	return append(acks, a)
}

// Flush waits for the acknowledgements of all that was sent.
func (p *Producer) Flush(ctx context.Context) error { return p.window.Flush(ctx) }

// Pending is the number of messages without an acknowledgement.
func (p *Producer) Pending() int { return p.window.Pending() }

// Close fails what is pending.
func (p *Producer) Close() error {
	p.close.Do(func() {
		close(p.done)
		p.conn.Close()
		p.working.Wait()
		p.window.Close(errAbandoned)
		p.q.handles.Forget(p)
	})
	return nil
}
