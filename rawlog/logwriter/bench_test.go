package logwriter

import (
	"context"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"queuebench/clock"
	"queuebench/internal/cputimetest"
	"queuebench/rawlog"
)

const benchRows = 1 << 18

// workload is what two tables record of a load.
type workload struct {
	name     string
	sent     []rawlog.SentRow
	received []rawlog.ReceivedRow
}

// loadShape is how a workload comes about.
type loadShape struct {
	rate    float64       // messages a second
	poisson bool          // arrivals; else a constant schedule
	wake    time.Duration // what fell due within it is sent together, some µs late
	commit  time.Duration // commits; 0 for a queue that takes and gives what is there
}

// make makes the rows: due times by the shape's arrivals; a batch is acked and
// received once it is committed, or, without commits, some 10 µs after it was
// sent.
func (l loadShape) make(name string) workload {
	rng := rand.New(rand.NewPCG(1, 2))
	w := workload{name, make([]rawlog.SentRow, benchRows), make([]rawlog.ReceivedRow, benchRows)}
	const start = int64(1.7e18)
	due := float64(0)
	var sent, commit, acked, received, offset int64
	for i := range benchRows {
		intended := start + int64(float64(i)*1e9/l.rate)
		if l.poisson {
			due += rng.ExpFloat64() * 1e9 / l.rate
			intended = start + int64(due)
		}
		woken := intended > sent
		if woken { // by the first that falls due
			sent = intended + int64(l.wake) + rng.Int64N(5_000)
		}
		switch {
		case l.commit > 0:
			if c := intended / int64(l.commit); c != commit {
				commit = c
				offset++
				acked = (c+1)*int64(l.commit) + 3_000_000 + rng.Int64N(6_000_000)
				received = acked + 2_000_000 + rng.Int64N(6_000_000)
			}
		case woken:
			acked = sent + 5_000 + rng.Int64N(3_000)
			received = acked + rng.Int64N(10_000)
		}
		position := offset
		if l.commit == 0 {
			position = int64(i)
		}
		w.sent[i] = rawlog.SentRow{Seq: int64(i), IntendedNs: intended, SentNs: sent, AckedNs: acked, Status: rawlog.Acked, Offset: position}
		w.received[i] = rawlog.ReceivedRow{Group: "g", Seq: int64(i), ReceivedNs: received, Offset: position}
	}
	return w
}

// workloads are a constant schedule and Poisson arrivals, through a Delta table
// with commits of 100 ms and through a queue in memory.
func workloads() []workload {
	const ms, us = time.Millisecond, time.Microsecond
	return []workload{
		loadShape{rate: 10_000, commit: 100 * ms}.make("constant-10k-commits"),
		loadShape{rate: 1_000_000, wake: 20 * us, commit: 100 * ms}.make("constant-1M-commits"),
		loadShape{rate: 10_000}.make("constant-10k-memory"),
		loadShape{rate: 1_000_000, wake: 20 * us}.make("constant-1M-memory"),
		loadShape{rate: 10_000, poisson: true, commit: 100 * ms}.make("poisson-10k-commits"),
		loadShape{rate: 100_000, poisson: true, wake: 5 * us, commit: 100 * ms}.make("poisson-100k-commits"),
		loadShape{rate: 10_000, poisson: true}.make("poisson-10k-memory"),
		loadShape{rate: 100_000, poisson: true, wake: 5 * us}.make("poisson-100k-memory"),
	}
}

