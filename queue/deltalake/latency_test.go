//go:build unix

package deltalake

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"queuebench/clock"
	"queuebench/internal/cputimetest"
	"queuebench/internal/versitygw"
	"queuebench/objectstore"
	"queuebench/queue"
	"queuebench/stats"
)

// deltaLoad is a load, and what is aimed at.
type deltaLoad struct {
	rate     int
	T, poll  time.Duration
	p50, p99 time.Duration // p50 0: no growth
	seconds  int           // 0: BENCH_DELTA_SECONDS
}

// deltaLoads are the loads of `make bench-delta`, with what is aimed at on a
// quiet machine of two cores.
var deltaLoads = []deltaLoad{
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
	if err != nil || n < 0 || n == 0 && name != "BENCH_DELTA_PATHWAY" {
		b.Fatalf("%s=%q: it is a number of at least 1", name, text)
	}
	return n
}

// BenchmarkDelta is `make bench-delta`: 100 B messages on an open-loop schedule
// through versitygw on loopback, latency from intended to received, the first
// second left out, nothing recorded; medians of BENCH_DELTA_REPEATS (5) runs of
// BENCH_DELTA_SECONDS (8) each, and between them, BENCH_DELTA_PATHWAY (3) times,
// the same load through the round trips of Pathway's connectors. The last load
// runs once, for 60 s. BENCH_DELTA_ROWS ("1,4") takes some of the loads, counted
// from 1. Request times are taken in the HTTP transport. It prints tables, and
// fails for nothing but errors.
func BenchmarkDelta(b *testing.B) {
	var rows []deltaRow
	for k, c := range deltaLoads {
		if rowWanted(b, k+1) {
			rows = append(rows, measureRow(b, c))
		}
	}
	printRows(rows)
}

// rowWanted says whether BENCH_DELTA_ROWS has a load.
func rowWanted(b *testing.B, number int) bool {
	text := os.Getenv("BENCH_DELTA_ROWS")
	for item := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(item)
		if text != "" && (err != nil || n < 1 || n > len(deltaLoads)) {
			b.Fatalf("BENCH_DELTA_ROWS=%q: it is numbers from 1 to %d, as 1,4", text, len(deltaLoads))
		}
		if text == "" || n == number {
			return true
		}
	}
	return false
}

// deltaRow is a load and the medians of its runs.
type deltaRow struct {
	deltaLoad
	ours, theirs measured
	runs         int
	compared     bool
	load         float64 // processor time of the load alone, ns a message
}

func measureRow(b *testing.B, c deltaLoad) deltaRow {
	repeats, seconds, compare := fromEnv(b, "BENCH_DELTA_REPEATS", 5), fromEnv(b, "BENCH_DELTA_SECONDS", 8), fromEnv(b, "BENCH_DELTA_PATHWAY", 3)
	if c.p50 == 0 { // the load for growth, which is more than Pathway's round trips carry
		repeats, compare = 1, 0
		if os.Getenv("BENCH_DELTA_SECONDS") == "" {
			seconds = c.seconds
		}
	}
	row := deltaRow{deltaLoad: c, runs: repeats, compared: compare > 0, load: loadAlone(b, c.rate)}
	var ours, theirs []measured
	for k := range max(repeats, compare) {
		cfg := Config{CommitInterval: c.T, PollInterval: c.poll}
		if k < repeats {
			ours = append(ours, measureLatency(b, cfg, c.rate, seconds))
		}
		if k < compare {
			cfg.Design = AsPathway
			theirs = append(theirs, measureLatency(b, cfg, c.rate, seconds))
		}
	}
	row.ours = medians(ours)
	if row.compared {
		row.theirs = medians(theirs)
	}
	return row
}

func printRows(rows []deltaRow) {
	table := func(head string, line func(r *deltaRow) string) {
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(w, "msg/s\tT\t%s\t\n", head)
		for i := range rows {
			fmt.Fprintf(w, "%d\t%v\t%s\t\n", rows[i].rate, rows[i].T, line(&rows[i]))
		}
		w.Flush()
		fmt.Println()
	}
	fmt.Printf("\nLatency end to end, ms. The sum is Teff/2 + Pd + Pc + (δ+g)/2 + Gc + Gd of the medians below; A is the preset pathway.\n")
	table("runs\tp50\taim\tp99\taim\tsum\tp50 : sum\tgrowth\tA p50\tA p99\tA p50 : p50", func(r *deltaRow) string {
		m := &r.ours
		sum := ExpectedP50(r.T, r.poll, 4, m.times())
		line := fmt.Sprintf("%d\t%s\t%s\t%s\t%s\t%s\t%.2f\t%s\t", r.runs, ms(m.p50), aim(r.p50), ms(m.p99), aim(r.p99), ms(sum), float64(m.p50)/float64(sum), m.verdict)
		if !r.compared {
			return line + "-\t-\t-"
		}
		return line + fmt.Sprintf("%s\t%s\t%.1f", ms(r.theirs.p50), ms(r.theirs.p99), float64(r.theirs.p50)/float64(m.p50))
	})
	fmt.Printf("Requests, ms from the first byte sent to the last received, p50/p99; dollars are those of %s.\n", objectstore.Standard.Name)
	table("δ\tdata PUT\tcommit PUT\tcommit GET\tdata GET\tmiss\tmisses a commit\trequests a million\t$ a million\tA $ a million", func(r *deltaRow) string {
		var line strings.Builder
		fmt.Fprintf(&line, "%v\t", r.poll)
		for _, k := range r.ours.requests {
			fmt.Fprintf(&line, "%s/%s\t", ms(k[0]), ms(k[1]))
		}
		fmt.Fprintf(&line, "%.1f\t%.0f\t%.4f\t", r.ours.misses, r.ours.sent, r.ours.dollars)
		if r.compared {
			fmt.Fprintf(&line, "%.4f", r.theirs.dollars)
		} else {
			line.WriteByte('-')
		}
		return line.String()
	})
	fmt.Println("Processor time of this process a message, ns: all, the load alone (into a queue that does nothing), and what is left for queue and S3 client.")
	table("all\tload\tqueue and client\tmallocs", func(r *deltaRow) string {
		return fmt.Sprintf("%.0f\t%.0f\t%.0f\t%.3f", r.ours.cpu, r.load, r.ours.cpu-r.load, r.ours.mallocs)
	})
}

