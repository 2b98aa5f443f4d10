//go:build unix

package deltalake

import (
	"encoding/binary"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"queuebench/clock"
	"queuebench/queue"
)

// BenchmarkLatency is a hint, not a result: 100 B messages on an open-loop
// schedule through versitygw on loopback for 10 s, latency from intended to
// received, the first second left out. Beside it stands the sum of docs/delta.md
// of the request times that were measured in the same run. Run it with
// -benchtime 1x.
func BenchmarkLatency(b *testing.B) {
	for _, c := range []struct {
		rate int
		T    time.Duration
		poll time.Duration
	}{
		{10_000, 100 * time.Millisecond, 5 * time.Millisecond},
		{10_000, 20 * time.Millisecond, 3 * time.Millisecond},
		{1_000, 10 * time.Millisecond, 2 * time.Millisecond},
		{70_000, 100 * time.Millisecond, 5 * time.Millisecond},
	} {
		b.Run(fmt.Sprintf("rate=%d/T=%v", c.rate, c.T), func(b *testing.B) {
			for range b.N {
				measureLatency(b, c.rate, c.T, c.poll)
			}
		})
	}
}

func measureLatency(b *testing.B, rate int, T, poll time.Duration) {
	const seconds = 10
	clk := clock.New()
	q := open(b, Config{Store: openS3(b), Name: "bench", CommitInterval: T, PollInterval: poll, Clock: clk})
	if err := q.Create(b.Context()); err != nil {
		b.Fatal(err)
	}
	stages := map[queue.Stage][]time.Duration{}
	trace := func(tr queue.Trace) {
		for s, has := range tr.Has {
			if has {
				stages[queue.Stage(s)] = append(stages[queue.Stage(s)], tr.Took[s])
			}
		}
	}
	var consumed []queue.Trace
	c, err := q.Consumer(b.Context(), queue.ConsumerConfig{Trace: func(tr queue.Trace) { consumed = append(consumed, tr) }})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	p, err := q.Producer(b.Context(), queue.ProducerConfig{Trace: trace})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	n := rate * seconds
	used := cpu(b)
	start := clk.Now() + int64(100*time.Millisecond)
	done := make(chan error, 1)
	go func() {
		payloads := make([]byte, 100*4096)
		var ms []queue.Message
		for i := 0; i < n; {
			now := clk.Now()
			ms = ms[:0]
			for ; i < n && len(ms) < 4096; i++ {
				due := start + int64(i)*int64(time.Second)/int64(rate)
				if due > now {
					break
				}
				payload := payloads[100*len(ms):][:100]
				binary.LittleEndian.PutUint64(payload, uint64(due))
				ms = append(ms, queue.Message{Payload: payload, Partition: queue.AnyPartition})
			}
			if len(ms) == 0 {
				time.Sleep(time.Millisecond)
				continue
			}
			if _, err := p.Send(b.Context(), ms); err != nil {
				done <- err
				return
			}
		}
		done <- p.Flush(b.Context())
	}()
	latencies := make([]int64, 0, n)
	for got := 0; got < n; {
		ds, err := c.Receive(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		now := clk.Now()
		for i := range ds {
			due := int64(binary.LittleEndian.Uint64(ds[i].Payload))
			if due-start > int64(time.Second) {
				latencies = append(latencies, now-due)
			}
		}
		got += len(ds)
	}
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(cpu(b)-used)/float64(n), "cpu-ns/msg") // with the load's own
	for _, tr := range consumed {
		trace(tr)
	}
	slices.Sort(latencies)
	ms := func(ns int64) float64 { return float64(ns) / 1e6 }
	b.ReportMetric(ms(latencies[len(latencies)/2]), "p50-ms")
	b.ReportMetric(ms(latencies[len(latencies)*99/100]), "p99-ms")
	median := func(s queue.Stage) time.Duration { slices.Sort(stages[s]); return stages[s][len(stages[s])/2] }
	sum := T/2 + median(queue.StageDataPut) + median(queue.StageCommitPut) + (poll+median(queue.StageCommitGet))/2 + median(queue.StageCommitGet) + median(queue.StageDataGet)
	b.ReportMetric(ms(int64(sum)), "sum-ms")
	for _, s := range []queue.Stage{queue.StageDataPut, queue.StageCommitPut, queue.StageCommitGet, queue.StageDataGet} {
		b.ReportMetric(ms(int64(median(s))), s.String()+"-ms")
	}
	r := q.cfg.Store.Requests()
	b.ReportMetric(float64(r.Miss)/float64(max(1, len(consumed))), "misses/commit")
}

// cpu is the processor time of this process, which is not the server's.
func cpu(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
