package kafka

import (
	"fmt"
	"testing"

	"queuebench/queue"
)

// BenchmarkMessage is a message through the client and the fake broker in this
// process, whose own work is a part of it. Its allocations are those of both,
// too: see BenchmarkProduce for those of a producer alone.
func BenchmarkMessage(b *testing.B) {
	for _, size := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			q := created(b, config(cluster(b)))
			c, err := q.Consumer(b.Context(), queue.ConsumerConfig{Group: "g"})
			if err != nil {
				b.Fatal(err)
			}
			p := produce(b, q)
			batch := make([]queue.Message, size)
			for i := range batch {
				batch[i] = queue.Message{Payload: make([]byte, 100), Partition: queue.AnyPartition}
			}
			b.ReportAllocs()
			b.ResetTimer()
			done := make(chan error, 1)
			go func() {
				for sent := 0; sent < b.N; sent += size {
					if _, err := p.Send(b.Context(), batch); err != nil {
						done <- err
						return
					}
				}
				done <- p.Flush(b.Context())
			}()
			for got := 0; got < b.N; {
				ds, err := c.Receive(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				got += len(ds)
			}
			if err := <-done; err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
		})
	}
}
