package memory

import (
	"fmt"
	"testing"
	"time"

	"queuebench/queue"
)

// BenchmarkThroughput counts a message sent and received as one operation.
func BenchmarkThroughput(b *testing.B) {
	for _, size := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			q := open(b, Config{})
			c, _ := q.Consumer(b.Context(), queue.ConsumerConfig{Group: "g"})
			p, _ := q.Producer(b.Context(), queue.ProducerConfig{Acked: func([]queue.Ack) {}})
			batch := make([]queue.Message, size)
			for i := range batch {
				batch[i] = queue.Message{Payload: make([]byte, 100), Partition: queue.AnyPartition}
			}
			run := func(n int) {
				done := make(chan error, 1)
				go func() {
					for sent := 0; sent < n; sent += size {
						if _, err := p.Send(b.Context(), batch); err != nil {
							done <- err
							return
						}
					}
					done <- nil
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
			run(1 << 18) // warm
			b.ReportAllocs()
			b.ResetTimer()
			run(b.N)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
		})
	}
}

// BenchmarkPaced is a message each microsecond, as the runner sends them at
// 1,000,000 a second: what counts is how often the consumer is woken, since
// each time costs the producer some microseconds.
func BenchmarkPaced(b *testing.B) {
	q := open(b, Config{})
	c, _ := q.Consumer(b.Context(), queue.ConsumerConfig{Group: "g"})
	p, _ := q.Producer(b.Context(), queue.ProducerConfig{Acked: func([]queue.Ack) {}})
	batch := make([]queue.Message, 4096)
	for i := range batch {
		batch[i] = queue.Message{Payload: make([]byte, 100), Partition: queue.AnyPartition}
	}
	done := make(chan error, 1)
	b.ResetTimer()
	go func() {
		start := time.Now()
		for sent := 0; sent < b.N; {
			due := min(int(time.Since(start)/time.Microsecond), b.N) - sent
			if due == 0 {
				continue
			}
			n, err := p.Send(b.Context(), batch[:min(due, len(batch))])
			if err != nil {
				done <- err
				return
			}
			sent += n
		}
		done <- nil
	}()
	received := 0
	for got := 0; got < b.N; received++ {
		ds, err := c.Receive(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		got += len(ds)
	}
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/float64(received), "msg/receive")
}