// never is the latency of a message that did not come in time.
const never = time.Duration(math.MaxInt64)

func ms(d time.Duration) string {
	if d == never {
		return "> deadline"
	}
	return fmt.Sprintf("%.1f", float64(d)/1e6)
}

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
	verdict      string                         // of the growth of the medians of seconds
	misses       float64                        // a commit
	sent         float64                        // requests, a million messages
	dollars      float64                        // a million messages
	requests     [requestKinds][2]time.Duration // p50 and p99
	cpu, mallocs float64                        // a message
}

func (m *measured) times() Times {
	return Times{DataPut: m.requests[dataPut][0], CommitPut: m.requests[commitPut][0], CommitGet: m.requests[commitGet][0], DataGet: m.requests[dataGet][0], Miss: m.requests[missGet][0]}
}

// medians are the medians of each figure.
func medians(all []measured) (m measured) {
	m.p50, m.p99 = median(all, func(m *measured) time.Duration { return m.p50 }), median(all, func(m *measured) time.Duration { return m.p99 })
	m.verdict = all[0].verdict
	for i := range all {
		if all[i].verdict != m.verdict {
			m.verdict = "differs by run"
		}
	}
	m.misses, m.sent, m.dollars = median(all, func(m *measured) float64 { return m.misses }), median(all, func(m *measured) float64 { return m.sent }), median(all, func(m *measured) float64 { return m.dollars })
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
	latencies := make([]time.Duration, 0, n)
	perSecond := make([]int, seconds) // how many of them were due by its end
	mallocs, used, requests := mallocsSoFar(), cputimetest.Used(b), store.Requests()
	start := clk.Now() + int64(100*time.Millisecond)
	// Who does not keep up is not waited for without end.
	ctx, cancel := context.WithTimeout(b.Context(), time.Duration(3*seconds)*time.Second+10*time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- openLoop(ctx, p, clk, start, n, rate) }()
	for got := 0; got < n; {
		ds, err := c.Receive(ctx)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
		now := clk.Now()
		for i := range ds {
			due := int64(binary.LittleEndian.Uint64(ds[i].Payload))
			if due-start > int64(time.Second) {
				latencies = append(latencies, time.Duration(now-due))
				perSecond[min((due-start)/int64(time.Second), int64(seconds)-1)] = len(latencies)
			}
		}
		got += len(ds)
	}
	if err := <-done; err != nil && ctx.Err() == nil {
		b.Fatal(err)
	}
	counts := store.Requests().Minus(requests)
	m.sent = float64(counts.Total()) / float64(n) * 1e6
	m.dollars = objectstore.Standard.Of(counts) / float64(n) * 1e6
	m.misses = float64(counts.Miss) / float64(max(1, counts.PutIfAbsent))
	m.cpu = float64(cputimetest.Used(b)-used) / float64(n)
	m.mallocs = float64(mallocsSoFar()-mallocs) / float64(n)
	if seconds < 2 {
		b.Fatal("a run lasts at least two seconds: raise BENCH_DELTA_SECONDS")
	}
	m.verdict = growthOf(latencies, perSecond)
	for len(latencies) < n-rate-1 {
		latencies = append(latencies, never)
	}
	m.p50, m.p99 = quantile(latencies, 0.5), quantile(latencies, 0.99)
	watch.mu.Lock()
	defer watch.mu.Unlock()
	for k, took := range watch.took {
		if len(took) > 0 {
			m.requests[k] = [2]time.Duration{quantile(took, 0.5), quantile(took, 0.99)}
		}
	}
	return m
}

// growthOf judges the medians of seconds, of which the first was left out.
func growthOf(latencies []time.Duration, perSecond []int) string {
	var seconds []float64
	for k, from := 1, 0; k < len(perSecond); k++ {
		if to := perSecond[k]; to > from {
			seconds = append(seconds, float64(quantile(slices.Clone(latencies[from:to]), 0.5)))
			from = to
		} else {
			seconds = append(seconds, math.NaN())
		}
	}
	switch v := stats.Growth(seconds); {
	case v.TooShort:
		return "too short to tell"
	case v.Growing:
		return fmt.Sprintf("grows by %.1f ms a minute (z %.1f)", v.Slope*60/1e6, v.Z)
	default:
		return fmt.Sprintf("none (z %.1f over %d s)", v.Z, v.N)
	}
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
