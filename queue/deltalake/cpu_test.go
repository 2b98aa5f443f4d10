//go:build unix

package deltalake

import (
	"runtime"
	"testing"
	"time"

	"queuebench/internal/cputimetest"
	"queuebench/objectstore"
	"queuebench/queue"
)

// BenchmarkCPU is the processor time and the allocations of a message of 100 B,
// of producer and consumer together: from Send to Receive, in commits of 7,000,
// which is 70,000/s at T = 100 ms, one after the other as fast as they go. There
// is no recording; the load is a Send of a ready slice of 700. In memory the
// store costs a copy, in a folder it costs the system calls, over S3 the client
// too (versitygw is another process). It is not paced: where a wake-up costs
// 150 µs of processor time, as on a shared virtual machine, 700 messages every
// 10 ms measure the wake-ups of the load. Run it with -benchtime 1000000x.
func BenchmarkCPU(b *testing.B) {
	for _, c := range []struct {
		name  string
		store func(testing.TB) objectstore.Store
		cfg   Config
	}{
		{"memory", func(testing.TB) objectstore.Store { return newMemStore() }, Config{}},
		{"memory/pathway", func(testing.TB) objectstore.Store { return newMemStore() }, Config{Schema: Pathway}},
		{"memory/snappy", func(testing.TB) objectstore.Store { return newMemStore() }, Config{Codec: Snappy}},
		{"folder", folder, Config{}},
		{"s3", openS3, Config{}},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.cfg.Store, c.cfg.CommitInterval, c.cfg.PollInterval, c.cfg.BatchMessages, c.cfg.MaxPending = c.store(b), 100*time.Millisecond, 5*time.Millisecond, 7000, 4<<20
			q := open(b, c.cfg)
			if err := q.Create(b.Context()); err != nil {
				b.Fatal(err)
			}
			measureCPU(b, q)
		})
	}
}

func measureCPU(b *testing.B, q *Queue) {
	c, err := q.Consumer(b.Context(), queue.ConsumerConfig{})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	p, err := q.Producer(b.Context(), queue.ProducerConfig{Acked: func([]queue.Ack) {}})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	ms := make([]queue.Message, 700)
	for i := range ms {
		ms[i] = queue.Message{Payload: make([]byte, 100), Partition: queue.AnyPartition}
	}
	run := func(commits int) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 10 * commits {
				if _, err := p.Send(b.Context(), ms); err != nil {
					b.Error(err)
					return
				}
			}
		}()
		for got := 0; got < 7000*commits; {
			ds, err := c.Receive(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			got += len(ds)
		}
		<-done
	}
	run(100) // what grows at first has grown
	runtime.GC()
	commits := max(1, b.N/7000)
	total := float64(7000 * commits)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	used := cputimetest.Used(b)
	run(commits)
	used = cputimetest.Used(b) - used
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(used)/total, "cpu-ns/msg")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/total, "mallocs/msg")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/total, "B/msg")
	b.ReportMetric(0, "ns/op")
}
