//go:build unix

package deltalake

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"queuebench/clock"
	"queuebench/internal/versitygw"
	"queuebench/objectstore"
	"queuebench/queue"
)

// deltaLoads are the loads of `make bench-delta`, with what is aimed at on a
// quiet machine of two cores.
var deltaLoads = []struct {
	rate     int
	T, poll  time.Duration
	p50, p99 time.Duration // 0: no growth
	seconds  int           // 0: BENCH_DELTA_SECONDS
}{
	{10_000, 100 * time.Millisecond, 5 * time.Millisecond, 65 * time.Millisecond, 120 * time.Millisecond, 0},
	{10_000, 20 * time.Millisecond, 3 * time.Millisecond, 22 * time.Millisecond, 45 * time.Millisecond, 0},
	{1_000, 10 * time.Millisecond, 2 * time.Millisecond, 16 * time.Millisecond, 35 * time.Millisecond, 0},
	{70_000, 100 * time.Millisecond, 5 * time.Millisecond, 80 * time.Millisecond, 200 * time.Millisecond, 0},
	{250_000, 100 * time.Millisecond, 5 * time.Millisecond, 0, 400 * time.Millisecond, 60},
}

func fromEnv(b *testing.B, name string, or int) int {
	text := os.Getenv(name)
	if text == "" {
		return or
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		b.Fatalf("%s=%q: it is a number of at least 1", name, text)
	}
	return n
}

// BenchmarkDelta is `make bench-delta`: 100 B messages on an open-loop schedule
// through versitygw on loopback, latency from intended to received, the first
// second left out, nothing recorded; medians of BENCH_DELTA_REPEATS (5) runs of
// BENCH_DELTA_SECONDS (10) each, and between them the same load through the
// round trips of Pathway's connectors. Request times are taken in the HTTP
// transport. It prints a table, and fails for nothing but errors.
func BenchmarkDelta(b *testing.B) {
	repeats, given := fromEnv(b, "BENCH_DELTA_REPEATS", 5), fromEnv(b, "BENCH_DELTA_SECONDS", 10)
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "msg/s\tT\tp50\taim\tp99\taim\tlast/first third\tsum\tp50/sum\tdata PUT p50/p99\tcommit PUT\tcommit GET\tdata GET\tmiss\tCPU ns/msg\tmallocs/msg\tas Pathway p50\tp99\tits p50 : ours\t")
	for _, c := range deltaLoads {
		seconds := given
		if c.seconds > 0 && os.Getenv("BENCH_DELTA_SECONDS") == "" {
			seconds = c.seconds
		}
		var ours, theirs []measured
		for range repeats {
			cfg := Config{CommitInterval: c.T, PollInterval: c.poll}
			ours = append(ours, measureLatency(b, cfg, c.rate, seconds))
			if c.p50 > 0 { // the last load is more than those round trips carry
				cfg.Design = AsPathway
				theirs = append(theirs, measureLatency(b, cfg, c.rate, seconds))
			}
		}
		m := medians(ours)
		sum := ExpectedP50(c.T, c.poll, 4, m.times())
		fmt.Fprintf(w, "%d\t%v\t%s\t%s\t%s\t%s\t%.2f\t%s\t%.2f\t", c.rate, c.T, ms(m.p50), aim(c.p50), ms(m.p99), aim(c.p99), m.growth, ms(sum), float64(m.p50)/float64(sum))
		for k := range m.requests {
			fmt.Fprintf(w, "%s/%s\t", ms(m.requests[k][0]), ms(m.requests[k][1]))
		}
		fmt.Fprintf(w, "%.0f\t%.2f\t", m.cpu, m.mallocs)
		if len(theirs) > 0 {
			t := medians(theirs)
			fmt.Fprintf(w, "%s\t%s\t%.1f\t\n", ms(t.p50), ms(t.p99), float64(t.p50)/float64(m.p50))
		} else {
			fmt.Fprintln(w, "-\t-\t-\t")
		}
	}
	w.Flush()
	fmt.Printf("medians of %d runs, times in ms; CPU and mallocs are of queue, S3 client and load together, without recording\n%s", repeats, out.String())
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/1e6) }

func aim(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return "≤ " + strconv.Itoa(int(d.Milliseconds()))
}

// kinds of requests, in the order of a message's way.
const (
	dataPut = iota
	commitPut
	commitGet
	dataGet
	missGet
	requestKinds
)

// measured is one run.
type measured struct {
	p50, p99     time.Duration
	growth       float64                        // median of the last third of the messages by that of the first
	requests     [requestKinds][2]time.Duration // p50 and p99
	cpu, mallocs float64                        // a message
}

func (m *measured) times() Times {
	return Times{DataPut: m.requests[dataPut][0], CommitPut: m.requests[commitPut][0], CommitGet: m.requests[commitGet][0], DataGet: m.requests[dataGet][0], Miss: m.requests[missGet][0]}
}

// medians are the medians of each figure.
func medians(all []measured) (m measured) {
	m.p50, m.p99 = median(all, func(m *measured) time.Duration { return m.p50 }), median(all, func(m *measured) time.Duration { return m.p99 })
	m.growth = median(all, func(m *measured) float64 { return m.growth })
	m.cpu, m.mallocs = median(all, func(m *measured) float64 { return m.cpu }), median(all, func(m *measured) float64 { return m.mallocs })
	for k := range m.requests {
		for i := range m.requests[k] {
			m.requests[k][i] = median(all, func(m *measured) time.Duration { return m.requests[k][i] })
		}
	}
	return m
}

