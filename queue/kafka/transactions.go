package kafka

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"queuebench/queue"
)

// transactions commit what a producer has sent, every so often. A message is
// acknowledged when its transaction is committed. A nil *transactions is none.
type transactions struct {
	p      *Producer
	open   bool // guarded by the producer's sending
	cancel context.CancelFunc
	ended  sync.WaitGroup

	// Guarded by the producer's mu.
	held   []queue.Ack
	bytes  int64 // of the messages in held
	failed error // why the transaction cannot be committed
}

// start commits every interval, until stop.
func (t *transactions) start(interval time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	t.cancel = cancel
	t.ended.Go(func() {
		for pause(ctx, interval) {
			_ = t.end(ctx) // the fates tell of it
		}
	})
}

// begin begins a transaction where none is open. sending is held.
func (t *transactions) begin() error {
	if t == nil || t.open {
		return nil
	}
	if err := t.p.client.BeginTransaction(); err != nil {
		return fmt.Errorf("kafka: beginning a transaction: %w", err)
	}
	t.open = true
	return nil
}

// hold keeps a fate until its transaction has one. The producer's mu is held.
func (t *transactions) hold(f queue.Ack, size int64) {
	t.bytes += size
	if f.Err != nil && t.failed == nil {
		t.failed = f.Err
	}
	t.held = addFate(t.held, f)
}

// end commits the transaction if one is open, or aborts it if a message failed.
func (t *transactions) end(ctx context.Context) error {
	t.p.sending.Lock()
	defer t.p.sending.Unlock()
	if !t.open || t.p.gone {
		return nil
	}
	if err := t.p.client.Flush(ctx); err != nil {
		return err // it goes on with the next try
	}
	t.p.mu.Lock()
	failed := t.failed
	t.p.mu.Unlock()
	try := kgo.TryCommit
	if failed != nil {
		try = kgo.TryAbort
	}
	err := t.p.client.EndTransaction(ctx, try)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	t.open = false
	if err != nil && failed == nil {
		failed = fmt.Errorf("kafka: committing a transaction: %w", err)
	}
	t.release(failed)
	return nil
}

// release tells the fates of a transaction: those of its messages, or the one
// reason why none of them is safe.
func (t *transactions) release(failed error) {
	t.p.mu.Lock()
	for _, f := range t.held {
		if failed != nil {
			f.Err, f.Offset, f.OffsetStep, f.BrokerNs, f.BrokerKind = failed, -1, 0, 0, ""
		}
		t.p.fates = addFate(t.p.fates, f)
	}
	t.p.freed += t.bytes
	t.held, t.bytes, t.failed = t.held[:0], 0, nil
	t.p.mu.Unlock()
	signal(t.p.wake)
}

// stop ends the commits, and aborts what is open, so that it holds up no reader.
func (t *transactions) stop() {
	if t == nil {
		return
	}
	t.cancel()
	t.ended.Wait()
	t.p.sending.Lock()
	defer t.p.sending.Unlock()
	if !t.open {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	t.p.gone = true
	if err := t.p.client.AbortBufferedRecords(ctx); err == nil {
		_ = t.p.client.EndTransaction(ctx, kgo.TryAbort) // what it does not reach, the broker aborts in its own time
	}
	t.open = false
}

// abandon tells that what was never committed is not safe. The client is closed.
func (t *transactions) abandon() {
	if t == nil {
		return
	}
	// The client tells the last fates from a goroutine of its own.
	for deadline := time.Now().Add(closeLimit); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if t.release(errAbandoned); t.p.allKnown() {
			return
		}
	}
}

// allKnown tells whether every fate is told or about to be.
func (p *Producer) allKnown() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.told
	for i := range p.fates {
		n += p.fates[i].N
	}
	return n == p.taken
}
