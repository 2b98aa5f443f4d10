// Package broker holds what the clients of message brokers have in common: the
// messages of a producer whose fate is not known, the deliveries that wait for
// their consumer, which partition a message goes to, and how a client names
// itself to a server.
//
// It talks to no server, and keeps no copy of a message.
package broker

import (
	"context"
	"sync"

	"queuebench/queue"
)

// Window numbers the messages that a producer takes, from 0, and knows which of
// them have no fate yet. Each gets exactly one: what is told of a message a
// second time (an acknowledgement after its deadline, say) is not passed on. It
// spans at most a given number of messages, so that memory stays flat when a
// server stops to answer. Its methods may be called from several goroutines, but
// for Take and Return, which are the sender's.
type Window struct {
	acked func([]queue.Ack)
	size  int64

	// ackMu keeps Acked to one goroutine at a time, and guards out.
	ackMu sync.Mutex
	out   []queue.Ack

	mu        sync.Mutex
	open      []uint64 // a bit per message, message n at n modulo its length
	low, next int64    // messages from low on may be open, next is the first not taken
	pending   int64
	closed    bool
	changed   chan struct{} // closed at the next change; nil when nobody waits
}

// NewWindow makes a window that spans at least size messages. Acked may be nil.
func NewWindow(size int, acked func([]queue.Ack)) *Window {
	words := max(1, (size+63)/64)
	return &Window{acked: acked, size: int64(words) * 64, open: make([]uint64, words)}
}

// Take numbers up to want messages, at least one, waiting for room. It returns
// the first number and how many there are.
func (w *Window) Take(ctx context.Context, want int) (first int64, n int, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		w.mu.Lock()
		if w.closed {
			w.mu.Unlock()
			return 0, 0, queue.ErrClosed
		}
		if room := w.size - (w.next - w.low); room > 0 {
			first, n = w.next, int(min(room, int64(want)))
			for range n {
				w.open[w.next%w.size/64] |= 1 << (w.next % 64)
				w.next++
			}
			w.pending += int64(n)
			w.mu.Unlock()
			return first, n, nil
		}
		err := w.wait(ctx) // unlocks
		if err != nil {
			return 0, 0, err
		}
	}
}

// Return takes back the last n numbers of Take: their messages were not handed
// to the client after all, and have no fate.
func (w *Window) Return(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for range n {
		w.next--
		if bit := uint64(1) << (w.next % 64); w.open[w.next%w.size/64]&bit != 0 {
			w.open[w.next%w.size/64] &^= bit
			w.pending--
		}
	}
	w.low = min(w.low, w.next)
	w.wake()
}

// Settle passes on the fates of messages that have none yet. Ranges that follow
// on one another become one.
func (w *Window) Settle(acks []queue.Ack) {
	w.ackMu.Lock()
	defer w.ackMu.Unlock()
	w.mu.Lock()
	settled := w.mark(acks)
	w.mu.Unlock()
	w.tell(settled)
}

// Fail settles every message before the given number that has no fate yet.
func (w *Window) Fail(before int64, err error) {
	w.ackMu.Lock()
	defer w.ackMu.Unlock()
	w.mu.Lock()
	settled := w.fail(before, err)
	w.mu.Unlock()
	w.tell(settled)
}

// Close fails what is pending. Acked is not called after it has returned.
func (w *Window) Close(err error) {
	w.ackMu.Lock()
	defer w.ackMu.Unlock()
	w.mu.Lock()
	w.closed = true
	settled := w.fail(w.next, err)
	w.wake()
	w.mu.Unlock()
	w.tell(settled)
}

// Flush waits until no message is without a fate.
func (w *Window) Flush(ctx context.Context) error {
	for {
		w.mu.Lock()
		switch {
		case w.closed:
			w.mu.Unlock()
			return queue.ErrClosed
		case w.pending == 0:
			w.mu.Unlock()
			return nil
		}
		if err := w.wait(ctx); err != nil {
			return err
		}
	}
}

// Pending is how many messages have no fate yet.
func (w *Window) Pending() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return int(w.pending)
}

// Next is the number of the next message.
func (w *Window) Next() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.next
}

// tell calls Acked, and only then counts the messages as settled, so that Flush
// returns after it. ackMu is held.
func (w *Window) tell(settled int64) {
	if settled == 0 {
		return
	}
	if w.acked != nil {
		w.acked(w.out)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending -= settled
	w.wake()
}

func (w *Window) fail(before int64, err error) int64 {
	n := min(before, w.next) - w.low
	if n <= 0 {
		return 0
	}
	return w.mark([]queue.Ack{{First: w.low, N: n, Partition: -1, Offset: -1, Err: err}})
}

// mark closes messages and puts those that were open into out. Both locks are
// held.
func (w *Window) mark(acks []queue.Ack) (settled int64) {
	w.out = w.out[:0]
	for _, a := range acks {
		for seq, end := max(a.First, w.low), min(a.First+a.N, w.next); seq < end; {
			if !w.shut(seq) {
				seq++
				continue
			}
			part := a
			part.First, part.N = seq, 1
			if a.Offset >= 0 {
				part.Offset += (seq - a.First) * a.OffsetStep
			}
			for seq++; seq < end && w.shut(seq); seq++ {
				part.N++
			}
			settled += part.N
			w.add(part)
		}
	}
	for w.low < w.next && w.open[w.low%w.size/64]&(1<<(w.low%64)) == 0 {
		w.low++
	}
	return settled
}

// shut closes a message, and says whether it was open.
func (w *Window) shut(seq int64) bool {
	word, bit := &w.open[seq%w.size/64], uint64(1)<<(seq%64)
	was := *word&bit != 0
	*word &^= bit
	return was
}

// add appends a range to out, or to the last one there.
func (w *Window) add(a queue.Ack) {
	if n := len(w.out); n > 0 && a.Err == nil {
		last := &w.out[n-1]
		follows := last.First+last.N == a.First && last.Err == nil && last.Partition == a.Partition && last.BrokerNs == a.BrokerNs
		if follows && (last.Offset < 0 && a.Offset < 0 ||
			last.OffsetStep == a.OffsetStep && last.Offset >= 0 && last.Offset+last.N*last.OffsetStep == a.Offset) {
			last.N += a.N
			return
		}
	}
	w.out = append(w.out, a)
}

// wait unlocks, and waits for a change.
func (w *Window) wait(ctx context.Context) error {
	if w.changed == nil {
		w.changed = make(chan struct{})
	}
	ch := w.changed
	w.mu.Unlock()
	select {
	case <-ch:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wake tells those who wait of a change. The lock is held.
func (w *Window) wake() {
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
}
