package rawlog_test

import (
	"math/rand/v2"
	"testing"

	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
)

// benchPart is half a million rows of a constant schedule of 10,000 messages a
// second, as a part of the table sent.
func benchPart(b *testing.B) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]rawlog.SentRow, 1<<19)
	sent, acked := int64(0), int64(0)
	for i := range rows {
		intended := int64(1.7e18) + int64(i)*100_000
		sent = max(sent, intended+rng.Int64N(20_000))
		if i%1000 == 0 {
			acked = intended + 100_000_000 + rng.Int64N(9_000_000)
		}
		rows[i] = rawlog.SentRow{Seq: int64(i), IntendedNs: intended, SentNs: sent, AckedNs: acked, Status: rawlog.Acked, Offset: int64(i / 1000)}
	}
	parts := writeParts(b, rows, 0, func(l *logwriter.Log) *logwriter.SentWriter { return l.Sent(0, 0, "producer-0") })
	b.ResetTimer()
	return parts[0]
}

func benchRead(b *testing.B, columns ...string) {
	part := benchPart(b)
	r := new(rawlog.PartReader)
	rows, sum := int64(0), int64(0)
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Open(rawlog.Memory(part), columns...); err != nil {
			b.Fatal(err)
		}
		for r.Next() {
			rows += int64(r.Len())
			sum += r.Columns()[0].Ints[r.Len()-1]
		}
		if r.Err() != nil {
			b.Fatal(r.Err())
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(rows), "ns/row")
	_ = sum
}

func BenchmarkReadFive(b *testing.B) {
	benchRead(b, "seq", "intended_ns", "sent_ns", "acked_ns", "offset")
}
func BenchmarkReadAll(b *testing.B) {
	benchRead(b)
}
