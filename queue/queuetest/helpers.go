package queuetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"queuebench/queue"
)

// created returns a fresh queue after Create; it is removed and closed at the
// end.
func (s *suite) created(t *testing.T) queue.Queue {
	t.Helper()
	q := s.fresh(t)
	s.create(t, q)
	return q
}

func (s *suite) create(t *testing.T, q queue.Queue) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.opt.Timeout)
		defer cancel()
		if err := q.Remove(ctx); err != nil && !errors.Is(err, queue.ErrClosed) {
			t.Errorf("Remove: %v", err)
		}
		if err := q.Close(); err != nil {
			t.Errorf("Close of the queue: %v", err)
		}
	})
	if err := q.Create(s.deadline(t)); err != nil {
		t.Fatalf("Create: %v", err)
	}
}

// deadline is a context that ends after one wait's time.
func (s *suite) deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), s.opt.Timeout)
	t.Cleanup(cancel)
	return ctx
}

// producer is a producer whose acknowledgements are recorded.
type producer struct {
	queue.Producer
	s    *suite
	id   int
	next int64 // sequence number of the next message
	took int64

	mu   sync.Mutex
	acks []queue.Ack
	busy bool
	bad  error
}

func (s *suite) producer(t *testing.T, q queue.Queue, id int) *producer {
	t.Helper()
	p := &producer{s: s, id: id}
	var err error
	p.Producer, err = q.Producer(s.deadline(t), queue.ProducerConfig{ID: id, Acked: p.acked})
	if err != nil {
		t.Fatalf("Producer: %v", err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func (p *producer) acked(acks []queue.Ack) {
	p.mu.Lock()
	if p.busy {
		p.bad = errors.New("function Acked was called while another call was running")
	}
	p.busy = true
	p.acks = append(p.acks, acks...)
	p.mu.Unlock()
	time.Sleep(10 * time.Microsecond) // room for a second caller to show itself
	p.mu.Lock()
	p.busy = false
	p.mu.Unlock()
}

// sendMessages sends n messages of the given size, batch at a time, to a
// partition.
func (p *producer) sendMessages(t *testing.T, n, batch, size int, partition int32) {
	t.Helper()
	if err := p.trySendMessages(p.s.deadline(t), n, batch, size, partition); err != nil {
		t.Fatal(err)
	}
}

func (p *producer) trySendMessages(ctx context.Context, n, batch, size int, partition int32) error {
	var ms []queue.Message
	for end := p.next + int64(n); p.next < end; {
		ms = ms[:0]
		for range min(int64(batch), end-p.next) {
			ms = append(ms, queue.Message{Payload: appendMessage(nil, identity{p.id, p.next}, size), Partition: partition})
			p.next++
		}
		took, err := p.Send(ctx, ms)
		p.took += int64(took)
		if err != nil || took != len(ms) {
			return fmt.Errorf("took %d of %d messages: %w", took, len(ms), err)
		}
	}
	return nil
}

// sendRaw sends payloads as they are.
func (p *producer) sendRaw(t *testing.T, payloads ...[]byte) {
	t.Helper()
	ms := make([]queue.Message, len(payloads))
	for i, b := range payloads {
		ms[i] = queue.Message{Payload: b, Partition: queue.AnyPartition}
	}
	n, err := p.Send(p.s.deadline(t), ms)
	p.took += int64(n)
	if err != nil || n != len(ms) {
		t.Fatalf("Send took %d of %d messages: %v", n, len(ms), err)
	}
}

func (p *producer) flush(t *testing.T) {
	t.Helper()
	if err := p.Flush(p.s.deadline(t)); err != nil {
		t.Fatalf("Flush: %v", err)
	}
}

// checkAcks checks that each message taken has exactly one fate, and returns
// how many were acknowledged and how many failed.
func (p *producer) checkAcks(t *testing.T) (acked, failed int64) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bad != nil {
		t.Error(p.bad)
	}
	fates := slices.Clone(p.acks)
	slices.SortFunc(fates, func(a, b queue.Ack) int { return int(a.First - b.First) })
	next := int64(0)
	for _, a := range fates {
		if a.First != next || a.N < 1 {
			t.Errorf("messages %d to %d have a fate, expected the next one to begin at %d", a.First, a.First+a.N-1, next)
		}
		next = a.First + a.N
		if a.Err == nil {
			acked += a.N
		} else {
			failed += a.N
		}
	}
	if next != p.took {
		t.Errorf("acknowledgements cover %d messages, the producer took %d", next, p.took)
	}
	return acked, failed
}

func (s *suite) consumer(t *testing.T, q queue.Queue, group string, start queue.Start) queue.Consumer {
	t.Helper()
	c, err := q.Consumer(s.deadline(t), queue.ConsumerConfig{Group: group, Start: start})
	if err != nil {
		t.Fatalf("Consumer: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// delivery is a delivery that is kept after the next Receive.
type delivery struct {
	queue.Delivery
	id identity
	by int // the consumer, where several compete
}

// collect receives until n messages came, and keeps them.
func (s *suite) collect(ctx context.Context, c queue.Consumer, n int, parse bool) ([]delivery, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opt.Timeout)
	defer cancel()
	var got []delivery
	for len(got) < n {
		batch, err := c.Receive(ctx)
		if err != nil {
			return got, fmt.Errorf("received only %d of %d messages: %w", len(got), n, err)
		}
		if len(batch) == 0 {
			return got, errors.New("an empty batch was received")
		}
		for _, d := range batch {
			d.Payload, d.Key, d.Headers = bytes.Clone(d.Payload), bytes.Clone(d.Key), slices.Clone(d.Headers)
			for i := range d.Headers {
				d.Headers[i].Value = bytes.Clone(d.Headers[i].Value)
			}
			k := delivery{Delivery: d}
			if parse {
				if k.id, err = parseMessage(d.Payload); err != nil {
					return got, err
				}
			}
			got = append(got, k)
		}
	}
	return got, nil
}

func (s *suite) mustCollect(t *testing.T, c queue.Consumer, n int) []delivery {
	t.Helper()
	got, err := s.collect(t.Context(), c, n, true)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// quiet checks that nothing more comes.
func (s *suite) quiet(t *testing.T, c queue.Consumer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), s.opt.Quiet)
	defer cancel()
	batch, err := c.Receive(ctx)
	if len(batch) > 0 {
		t.Errorf("%d messages came that were not expected, the first: %s", len(batch), describe(batch[0]))
	} else if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a Receive without messages ended with %v, not with its context", err)
	}
}

func describe(d queue.Delivery) string {
	id, err := parseMessage(d.Payload)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("message %d of producer %d, partition %d, offset %d", id.seq, id.producer, d.Partition, d.Offset)
}

// checkAll checks that exactly the messages from..to−1 of a producer are there,
// in order within each partition, with offsets that never fall.
func (s *suite) checkAll(t *testing.T, q queue.Queue, got []delivery, producer int, from, to int64) {
	t.Helper()
	count := map[int64]int{}
	type source struct{ partition, by int32 }
	lastSeq, lastOffset := map[source]int64{}, map[source]int64{}
	for _, d := range got {
		from := source{d.Partition, int32(d.by)}
		if last, ok := lastOffset[from]; ok && d.Offset >= 0 && d.Offset < last {
			t.Errorf("partition %d: offset %d came after %d", d.Partition, d.Offset, last)
		}
		lastOffset[from] = d.Offset
		if d.id.producer != producer {
			continue
		}
		if last, ok := lastSeq[from]; ok && d.id.seq <= last && count[d.id.seq] == 0 {
			t.Errorf("producer %d, partition %d: message %d came after %d", producer, d.Partition, d.id.seq, last)
		}
		lastSeq[from] = max(lastSeq[from], d.id.seq)
		count[d.id.seq]++
	}
	info := q.Info()
	lost, twice := 0, 0
	for seq := from; seq < to; seq++ {
		if count[seq] == 0 {
			lost++
		}
		twice += max(0, count[seq]-1)
		delete(count, seq)
	}
	if lost > 0 && (info.LosesNothing || s.opt.Healthy) {
		t.Errorf("producer %d: %d of %d messages were lost", producer, lost, to-from)
	}
	if twice > 0 && (info.DeliversOnce || s.opt.Healthy) {
		t.Errorf("producer %d: %d deliveries too many", producer, twice)
	}
	if len(count) > 0 {
		t.Errorf("producer %d: %d messages came that were not sent or not due", producer, len(count))
	}
}
