package deltalake

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"queuebench/queue"
)

// filled is a batch of n messages of 100 B.
func filled(n int) *batch {
	b := newBatch(largePage)
	p := &Producer{}
	payload := bytes.Repeat([]byte("x"), 100)
	for i := range n {
		b.add(p, int64(i), payload)
	}
	return b
}

// BenchmarkEncode has a message as its operation, and files of 1,000.
func BenchmarkEncode(b *testing.B) {
	for _, schema := range []Schema{DataOnly, Pathway} {
		b.Run(string(schema), func(b *testing.B) {
			e, err := newEncoder(&Config{Column: "data", Schema: schema, Codec: None})
			if err != nil {
				b.Fatal(err)
			}
			batch := filled(1000)
			b.ReportAllocs()
			for range b.N/1000 + 1 {
				batch.seal()
				if err := e.encode(batch, 1000); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDecode has a message as its operation, and files of 1,000.
func BenchmarkDecode(b *testing.B) {
	for _, schema := range []Schema{DataOnly, Pathway} {
		for _, codec := range []Codec{None, Snappy} {
			b.Run(fmt.Sprintf("%s/%s", schema, codec), func(b *testing.B) {
				e, err := newEncoder(&Config{Column: "data", Schema: schema, Codec: codec})
				if err != nil {
					b.Fatal(err)
				}
				batch := filled(1000)
				batch.seal()
				if err := e.encode(batch, 1000); err != nil {
					b.Fatal(err)
				}
				d := decoder{column: "data", retracts: schema == Pathway}
				var dst []queue.Delivery
				b.ReportAllocs()
				for range b.N/1000 + 1 {
					if dst, _, err = d.decode(batch.file, 1, dst[:0]); err != nil || len(dst) != 1000 {
						b.Fatal(len(dst), err)
					}
				}
			})
		}
	}
}

// BenchmarkQueue has a message as its operation: handed over, encoded, stored
// in a folder, found, decoded and received.
func BenchmarkQueue(b *testing.B) {
	q := open(b, Config{Store: folder(b), Name: "bench", CommitInterval: 50 * time.Millisecond, PollInterval: 5 * time.Millisecond})
	if err := q.Create(b.Context()); err != nil {
		b.Fatal(err)
	}
	c, err := q.Consumer(b.Context(), queue.ConsumerConfig{})
	if err != nil {
		b.Fatal(err)
	}
	p, err := q.Producer(b.Context(), queue.ProducerConfig{Acked: func([]queue.Ack) {}})
	if err != nil {
		b.Fatal(err)
	}
	ms := make([]queue.Message, 100)
	for i := range ms {
		ms[i] = queue.Message{Payload: make([]byte, 100), Partition: queue.AnyPartition}
	}
	run := func(n int) {
		done := make(chan error, 1)
		go func() {
			var err error
			for sent := 0; sent < n && err == nil; sent += len(ms) {
				_, err = p.Send(b.Context(), ms)
			}
			done <- err
		}()
		for got := 0; got < n; {
			ds, err := c.Receive(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			got += len(ds)
		}
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	run(200_000)
	b.ReportAllocs()
	b.ResetTimer()
	run(b.N)
}
