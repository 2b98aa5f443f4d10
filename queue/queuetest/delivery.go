package queuetest

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"queuebench/queue"
)

const anyPartition = queue.AnyPartition

var earliest = queue.Start{Kind: queue.StartEarliest}

func (s *suite) infoIsComplete(t *testing.T) {
	q := s.created(t)
	info := q.Info()
	if info.Kind == "" || info.Durability == "" || info.Partitions < 1 {
		t.Errorf("Info must have a kind, a durability and at least one partition: %+v", info)
	}
}

func (s *suite) orderAndNoLoss(t *testing.T) {
	q := s.created(t)
	c := s.consumer(t, q, "g", earliest)
	p := s.producer(t, q, 0)
	p.sendMessages(t, s.opt.Messages, 7, 100, anyPartition)
	s.checkAll(t, q, s.mustCollect(t, c, s.opt.Messages), 0, 0, int64(s.opt.Messages))
	s.quiet(t, c)
}

func (s *suite) orderPerPartition(t *testing.T) {
	q := s.created(t)
	p := s.producer(t, q, 0)
	c := s.consumer(t, q, "g", earliest)
	parts := q.Info().Partitions
	n := 0
	for k := range parts {
		p.sendMessages(t, 50, 5, 40, int32(k))
		n += 50
	}
	got := s.mustCollect(t, c, n)
	s.checkAll(t, q, got, 0, 0, int64(n))
	for _, d := range got {
		if want := int32(d.id.seq / 50); d.Partition != want {
			t.Fatalf("message %d was sent to partition %d and came from %d", d.id.seq, want, d.Partition)
		}
	}
}

