package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"queuebench/queue"
)

const (
	// chunk is how many messages are handed to the client at once.
	chunk = 1024
	// closeLimit bounds what a closing client may still ask of a broker.
	closeLimit = 3 * time.Second
)

// Producer sends messages to the topic.
type Producer struct {
	q          *Queue
	cfg        queue.ProducerConfig
	client     *kgo.Client
	partitions int32
	closed     chan struct{}
	room       chan struct{} // told when messages have left the buffer
	wake       chan struct{} // told when fates are known
	done       chan struct{} // closed when the last fate was told
	once       sync.Once
	slabs      slabs
	fate       func(*kgo.Record, error) // promise, made a function once
	hooks      *hooks
	stamps     *stamps // nil where the broker tells none
	full       fullness

	// sending is held while messages are handed to the client, and while a
	// transaction is ended, so that neither happens within the other nor after
	// Close.
	sending sync.Mutex
	gone    bool // the client is closed or closing
	txn     *transactions

	mu      sync.Mutex
	taken   int64
	told    int64 // fates that Acked has heard of
	bytes   int64 // of the messages that are pending
	freed   int64 // of bytes: those whose fates stand in fates
	fates   []queue.Ack
	spare   []queue.Ack
	waiters []chan struct{} // closed when nothing is pending
}

// Producer opens a producer. It waits until the consumers that were opened
// before have their partitions, so that the first message finds them reading.
func (q *Queue) Producer(ctx context.Context, cfg queue.ProducerConfig) (queue.Producer, error) {
	if q.isClosed() {
		return nil, errClosed
	}
	if err := q.joined(ctx); err != nil {
		return nil, err
	}
	s := &q.cfg.Settings
	h := newHooks(cfg.Trace, cfg.Event)
	var seen *stamps
	if s.Producer.Acks != 0 { // which has no responses
		seen = new(stamps)
	}
	opts, err := s.common(seen, h)
	if err != nil {
		return nil, err
	}
	opts = append(opts, s.Producer.options()...)
	p := &Producer{
		q: q, cfg: cfg, hooks: h, stamps: seen, closed: make(chan struct{}), done: make(chan struct{}),
		room: make(chan struct{}, 1), wake: make(chan struct{}, 1), full: fullness{event: h.event, limit: s.Producer.BufferMessages},
	}
	p.fate, p.partitions = p.promise, int32(q.Info().Partitions)
	if s.Producer.Transactional != "" {
		p.txn = &transactions{p: p}
		opts = append(opts, kgo.TransactionalID(fmt.Sprintf("%s-%s-%d", s.Producer.Transactional, q.cfg.Topic, cfg.ID)), kgo.TransactionTimeout(s.Producer.TransactionTimeout))
	}
	if p.client, err = kgo.NewClient(opts...); err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	if err := p.ready(ctx); err != nil {
		p.client.Close()
		return nil, err
	}
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		p.client.Close()
		return nil, errClosed
	}
	q.producers = append(q.producers, p)
	q.mu.Unlock()
	go p.tell()
	if p.txn != nil {
		p.txn.start(s.Producer.CommitInterval)
	}
	return p, nil
}

// ready makes the connections and the producer's id before the first message
// needs them.
func (p *Producer) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startupLimit)
	defer cancel()
	if p.q.cfg.Settings.Producer.Idempotent {
		if _, _, err := p.client.ProducerID(ctx); err != nil {
			return fmt.Errorf("kafka: the producer's id: %w; enable.idempotence=false needs none", err)
		}
	}
	if err := p.client.EnsureProduceConnectionIsOpen(ctx); err != nil {
		return fmt.Errorf("kafka: connecting to the brokers: %w", err)
	}
	return nil
}

