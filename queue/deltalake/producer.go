package deltalake

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"queuebench/queue"
)

// Producer hands messages to the writers of the queue's tables, which it
// shares with the other producers of the queue.
type Producer struct {
	q       *Queue
	cfg     queue.ProducerConfig
	name    string    // of its txn, where there is an AppID
	writers []*writer // by partition
	in      []int64   // by partition: messages to come that are in the table
	room    chan struct{}
	done    chan struct{} // closed by Close
	closed  atomic.Bool
	close   sync.Once
	pending atomic.Int64

	// Of Send alone.
	taken   int64
	turn    int // partition of messages without one
	inTurn  int
	turnEnd int64 // clock, ns; not used with an AppID

	// callback keeps Acked, Trace and Event to one goroutine at a time.
	callback sync.Mutex
	acks     []queue.Ack

	idleMu sync.Mutex
	idle   []chan struct{} // closed when nothing is pending
}

// turnMessages is after how many messages without a partition the next
// partition has its turn, if a commit interval has not passed before: so that
// a commit holds few runs of each producer.
const turnMessages = 128

// Producer opens a producer. The first one of a table creates it, or takes up
// what is there.
func (q *Queue) Producer(ctx context.Context, cfg queue.ProducerConfig) (queue.Producer, error) {
	if err := q.mayWrite(); err != nil {
		return nil, err
	}
	if err := q.probed(ctx); err != nil {
		return nil, err
	}
	p := &Producer{q: q, cfg: cfg, room: make(chan struct{}, 1), done: make(chan struct{}), turn: cfg.ID}
	if q.cfg.AppID != "" {
		p.name = producerName(&q.cfg, cfg.ID)
	}
	if err := q.attach(ctx, p); err != nil {
		return nil, err
	}
	for _, w := range p.writers {
		w.tellEarlyEvents(p)
	}
	var in int64
	for _, n := range p.in {
		in += n
	}
	if in > 0 {
		p.event(queue.Event{Kind: "resumed", Text: fmt.Sprintf("%d messages of producer %s are in the table: as many are acknowledged and not written again", in, p.name)})
	}
	return p, nil
}

// Send takes the batch, waiting while MaxPending bytes are pending.
func (p *Producer) Send(ctx context.Context, batch []queue.Message) (int, error) {
	for i := range batch {
		if k := batch[i].Partition; k < queue.AnyPartition || int(k) >= len(p.writers) {
			return 0, fmt.Errorf("deltalake: message %d of the batch is for partition %d, the queue has 0 to %d", i, k, len(p.writers)-1)
		}
		if n := int64(len(batch[i].Payload)); n > p.q.largest() {
			return 0, fmt.Errorf("deltalake: message %d of the batch has %d bytes, more than the %d that MaxPending and a data file hold", i, n, p.q.largest())
		}
	}
	if p.closed.Load() {
		return 0, queue.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if len(p.writers) == 1 {
		return p.put(ctx, p.writers[0], batch)
	}
	for n := 0; n < len(batch); {
		k := p.partition(&batch[n])
		end := n + 1
		for end < len(batch) && p.partition(&batch[end]) == k {
			end++
		}
		took, err := p.put(ctx, p.writers[k], batch[n:end])
		n += took
		if err != nil {
			return n, err
		}
	}
	return len(batch), nil
}

// largest is the size of the largest message.
func (q *Queue) largest() int64 { return min(q.cfg.MaxPending, maxPageBytes/2) }

// put hands messages to a writer.
func (p *Producer) put(ctx context.Context, w *writer, batch []queue.Message) (n int, err error) {
	n = p.passOver(w, batch)
	for {
		took, err := w.add(p, batch[n:])
		n += took
		if err != nil || n == len(batch) {
			return n, err
		}
		select {
		case <-p.room:
		case <-p.done:
			return n, queue.ErrClosed
		case <-ctx.Done():
			return n, ctx.Err()
		}
	}
}

// partition chooses the partition of a message: its own, that of its key, or
// the one whose turn it is.
func (p *Producer) partition(m *queue.Message) int {
	if m.Partition != queue.AnyPartition {
		return int(m.Partition)
	}
	if m.Key != nil {
		h := uint32(2166136261) // FNV-1a: the same partition in every process
		for _, b := range m.Key {
			h = (h ^ uint32(b)) * 16777619
		}
		return int(h % uint32(len(p.writers)))
	}
	var now int64
	if p.name == "" {
		now = p.q.cfg.Clock.Now()
	} // else a restart must come to the same partitions
	if p.inTurn >= turnMessages || p.name == "" && now >= p.turnEnd {
		p.turn, p.inTurn = p.turn+1, 0
		p.turnEnd = now + int64(p.q.cfg.CommitInterval)
	}
	p.inTurn++
	return p.turn % len(p.writers)
}

// Flush waits until nothing is pending. It leaves the commit timer alone.
func (p *Producer) Flush(ctx context.Context) error {
	if p.closed.Load() {
		return queue.ErrClosed
	}
	return p.untilIdle(ctx, p.done)
}

func (p *Producer) untilIdle(ctx context.Context, done <-chan struct{}) error {
	ch := make(chan struct{})
	p.idleMu.Lock()
	if p.pending.Load() == 0 {
		close(ch)
	} else {
		p.idle = append(p.idle, ch)
	}
	p.idleMu.Unlock()
	select {
	case <-ch:
		return nil
	case <-done:
		return queue.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Pending is how many messages are not committed yet.
func (p *Producer) Pending() int { return int(p.pending.Load()) }

// settle tells the fate of messages of one partition.
func (p *Producer) settle(partition int32, acks []producerAck) {
	var n int64
	p.callback.Lock()
	p.acks = p.acks[:0]
	for _, a := range acks {
		a.Partition = partition
		p.acks = append(p.acks, a.Ack)
		n += a.N
	}
	if p.cfg.Acked != nil {
		p.cfg.Acked(p.acks)
	}
	p.callback.Unlock()
	p.idleMu.Lock()
	defer p.idleMu.Unlock()
	if p.pending.Add(-n) == 0 {
		for _, ch := range p.idle {
			close(ch)
		}
		p.idle = nil
	}
}

func (p *Producer) trace(t queue.Trace) {
	p.callback.Lock()
	defer p.callback.Unlock()
	p.cfg.Trace(t)
}

func (p *Producer) event(e queue.Event) {
	if p.cfg.Event != nil {
		p.callback.Lock()
		defer p.callback.Unlock()
		p.cfg.Event(e)
	}
}

// Close gives up what no request carries yet, waits up to CloseGrace for what
// is under way, and gives that up too. With its last producer a writer ends.
func (p *Producer) Close() error {
	p.close.Do(func() {
		p.closed.Store(true)
		close(p.done)
		for _, w := range p.writers {
			w.giveUp(p, false)
		}
		grace, cancel := context.WithTimeout(context.Background(), p.q.cfg.CloseGrace)
		defer cancel()
		if err := p.untilIdle(grace, nil); errors.Is(err, context.DeadlineExceeded) {
			for _, w := range p.writers {
				w.giveUp(p, true)
			}
			// A callback may still be running.
			_ = p.untilIdle(context.Background(), nil)
		}
		p.q.detach(p)
	})
	return nil
}
