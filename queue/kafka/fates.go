package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
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

// slab is the memory of messages that were taken together. It is used again when
// the last of them has its fate.
type slab struct {
	messages []message
	bytes    []byte
	headers  []kgo.RecordHeader
	open     atomic.Int64
	failed   atomic.Bool // a request may still hold it
}

// slab makes room for copies of a batch.
func (p *Producer) slab(batch []queue.Message) *slab {
	s, _ := p.slabs.Get().(*slab)
	if s == nil {
		s = new(slab)
	}
	bytes, headers := 0, 0
	for i := range batch {
		bytes += int(size(&batch[i]))
		headers += len(batch[i].Headers)
	}
	if cap(s.messages) < len(batch) {
		s.messages = make([]message, len(batch), max(len(batch), min(chunk, 2*cap(s.messages))))
	}
	if cap(s.bytes) < bytes {
		s.bytes = make([]byte, 0, bytes+bytes/4)
	}
	if cap(s.headers) < headers {
		s.headers = make([]kgo.RecordHeader, 0, headers)
	}
	s.messages, s.bytes, s.headers = s.messages[:len(batch)], s.bytes[:0], s.headers[:0]
	s.open.Store(int64(len(batch)))
	return s
}

// fill copies message i of a batch.
func (s *slab) fill(i int, from *queue.Message, topic string) *message {
	m := &s.messages[i]
	*m = message{slab: s, size: size(from), partition: from.Partition}
	m.record = kgo.Record{Topic: topic, Value: s.copy(from.Payload), Context: m}
	if m.record.Value == nil {
		m.record.Value = []byte{} // an empty message, and no tombstone
	}
	if from.Key != nil {
		if m.record.Key = s.copy(from.Key); m.record.Key == nil {
			m.record.Key = []byte{}
		}
	}
	if len(from.Headers) == 0 {
		return m
	}
	begin := len(s.headers)
	for _, h := range from.Headers {
		s.headers = append(s.headers, kgo.RecordHeader{Key: h.Name, Value: s.copy(h.Value)})
	}
	m.record.Headers = s.headers[begin:len(s.headers):len(s.headers)]
	return m
}

// copy returns nil for nothing.
func (s *slab) copy(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	begin := len(s.bytes)
	s.bytes = append(s.bytes, b...)
	return s.bytes[begin:len(s.bytes):len(s.bytes)]
}

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
		p.slabs.Put(m.slab)
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
