package deltalake

import (
	"fmt"
	"slices"

	"queuebench/queue"
)

// add takes what there is room for.
func (w *writer) add(p *Producer, batch []queue.Message) (n int, err error) {
	cfg := w.t.cfg
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.err != nil:
		return 0, fmt.Errorf("deltalake: the writer of table %s has ended, %w: %w", w.t.name, queue.ErrBroken, w.err)
	case p.closed.Load():
		return 0, queue.ErrClosed
	}
	for n < len(batch) {
		k := w.fill(p, batch[n:])
		if k == 0 {
			break
		}
		n += k
		if b := w.open; b.bytes >= cfg.BatchBytes || b.count >= cfg.BatchMessages {
			w.sealed = append(w.sealed, b)
			w.open = w.spare()
			wake(w.full)
		}
	}
	p.pending.Add(int64(n))
	return n, nil
}

// fill puts messages into the open batch while there is room, up to the one
// that makes it full. The lock is held.
func (w *writer) fill(p *Producer, batch []queue.Message) (n int) {
	cfg, b := w.t.cfg, w.open
	if b.count == 0 {
		b.first = cfg.Clock.Now()
	}
	begin, bytes := len(b.data), b.bytes
	for n < len(batch) && w.bytes+b.bytes-bytes+int64(len(batch[n].Payload)) <= cfg.MaxPending {
		b.put(batch[n].Payload)
		n++
		if b.bytes >= cfg.BatchBytes || b.count >= cfg.BatchMessages {
			break
		}
	}
	if n > 0 {
		b.own(p, p.taken, int64(n), begin)
		p.taken += int64(n)
		w.bytes += b.bytes - bytes
	}
	return n
}

// finish tells the producers of a batch its fate. A fatal error is the fate
// of all that waits behind it, too.
func (w *writer) finish(b *batch, version int64, err error) {
	b.trace.Offset = version
	var tracer *Producer
	w.mu.Lock()
	for i := range b.runs {
		if err == nil && b.runs[i].p.cfg.Trace != nil {
			tracer = b.runs[i].p
			break
		}
	}
	w.acks = b.take(nil, w.acks[:0], version, err)
	w.underWay = slices.DeleteFunc(w.underWay, func(o *batch) bool { return o == b })
	if err != nil && w.err == nil {
		w.err = err
		for _, lost := range append(w.sealed, w.open) {
			w.acks = lost.take(nil, w.acks, -1, err)
			w.recycle(lost)
		}
		w.sealed, w.open = nil, w.spare()
	}
	trace := b.trace
	w.recycle(b)
	w.mu.Unlock()
	if tracer != nil {
		tracer.trace(trace)
	}
	w.settle(w.acks)
}

// settle tells acknowledgements, those of one producer in a row in one call.
func (w *writer) settle(acks []producerAck) {
	for len(acks) > 0 {
		n := 1
		for n < len(acks) && acks[n].p == acks[0].p {
			n++
		}
		acks[0].p.settle(w.t.partition, acks[:n])
		acks = acks[n:]
	}
}

// giveUp takes the messages of a producer that are not under way, or all of
// them, and tells their fate.
func (w *writer) giveUp(p *Producer, underWay bool) {
	var acks []producerAck
	w.mu.Lock()
	if underWay {
		for _, b := range w.underWay {
			acks = b.take(p, acks, -1, errInFlight)
		}
	}
	for _, b := range append(slices.Clone(w.sealed), w.open) {
		acks = b.take(p, acks, -1, errAbandoned)
	}
	w.mu.Unlock()
	w.settle(acks)
}
