package redisstreams

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"queuebench/queue"
	"queuebench/queue/broker"
)

// Producer adds messages to the streams: one request at a time, of all that has
// gathered since the last.
type Producer struct {
	q      *Queue
	cfg    queue.ProducerConfig
	client *redis.Client
	window *broker.Window
	outbox *broker.Outbox
	turn   int

	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	working sync.WaitGroup
	close   sync.Once
}

var errAbandoned = errors.New("redis: the producer was closed before the message was acknowledged")

// Producer opens a producer with a connection of its own.
func (q *Queue) Producer(ctx context.Context, cfg queue.ProducerConfig) (queue.Producer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &Producer{q: q, cfg: cfg, client: q.dial(), window: broker.NewWindow(q.cfg.MaxPending, cfg.Acked), outbox: broker.NewOutbox(), turn: cfg.ID}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.working.Go(p.work)
	if !q.handles.Keep(p) {
		p.Close()
		return nil, queue.ErrClosed
	}
	return p, nil
}

// Send copies the messages, as long as there is room for more without a reply.
func (p *Producer) Send(ctx context.Context, batch []queue.Message) (int, error) {
	if err := broker.CheckPartitions("redis", batch, len(p.q.keys)); err != nil {
		return 0, err
	}
	p.turn++
	for sent := 0; sent < len(batch); {
		first, n, err := p.window.Take(ctx, len(batch)-sent)
		if err != nil {
			return sent, err
		}
		p.outbox.Put(first, batch[sent:sent+n], len(p.q.keys), p.turn)
		sent += n
	}
	return len(batch), nil
}

// work sends requests until the producer is closed.
func (p *Producer) work() {
	var acks []queue.Ack
	for {
		batch, err := p.outbox.Take(p.ctx, p.q.cfg.Pipeline)
		if err != nil {
			return
		}
		var broken error
		if acks, broken = p.request(acks[:0], batch); p.ctx.Err() != nil {
			return
		}
		p.window.Settle(acks)
		if broken != nil {
			p.event("disconnected", broken.Error())
			if awaitServer(p.ctx, p.client) {
				p.event("reconnected", p.q.opts.Addr)
			}
		}
	}
}

// request adds a batch and returns the fates of its messages. The error says
// that the connection failed.
func (p *Producer) request(acks []queue.Ack, batch []broker.Outgoing) ([]queue.Ack, error) {
	began := time.Now()
	pipe := p.client.Pipeline()
	cmds := make([]*redis.Cmd, len(batch))
	bytes := int64(0)
	for i := range batch {
		cmds[i] = pipe.Do(p.ctx, p.q.arguments(&batch[i])...)
		bytes += int64(len(batch[i].Payload))
	}
	var replicas *redis.Cmd
	if p.q.cfg.Wait > 0 {
		replicas = pipe.Do(p.ctx, "WAIT", p.q.cfg.Wait, p.q.cfg.WaitTimeout.Milliseconds())
	}
	_, err := pipe.Exec(p.ctx)
	var short error
	if replicas != nil {
		if n, err := replicas.Int(); err != nil || n < p.q.cfg.Wait {
			short = fmt.Errorf("redis: %d of %d replicas have the message after %v (WAIT)", n, p.q.cfg.Wait, p.q.cfg.WaitTimeout)
		}
	}
	var broken error
	for i := range batch {
		a := queue.Ack{First: batch[i].Number, N: 1, Partition: batch[i].Partition, Offset: -1, OffsetStep: 1}
		id, cerr := cmds[i].Text()
		switch {
		case cerr != nil && !isReply(cerr):
			broken = cerr
			a.Err = fmt.Errorf("redis: no reply, so whether the stream has the message is not known: %w", cerr)
		case cerr != nil:
			a.Err = fmt.Errorf("redis: the server refused the message: %w", cerr)
		default:
			if a.Offset, a.Err = parseID(id); a.Err == nil {
				a.BrokerNs, a.BrokerKind, a.Err = stampOf(a.Offset), appended, short
			}
		}
		acks = append(acks, a)
	}
	if p.cfg.Trace != nil && err == nil {
		t := queue.Trace{Partition: -1, Offset: -1, Messages: len(batch), Bytes: bytes, Tries: 1}
		t.Set(queue.StageCommitPut, time.Since(began))
		p.cfg.Trace(t)
	}
	return acks, broken
}

func (p *Producer) event(kind, text string) {
	if p.cfg.Event != nil {
		p.cfg.Event(queue.Event{Kind: kind, Text: text})
	}
}

// isReply says that an error is the server's answer, after which the connection
// goes on.
func isReply(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

// awaitServer waits until the server answers; false when ctx ends first.
func awaitServer(ctx context.Context, c *redis.Client) bool {
	for {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return false
		}
		if c.Ping(ctx).Err() == nil {
			return true
		}
	}
}

// Flush waits for the replies to all that was sent.
func (p *Producer) Flush(ctx context.Context) error { return p.window.Flush(ctx) }

// Pending is the number of messages without a reply.
func (p *Producer) Pending() int { return p.window.Pending() }

// Close fails what is pending.
func (p *Producer) Close() error {
	p.close.Do(func() {
		p.cancel()
		p.client.Close() // ends a request under way
		p.working.Wait()
		p.window.Close(errAbandoned)
		p.q.handles.Forget(p)
	})
	return nil
}
