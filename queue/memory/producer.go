package memory

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"queuebench/queue"
)

// Producer puts messages into the queue.
type Producer struct {
	q      *Queue
	cfg    queue.ProducerConfig
	wake   chan struct{}
	closed chan struct{}
	timer  *time.Timer

	waiting bool // for room; guarded by the queue's lock
	rotate  int

	// ackMu keeps Acked to one goroutine at a time, and guards what follows.
	ackMu    sync.Mutex
	isClosed bool
	taken    int64
	acks     []queue.Ack
	withheld []queue.Ack
	pending  int
	wakes    wakes
}

var errAbandoned = errors.New("memory: the producer was closed before the message was acknowledged")

// Producer opens a producer.
func (q *Queue) Producer(ctx context.Context, cfg queue.ProducerConfig) (queue.Producer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil, queue.ErrClosed
	}
	p := &Producer{q: q, cfg: cfg, wake: make(chan struct{}, 1), closed: make(chan struct{}), timer: stoppedTimer(), rotate: cfg.ID}
	q.producers = append(q.producers, p)
	return p, nil
}

// Send takes the batch, waiting for room. Acknowledgements come before it
// returns, from the goroutine that called it.
func (p *Producer) Send(ctx context.Context, batch []queue.Message) (int, error) {
	p.rotate++
	for i := range batch {
		if k := batch[i].Partition; k < queue.AnyPartition || int(k) >= p.q.cfg.Partitions {
			return 0, fmt.Errorf("memory: message %d of the batch is for partition %d, the queue has 0 to %d", i, k, p.q.cfg.Partitions-1)
		}
		if n := size(&batch[i]); n > p.q.cfg.CapacityBytes {
			return 0, fmt.Errorf("memory: message %d of the batch has %d bytes, the queue holds CapacityBytes %d in all", i, n, p.q.cfg.CapacityBytes)
		}
	}
	for n := 0; ; {
		took, wait, err := p.store(batch[n:])
		n += took
		if err != nil || n == len(batch) {
			return n, err
		}
		if err := waitFor(ctx, p.closed, p.wake, p.timer, wait); err != nil {
			return n, err
		}
	}
}

// store takes what there is room for. wait is how long the queue is frozen, 0
// when it waits for room.
func (p *Producer) store(batch []queue.Message) (n int, wait time.Duration, err error) {
	p.ackMu.Lock()
	defer p.ackMu.Unlock()
	if p.isClosed {
		return 0, 0, queue.ErrClosed
	}
	f := &p.q.cfg.Faults
	if f.Refuse == RefuseBySend {
		return 0, 0, ErrRefused
	}
	p.acks = p.acks[:0]
	p.q.mu.Lock()
	now := p.q.now()
	if p.q.firstSend == notYet {
		p.q.firstSend = now
	}
	if wait = p.q.frozen(now); wait == 0 {
		n = p.storeLocked(batch, now)
	}
	p.waiting = n < len(batch)
	p.q.mu.Unlock()
	p.wakes.all()

	if f.WithholdAcks {
		p.withheld = append(p.withheld, p.acks...)
		p.pending += n
	} else if len(p.acks) > 0 && p.cfg.Acked != nil {
		p.cfg.Acked(p.acks)
	}
	return n, wait, nil
}

// storeLocked takes messages until one does not fit: those of one partition
// that follow on one another at a time.
func (p *Producer) storeLocked(batch []queue.Message, at int64) (n int) {
	for n < len(batch) {
		k := p.partition(&batch[n])
		end := n + 1
		for end < len(batch) && p.partition(&batch[end]) == k {
			end++
		}
		if p.q.cfg.Faults.Refuse == RefuseByAck {
			p.ack(k, -1, end-n, ErrRefused)
			n = end
			continue
		}
		part := p.q.partitions[k]
		first := part.next
		took := p.storeRun(part, batch[n:end], at)
		if took > 0 {
			p.ack(k, first, took, nil)
			p.q.consumersWait(part, &p.wakes)
		}
		if n += took; n < end {
			break
		}
	}
	return n
}

// storeRun takes messages of a partition until one does not fit.
func (p *Producer) storeRun(part *partition, run []queue.Message, at int64) int {
	f := &p.q.cfg.Faults
	messages, bytes := part.unread()
	for i := range run {
		m := &run[i]
		size := size(m)
		if messages >= int64(p.q.cfg.Capacity) || bytes+size > p.q.cfg.CapacityBytes {
			return i
		}
		messages, bytes = messages+1, bytes+size
		p.q.count++
		part.append(m, slot{
			at:      at,
			dropped: f.DropEvery > 0 && p.q.count%f.DropEvery == 0,
			twice:   f.DuplicateEvery > 0 && p.q.count%f.DuplicateEvery == 0,
		})
	}
	return len(run)
}

// size is what a message takes of the capacity, bytes.
func size(m *queue.Message) int64 {
	n := len(m.Key) + len(m.Payload)
	for i := range m.Headers {
		n += len(m.Headers[i].Value)
	}
	return int64(n)
}

// ack adds n messages of a partition to the acknowledgements of this call.
func (p *Producer) ack(k int32, offset int64, n int, err error) {
	first := p.taken
	p.taken += int64(n)
	if len(p.acks) > 0 {
		if a := &p.acks[len(p.acks)-1]; a.Partition == k && a.Err == err {
			a.N += int64(n)
			return
		}
	}
	p.acks = append(p.acks, queue.Ack{First: first, N: int64(n), Partition: k, Offset: offset, OffsetStep: min(1, offset+1), Err: err})
}

func (p *Producer) partition(m *queue.Message) int32 {
	switch n := p.q.cfg.Partitions; {
	case m.Partition != queue.AnyPartition:
		return m.Partition
	case n == 1:
		return 0
	case m.Key != nil:
		return int32(maphash.Bytes(p.q.seed, m.Key) % uint64(n))
	default:
		return int32(p.rotate % n) // one partition for each Send, in turn
	}
}

// Flush waits until nothing is pending: at once, unless acknowledgements are
// withheld.
func (p *Producer) Flush(ctx context.Context) error {
	if p.Pending() == 0 {
		p.ackMu.Lock()
		defer p.ackMu.Unlock()
		if p.isClosed {
			return queue.ErrClosed
		}
		return nil
	}
	return waitFor(ctx, p.closed, nil, p.timer, 0)
}

// Pending is not 0 only if acknowledgements are withheld.
func (p *Producer) Pending() int {
	p.ackMu.Lock()
	defer p.ackMu.Unlock()
	return p.pending
}

// Close fails what is pending.
func (p *Producer) Close() error {
	p.ackMu.Lock()
	defer p.ackMu.Unlock()
	if p.isClosed {
		return nil
	}
	p.isClosed = true
	close(p.closed)
	p.q.mu.Lock()
	p.q.producers = slices.DeleteFunc(p.q.producers, func(o *Producer) bool { return o == p })
	p.q.mu.Unlock()
	for i := range p.withheld {
		p.withheld[i].Err = errAbandoned
	}
	if len(p.withheld) > 0 && p.cfg.Acked != nil {
		p.cfg.Acked(p.withheld)
	}
	p.withheld, p.pending = nil, 0
	return nil
}