// Send hands the messages to the client, and waits while its buffer is full.
func (p *Producer) Send(ctx context.Context, batch []queue.Message) (int, error) {
	n := p.partitions
	for i := range batch {
		if k := batch[i].Partition; k < queue.AnyPartition || k >= n {
			return 0, fmt.Errorf("kafka: message %d of the batch is for partition %d, topic %s has 0 to %d", i, k, p.q.cfg.Topic, n-1)
		}
	}
	for taken := 0; ; {
		if err := ctx.Err(); err != nil && taken < len(batch) {
			return taken, err
		}
		n := p.reserve(batch[taken:])
		if err := p.take(batch[taken : taken+n]); err != nil {
			return taken, err
		}
		if taken += n; taken == len(batch) {
			return taken, nil
		}
		if n > 0 {
			continue
		}
		if err := p.waitForRoom(ctx); err != nil {
			return taken, err
		}
	}
}

// reserve returns how many messages there is room for, chunk at most. One that
// is larger than the whole buffer has room in an empty one.
func (p *Producer) reserve(batch []queue.Message) (n int) {
	s := &p.q.cfg.Settings.Producer
	p.mu.Lock()
	defer p.mu.Unlock()
	for n < len(batch) && n < chunk {
		pending, size := p.taken-p.told, size(&batch[n])
		if pending > 0 && (pending >= int64(s.BufferMessages) || p.bytes+size > s.BufferBytes) {
			break
		}
		p.taken++
		p.bytes += size
		n++
	}
	return n
}

// giveBack undoes reserve.
func (p *Producer) giveBack(batch []queue.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken -= int64(len(batch))
	for i := range batch {
		p.bytes -= size(&batch[i])
	}
}

// size is what a message takes of the buffer, bytes.
func size(m *queue.Message) int64 {
	n := len(m.Key) + len(m.Payload)
	for i := range m.Headers {
		n += len(m.Headers[i].Name) + len(m.Headers[i].Value)
	}
	return int64(n)
}

// take hands messages over that have room.
func (p *Producer) take(batch []queue.Message) error {
	p.sending.Lock()
	defer p.sending.Unlock()
	if p.gone {
		p.giveBack(batch)
		return errClosed
	}
	if len(batch) == 0 {
		return nil
	}
	if err := p.txn.begin(); err != nil {
		p.giveBack(batch)
		return err
	}
	p.mu.Lock()
	first := p.taken - int64(len(batch))
	p.mu.Unlock()
	s := p.slabs.take(batch)
	for i := range batch {
		m := s.fill(i, &batch[i], p.q.cfg.Topic)
		m.seq = first + int64(i)
		p.client.Produce(context.Background(), &m.record, p.fate)
	}
	return nil
}

func (p *Producer) waitForRoom(ctx context.Context) error {
	start := time.Now()
	defer func() { p.full.add(time.Since(start)) }()
	select {
	case <-p.room:
		return nil
	case <-p.closed:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Flush ends all lingering, or commits the transaction, and waits for the fates.
func (p *Producer) Flush(ctx context.Context) error {
	select {
	case <-p.closed:
		return errClosed
	default:
	}
	p.full.tell()
	if p.txn != nil {
		if err := p.txn.end(ctx); err != nil {
			return err
		}
	} else if err := p.client.Flush(ctx); err != nil {
		return err
	}
	select {
	case <-p.idle():
		return nil
	case <-p.closed:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// idle is closed as soon as nothing is pending.
func (p *Producer) idle() <-chan struct{} {
	ch := make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken == p.told {
		close(ch)
	} else {
		p.waiters = append(p.waiters, ch)
	}
	return ch
}

// Pending is the number of messages whose fate Acked has not heard of.
func (p *Producer) Pending() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int(p.taken - p.told)
}

// Close gives up what is pending.
func (p *Producer) Close() error {
	var err error
	p.once.Do(func() {
		close(p.closed)
		p.full.tell()
		p.hooks.close()
		p.txn.stop()
		p.sending.Lock()
		p.gone = true
		p.sending.Unlock()
		p.client.Close()
		p.txn.abandon()
		signal(p.wake)
		select {
		case <-p.done:
		case <-time.After(closeLimit):
			err = errors.New("kafka: the client closed and did not tell the fate of all messages")
		}
		forget(p.q, &p.q.producers, p)
	})
	return err
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