func (s *suite) concurrentProducers(t *testing.T) {
	q := s.created(t)
	c := s.consumer(t, q, "g", earliest)
	const producers = 4
	each := s.opt.Messages / 2
	var ps []*producer
	for i := range producers {
		ps = append(ps, s.producer(t, q, i))
	}
	ctx := s.deadline(t)
	errs := make([]error, producers)
	var wg sync.WaitGroup
	for i, p := range ps {
		wg.Go(func() { errs[i] = p.trySendMessages(ctx, each, 1+i*3, 60, anyPartition) })
	}
	got, err := s.collect(t.Context(), c, producers*each, true)
	wg.Wait()
	for _, e := range errs {
		if e != nil {
			t.Fatal(e)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range ps {
		s.checkAll(t, q, got, i, 0, int64(each))
		p.flush(t)
		if acked, failed := p.checkAcks(t); acked != int64(each) || failed != 0 {
			t.Errorf("producer %d: %d acknowledged, %d failed, of %d", i, acked, failed, each)
		}
	}
	s.quiet(t, c)
}

func (s *suite) payloadBytesUntouched(t *testing.T) {
	q := s.created(t)
	c := s.consumer(t, q, "g", earliest)
	p := s.producer(t, q, 0)
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	sent := [][]byte{every}
	for i := range every {
		sent = append(sent, []byte{byte(i)}) // each value alone
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		b := make([]byte, 1+r.IntN(700))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		sent = append(sent, b)
	}
	sent = append(sent, bytes.Repeat([]byte{0}, 1000), bytes.Repeat([]byte{0xff}, 1000), []byte("\r\n\"{},'\\\x00é"))
	s.checkPayloads(t, c, p, sent)
}

// checkPayloads sends payloads in one batch, to one partition, and compares
// what comes.
func (s *suite) checkPayloads(t *testing.T, c queue.Consumer, p *producer, sent [][]byte) {
	t.Helper()
	p.sendRaw(t, sent...)
	got, err := s.collect(t.Context(), c, len(sent), false)
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]int{}
	for _, b := range sent {
		left[string(b)]++
	}
	for _, d := range got {
		if left[string(d.Payload)]--; left[string(d.Payload)] < 0 {
			t.Errorf("a payload of %d bytes came that was not sent: %.40x", len(d.Payload), d.Payload)
		}
	}
	for b, n := range left {
		if n > 0 {
			t.Errorf("a payload of %d bytes did not come: %.40x", len(b), b)
		}
	}
}

func (s *suite) buffersReusedAfterSend(t *testing.T) {
	q := s.created(t)
	c := s.consumer(t, q, "g", earliest)
	p := s.producer(t, q, 0)
	const batch, size = 10, 80
	buf := make([]byte, 0, batch*size)
	ms := make([]queue.Message, 0, batch)
	n := 0
	for range s.opt.Messages / batch {
		buf, ms = buf[:0], ms[:0]
		for range batch {
			begin := len(buf)
			buf = appendMessage(buf, identity{0, int64(n)}, size)
			ms = append(ms, queue.Message{Payload: buf[begin:], Partition: anyPartition})
			n++
		}
		took, err := p.Send(s.deadline(t), ms)
		if err != nil || took != batch {
			t.Fatalf("Send took %d of %d: %v", took, batch, err)
		}
		for i := range buf {
			buf[i] = 0xdb
		}
		clear(ms)
	}
	s.checkAll(t, q, s.mustCollect(t, c, n), 0, 0, int64(n))
}

func (s *suite) emptyAndLargeMessages(t *testing.T) {
	q := s.created(t)
	c := s.consumer(t, q, "g", earliest)
	p := s.producer(t, q, 0)
	large := appendMessage(nil, identity{9, 9}, s.opt.Largest)
	s.checkPayloads(t, c, p, [][]byte{{}, []byte("a"), {}, large, {}, large[:s.opt.Largest-1], []byte("z")})
	s.quiet(t, c)
}

func (s *suite) batchSizes(t *testing.T) {
	q := s.created(t)
	c := s.consumer(t, q, "g", earliest)
	p := s.producer(t, q, 0)
	if n, err := p.Send(s.deadline(t), nil); n != 0 || err != nil {
		t.Errorf("Send of an empty batch: %d, %v", n, err)
	}
	n := 0
	for _, batch := range []int{1, 2, 999, 3, 5000, 1} {
		p.sendMessages(t, batch, batch, 20, anyPartition)
		n += batch
	}
	s.checkAll(t, q, s.mustCollect(t, c, n), 0, 0, int64(n))
	s.quiet(t, c)
}

func (s *suite) keys(t *testing.T) {
	q := s.created(t)
	c := s.consumer(t, q, "g", earliest)
	p := s.producer(t, q, 0)
	keys := [][]byte{nil, []byte("a"), {0, 255, 10}, bytes.Repeat([]byte("k"), 300)}
	var ms []queue.Message
	for i := range 200 {
		ms = append(ms, queue.Message{Key: keys[i%len(keys)], Payload: appendMessage(nil, identity{0, int64(i)}, 30), Partition: anyPartition})
	}
	if n, err := p.Send(s.deadline(t), ms); err != nil {
		t.Fatalf("Send took %d: %v", n, err)
	}
	at := map[string]int32{}
	for _, d := range s.mustCollect(t, c, len(ms)) {
		want := keys[d.id.seq%int64(len(keys))]
		if !bytes.Equal(d.Key, want) || (d.Key == nil) != (want == nil) {
			t.Errorf("message %d: key %q, sent with %q", d.id.seq, d.Key, want)
		}
		if k, ok := at[string(want)]; want != nil && ok && k != d.Partition {
			t.Errorf("key %q is in partitions %d and %d", want, k, d.Partition)
		}
		at[string(want)] = d.Partition
	}
}

// headers are carried as they are, in order, names that come twice and empty
// values included, and their memory may be reused after Send.
func (s *suite) headers(t *testing.T) {
	q := s.created(t)
	if !q.Info().Headers {
		return
	}
	of := s.opt.HeadersOf
	if of == nil {
		of = anyHeaders
	}
	c := s.consumer(t, q, "g", earliest)
	p := s.producer(t, q, 0)
	const n, batch = 400, 10
	for first := 0; first < n; first += batch {
		ms := make([]queue.Message, batch)
		for k := range ms {
			i := first + k
			ms[k] = queue.Message{Payload: appendMessage(nil, identity{0, int64(i)}, 30), Headers: of(i), Partition: anyPartition}
		}
		if n, err := p.Send(s.deadline(t), ms); err != nil {
			t.Fatalf("Send took %d: %v", n, err)
		}
		for k := range ms {
			for j := range ms[k].Headers {
				clear(ms[k].Headers[j].Value)
				ms[k].Headers[j] = queue.Header{}
			}
		}
	}
	same := func(a, b queue.Header) bool { return a.Name == b.Name && bytes.Equal(a.Value, b.Value) }
	got := s.mustCollect(t, c, n)
	s.checkAll(t, q, got, 0, 0, n)
	for _, d := range got {
		if want := of(int(d.id.seq)); !slices.EqualFunc(d.Headers, want, same) {
			t.Errorf("message %d: headers %q, sent with %q", d.id.seq, d.Headers, want)
		}
	}
}

// anyHeaders are all that a queue may be asked to carry.
func anyHeaders(i int) []queue.Header {
	return [][]queue.Header{
		nil,
		{{Name: "a", Value: []byte("1")}},
		{{Name: "pathway_time", Value: []byte{0, 255, byte(i), 10}}, {Name: "pathway_diff", Value: []byte("-1")}},
		{{Name: "twice", Value: []byte("x")}, {Name: "", Value: nil}, {Name: "twice", Value: bytes.Repeat([]byte{byte(i)}, 300)}},
	}[i%4]
}