func benchLog(b *testing.B) *Log {
	store := newMemoryStore()
	l, err := New(Options{Store: store, Run: "run", Clock: clock.Identity{Host: "h"}, SpoolDir: b.TempDir() + "/spool", PartAge: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if _, err := l.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return l
}

// paced calls record with up to batch rows at a time, n in all, at a pace that
// the encoder keeps up with: it waits, with the clock stopped, at the end of
// each chunk.
func paced[T any](b *testing.B, w *Writer[T], batch int, record func(from, n int)) {
	for i := 0; i < 4*largeChunk; i += batch { // makes the first chunks
		record(i, batch)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i += batch {
		if i%largeChunk == 0 {
			b.StopTimer()
			for len(w.free) == 0 {
				time.Sleep(100 * time.Microsecond)
			}
			b.StartTimer()
		}
		record(i, min(batch, b.N-i))
	}
	b.StopTimer()
}

// What the sender and the receiver pay for a row, by Append and by Reserve.
func BenchmarkRecord(b *testing.B) {
	row := func(i int) rawlog.SentRow {
		n := int64(i)
		return rawlog.SentRow{Producer: 1, Seq: n, IntendedNs: 1e18 + n*100_000, SentNs: 1e18 + n*100_003, AckedNs: 1e18 + n&^1023, Status: rawlog.Acked, Partition: 0, Offset: n >> 10}
	}
	b.Run("append", func(b *testing.B) {
		w := benchLog(b).Sent(0, 0, "producer-0")
		paced(b, w, 1, func(from, _ int) { w.Append(row(from)) })
	})
	b.Run("reserve", func(b *testing.B) {
		w := benchLog(b).Sent(0, 0, "producer-0")
		paced(b, w, 64, func(from, n int) {
			for to := from + n; from < to; {
				room := w.Reserve(to - from)
				for i := range room {
					room[i] = row(from + i)
				}
				w.Publish(len(room))
				from += len(room)
			}
		})
	})
}

// benchEncode measures rows to a stored part, once the memory is there: appending
// and storing too.
func benchEncode[T any](b *testing.B, rows []T, open func(*Log) *Writer[T]) (bytesPerRow float64) {
	l := benchLog(b)
	w := open(l)
	for i := range rows {
		w.Append(rows[i])
	}
	before, cpu := l.Stats(), cputimetest.Used(b)
	for b.Loop() {
		for i := range rows {
			w.Append(rows[i])
		}
	}
	w.Close()
	if _, err := l.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	s := l.Stats()
	b.ReportMetric(float64(cputimetest.Used(b)-cpu)/float64(s.Rows-before.Rows), "cpu-ns/row")
	b.ReportMetric(float64(s.Bytes)/float64(s.Rows), "bytes/row")
	return float64(s.Bytes) / float64(s.Rows)
}

// BenchmarkEncode is the cost of a row in each table.
func BenchmarkEncode(b *testing.B) {
	for _, load := range workloads() {
		b.Run(load.name+"/sent", func(b *testing.B) {
			benchEncode(b, load.sent, func(l *Log) *SentWriter { return l.Sent(0, 0, "producer-0") })
		})
		b.Run(load.name+"/received", func(b *testing.B) {
			benchEncode(b, load.received, func(l *Log) *ReceivedWriter { return l.Received(0, 0, "consumer-0") })
		})
	}
}

// BenchmarkRowGroups is the encoder alone, rows to the row groups of a file, in
// one goroutine.
func BenchmarkRowGroups(b *testing.B) {
	for _, load := range workloads() {
		b.Run(load.name+"/sent", func(b *testing.B) { benchRowGroups(b, load.sent, sentLayout()) })
		b.Run(load.name+"/received", func(b *testing.B) { benchRowGroups(b, load.received, receivedLayout()) })
	}
}

func benchRowGroups[T any](b *testing.B, rows []T, l layout[T]) {
	f := newFileOf(b, l)
	f.write(b, io.Discard, rows)
	cpu := cputimetest.Used(b)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		f.write(b, io.Discard, rows)
		n += len(rows)
	}
	b.ReportMetric(float64(cputimetest.Used(b)-cpu)/float64(n), "cpu-ns/row")
}

// fileOf writes rows as files, without a log around them.
type fileOf[T any] struct {
	layout layout[T]
	w      *partWriter
}

func newFileOf[T any](t testing.TB, l layout[T]) fileOf[T] {
	z, err := newCompressor()
	if err != nil {
		t.Fatal(err)
	}
	return fileOf[T]{l, newPartWriter(l.table, z)}
}

func (f fileOf[T]) write(t testing.TB, out io.Writer, rows []T) {
	f.w.start(out)
	for group := range slices.Chunk(rows, f.layout.groupRows) {
		for batch := range slices.Chunk(group, batchRows) {
			for _, c := range f.layout.columns {
				c.take(batch)
			}
		}
		if err := writeGroup(f.w, f.layout.columns, len(group), false); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.w.finish("{}"); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkBytes is what a message takes over both tables.
func BenchmarkBytes(b *testing.B) {
	for _, load := range workloads() {
		b.Run(load.name, func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(bytesPerMessage(b, load), "bytes/message")
			}
		})
	}
}

func bytesPerMessage(t testing.TB, load workload) float64 {
	var file counter
	newFileOf(t, sentLayout()).write(t, &file, load.sent)
	newFileOf(t, receivedLayout()).write(t, &file, load.received)
	return float64(file) / benchRows
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// What a message may take over both tables, bytes: the log of a long run is
// mostly this.
func TestBytesPerMessage(t *testing.T) {
	limits := map[string]float64{
		"constant-10k-commits": 4, "constant-1M-commits": 4, "constant-1M-memory": 4,
		"poisson-10k-commits": 6, "poisson-100k-commits": 6,
	}
	for _, load := range workloads() {
		got := bytesPerMessage(t, load)
		t.Logf("%s: %.2f bytes a message", load.name, got)
		if limit, ok := limits[load.name]; ok && got > limit {
			t.Errorf("%s: %.2f bytes a message, want at most %.0f", load.name, got, limit)
		}
	}
}
