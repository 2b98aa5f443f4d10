package logwriter

import (
	"context"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"queuebench/clock"
	"queuebench/rawlog"
)

// The load of these benchmarks: a constant schedule of 10,000 messages a
// second from one producer, sent in batches of those that fell due within
// 100 µs, commits of 100 ms.
const benchRows = 1 << 18

func benchSent() []rawlog.SentRow {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]rawlog.SentRow, benchRows)
	sent, acked := int64(0), int64(0)
	for i := range rows {
		intended := int64(1.7e18) + int64(i)*100_000
		if intended > sent {
			sent = intended + rng.Int64N(20_000)
		}
		if i%1000 == 0 {
			acked = intended + 100_000_000 + rng.Int64N(9_000_000)
		}
		rows[i] = rawlog.SentRow{Seq: int64(i), IntendedNs: intended, SentNs: sent, AckedNs: acked, Status: rawlog.Acked, Partition: 0, Offset: int64(i / 1000)}
	}
	return rows
}

func benchReceived() []rawlog.ReceivedRow {
	rng := rand.New(rand.NewPCG(1, 3))
	rows := make([]rawlog.ReceivedRow, benchRows)
	received := int64(0)
	for i := range rows {
		if i%1000 == 0 {
			received = int64(1.7e18) + int64(i)*100_000 + 110_000_000 + rng.Int64N(9_000_000)
		}
		rows[i] = rawlog.ReceivedRow{Group: "g", Seq: int64(i), ReceivedNs: received, Partition: 0, Offset: int64(i / 1000)}
	}
	return rows
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
func BenchmarkRecordSent(b *testing.B) {
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

// cpuTime is what the process has used so far. Unlike the clock it holds on a
// machine that is shared.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchEncode measures rows to a stored part, once the memory is there.
func benchEncode[T any](b *testing.B, rows []T, open func(*Log) *Writer[T]) {
	l := benchLog(b)
	w := open(l)
	for i := range rows {
		w.Append(rows[i])
	}
	before, cpu := l.Stats(), cpuTime()
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
	n := float64(s.Rows - before.Rows)
	b.ReportMetric(float64(cpuTime()-cpu)/n, "cpu-ns/row") // appending and storing too
	b.ReportMetric(float64(s.EncodeNs-before.EncodeNs)/n, "encode-ns/row")
	b.ReportMetric(float64(s.Bytes)/float64(s.Rows), "bytes/row")
}

func BenchmarkEncodeSent(b *testing.B) {
	benchEncode(b, benchSent(), func(l *Log) *SentWriter { return l.Sent(0, 0, "producer-0") })
}

func BenchmarkEncodeReceived(b *testing.B) {
	benchEncode(b, benchReceived(), func(l *Log) *ReceivedWriter { return l.Received(0, 0, "consumer-0") })
}

// benchRowGroups measures the encoder alone: rows to row groups of a file, in
// one goroutine.
func benchRowGroups[T any](b *testing.B, rows []T, l layout[T]) {
	z, err := newCompressor()
	if err != nil {
		b.Fatal(err)
	}
	w := newPartWriter(l.table, z)
	var file counter
	cpu := cpuTime()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		w.start(&file)
		for from := 0; from < len(rows); from += l.groupRows {
			group := rows[from : from+l.groupRows]
			for at := 0; at < len(group); at += batchRows {
				for _, c := range l.columns {
					c.take(group[at : at+batchRows])
				}
			}
			if err := writeGroup(w, l.columns, len(group), false); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.finish("{}"); err != nil {
			b.Fatal(err)
		}
		n += len(rows)
	}
	b.ReportMetric(float64(cpuTime()-cpu)/float64(n), "cpu-ns/row")
	b.ReportMetric(float64(file)/float64(n), "bytes/row")
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func BenchmarkRowGroupsSent(b *testing.B)     { benchRowGroups(b, benchSent(), sentLayout()) }
func BenchmarkRowGroupsReceived(b *testing.B) { benchRowGroups(b, benchReceived(), receivedLayout()) }