func median[T time.Duration | float64](all []measured, of func(*measured) T) T {
	var values []T
	for i := range all {
		values = append(values, of(&all[i]))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// stopwatch takes the times of requests, from the first byte sent to the last
// received.
type stopwatch struct {
	next http.RoundTripper
	mu   sync.Mutex
	took [requestKinds][]time.Duration
}

func (s *stopwatch) RoundTrip(r *http.Request) (*http.Response, error) {
	begun := time.Now()
	resp, err := s.next.RoundTrip(r)
	if err != nil || resp.StatusCode >= 300 && resp.StatusCode != http.StatusNotFound {
		return resp, err
	}
	kind := -1
	switch version := strings.HasSuffix(r.URL.Path, ".json"); {
	case r.URL.Query().Has("list-type"):
	case r.Method == http.MethodPut && version:
		kind = commitPut
	case r.Method == http.MethodPut:
		kind = dataPut
	case r.Method == http.MethodGet && resp.StatusCode == http.StatusNotFound:
		kind = missGet
	case r.Method == http.MethodGet && version:
		kind = commitGet
	case r.Method == http.MethodGet:
		kind = dataGet
	}
	if kind >= 0 {
		resp.Body = &timedBody{ReadCloser: resp.Body, s: s, kind: kind, begun: begun}
	}
	return resp, nil
}

type timedBody struct {
	io.ReadCloser
	s     *stopwatch
	kind  int
	begun time.Time
	done  bool
}

func (b *timedBody) end() {
	if !b.done {
		b.done = true
		b.s.mu.Lock()
		b.s.took[b.kind] = append(b.s.took[b.kind], time.Since(b.begun))
		b.s.mu.Unlock()
	}
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.end()
	}
	return n, err
}

func (b *timedBody) Close() error { b.end(); return b.ReadCloser.Close() }

func measureLatency(b *testing.B, cfg Config, rate, seconds int) (m measured) {
	server := versitygw.Start(b)
	watch := &stopwatch{}
	store, err := objectstore.Open(b.Context(), server.Address("queues"), objectstore.Options{
		Credentials:   objectstore.StaticCredentials(server.AccessKey, server.SecretKey, ""),
		HTTPTransport: func(next http.RoundTripper) http.RoundTripper { watch.next = next; return watch },
	})
	if err != nil {
		b.Fatal(err)
	}
	defer objectstore.Close(store)
	clk := clock.New()
	cfg.Store, cfg.Name, cfg.Clock = store, "bench", clk
	q := open(b, cfg)
	defer q.Close()
	if err := q.Create(b.Context()); err != nil {
		b.Fatal(err)
	}
	c, err := q.Consumer(b.Context(), queue.ConsumerConfig{})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	p, err := q.Producer(b.Context(), queue.ProducerConfig{})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	n := rate * seconds
	latencies := make([]int64, 0, n)
	mallocs, used := mallocsSoFar(), cpu(b)
	start := clk.Now() + int64(100*time.Millisecond)
	done := make(chan error, 1)
	go func() { done <- openLoop(b, p, clk, start, n, rate) }()
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
	m.cpu = float64(cpu(b)-used) / float64(n)
	m.mallocs = float64(mallocsSoFar()-mallocs) / float64(n)
	if len(latencies) < 3 {
		b.Fatal("a run lasts at least two seconds: raise BENCH_DELTA_SECONDS")
	}
	third := len(latencies) / 3
	m.growth = float64(quantile(slices.Clone(latencies[len(latencies)-third:]), 0.5)) / float64(quantile(slices.Clone(latencies[:third]), 0.5))
	m.p50, m.p99 = time.Duration(quantile(latencies, 0.5)), time.Duration(quantile(latencies, 0.99))
	watch.mu.Lock()
	defer watch.mu.Unlock()
	for k, took := range watch.took {
		if len(took) > 0 {
			m.requests[k] = [2]time.Duration{quantile(took, 0.5), quantile(took, 0.99)}
		}
	}
	return m
}

// openLoop sends each message when it is due, with its due time in it.
func openLoop(b *testing.B, p queue.Producer, clk *clock.Clock, start int64, n, rate int) error {
	payloads := make([]byte, 100*4096)
	var batch []queue.Message
	for i := 0; i < n; {
		now := clk.Now()
		batch = batch[:0]
		for ; i < n && len(batch) < 4096; i++ {
			due := start + int64(i)*int64(time.Second)/int64(rate)
			if due > now {
				break
			}
			payload := payloads[100*len(batch):][:100]
			binary.LittleEndian.PutUint64(payload, uint64(due))
			batch = append(batch, queue.Message{Payload: payload, Partition: queue.AnyPartition})
		}
		if len(batch) == 0 {
			time.Sleep(time.Millisecond)
			continue
		}
		if _, err := p.Send(b.Context(), batch); err != nil {
			return err
		}
	}
	return p.Flush(b.Context())
}

// quantile is the nearest rank ⌈q·n⌉. It sorts.
func quantile[T int64 | time.Duration](values []T, q float64) T {
	slices.Sort(values)
	rank := int(q*float64(len(values)) + 0.999999)
	return values[min(max(rank, 1), len(values))-1]
}

func mallocsSoFar() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// cpu is the processor time of this process, which is not the server's.
func cpu(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
