package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"queuebench/queue"
)

var errAbandoned = errors.New("kafka: the producer was closed before the message was acknowledged")

// message is a record on its way, with what its fate is told by. It is the
// record's context, by which the client gives it back: a context that never
// ends, whose methods read nothing of it, since the client may ask it once more
// when the message is already another one.
type message struct {
	record    kgo.Record
	slab      *slab
	seq       int64
	size      int64
	partition int32 // the one that it names; negative for none
}

func (*message) Deadline() (at time.Time, ok bool) { return time.Time{}, false }
func (*message) Done() <-chan struct{}             { return nil }
func (*message) Err() error                        { return nil }
func (*message) Value(any) any                     { return nil }

var _ context.Context = (*message)(nil)

// promise is told of each message's fate by the client, one after the other.
func (p *Producer) promise(r *kgo.Record, err error) {
	m := r.Context.(*message)
	fate := queue.Ack{First: m.seq, N: 1, Partition: r.Partition, Offset: r.Offset, OffsetStep: 1}
	switch {
	case err == nil && p.q.cfg.Settings.Producer.Acks == 0:
		fate.Offset, fate.OffsetStep = -1, 0
	case err != nil:
		fate.Partition, fate.Offset, fate.OffsetStep = max(r.Partition, -1), -1, 0
		if fate.Err = fmt.Errorf("kafka: %w", err); errors.Is(err, kgo.ErrClientClosed) {
			fate.Err = errAbandoned
		}
	default:
		if fate.BrokerNs = p.stamps.of(r.Partition, r.Offset); fate.BrokerNs > 0 {
			fate.BrokerKind = appended
		}
	}
	p.mu.Lock()
	if p.txn != nil {
		p.txn.hold(fate, m.size)
	} else {
		p.freed += m.size
		p.fates = addFate(p.fates, fate)
	}
	p.mu.Unlock()
	if err != nil {
		m.slab.failed.Store(true)
	}
	if m.slab.open.Add(-1) == 0 && !m.slab.failed.Load() {
		p.slabs.put(m.slab)
	}
	if p.txn == nil {
		signal(p.wake)
	}
}

// addFate appends a fate, to the last one if it goes on from there.
func addFate(to []queue.Ack, f queue.Ack) []queue.Ack {
	if len(to) > 0 {
		if last := &to[len(to)-1]; last.First+last.N == f.First && last.Partition == f.Partition && last.BrokerNs == f.BrokerNs && sameFate(last, &f) {
			last.N += f.N
			return to
		}
	}
	return append(to, f)
}

func sameFate(last, f *queue.Ack) bool {
	if last.Err != nil || f.Err != nil {
		return last.Err != nil && f.Err != nil && last.Err.Error() == f.Err.Error()
	}
	return last.OffsetStep == f.OffsetStep && last.Offset+last.N*last.OffsetStep == f.Offset
}

// tell tells fates until Close has told the last one. What becomes known while
// Acked runs is told together.
func (p *Producer) tell() {
	defer close(p.done)
	for {
		<-p.wake
		for p.tellSome() {
		}
		select {
		case <-p.closed:
			if p.Pending() == 0 {
				return
			}
		default:
		}
	}
}

func (p *Producer) tellSome() bool {
	p.mu.Lock()
	fates := p.fates
	p.fates, p.spare = p.spare[:0], fates
	freed := p.freed
	if len(fates) > 0 {
		p.freed = 0
	}
	p.mu.Unlock()
	if len(fates) == 0 {
		return false
	}
	if p.cfg.Acked != nil {
		p.cfg.Acked(fates)
	}
	var told int64
	for i := range fates {
		told += fates[i].N
	}
	p.mu.Lock()
	p.told += told
	p.bytes -= freed
	var waiters []chan struct{}
	if p.told == p.taken {
		waiters, p.waiters = p.waiters, nil
	}
	p.mu.Unlock()
	for _, ch := range waiters {
		close(ch)
	}
	signal(p.room)
	return true
}
