package logwriter

import (
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
	return l
}

// benchAppend measures what the sender pays for, at a pace that the encoder
// keeps up with.
func benchAppend[T any](b *testing.B, rows []T, open func(*Log) *Writer[T]) {
	l := benchLog(b)
	w := open(l)
	for i := range largeChunk * 4 { // makes the first chunks
		w.Append(rows[i])
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if i%largeChunk == 0 {
			b.StopTimer()
			for len(w.free) == 0 {
				time.Sleep(100 * time.Microsecond)
			}
			b.StartTimer()
		}
		w.Append(rows[i%benchRows])
	}
	b.StopTimer()
	w.Close()
	if _, err := l.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkAppendSent(b *testing.B) {
	benchAppend(b, benchSent(), func(l *Log) *SentWriter { return l.Sent(0, 0, "producer-0") })
}

func BenchmarkAppendReceived(b *testing.B) {
	benchAppend(b, benchReceived(), func(l *Log) *ReceivedWriter { return l.Received(0, 0, "consumer-0") })
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
