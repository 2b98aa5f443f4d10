//go:build !js

package analysis

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"testing"
	"time"

	"queuebench/rawlog"
)

// deltaLike is a step of a queue that commits every T: batches of deliveries,
// latencies in a saw-tooth, a few retried commits.
func deltaLike(n int, rate float64, commit time.Duration) rows {
	rng := rand.New(rand.NewPCG(1, 2))
	var r rows
	var batch int64 = -1
	var acked, received, sent int64
	for i := range n {
		at := int64(float64(i) / rate * 1e9)
		if b := at / int64(commit); b != batch {
			batch = b
			acked = testStart + (b+1)*int64(commit) + 5e6 + rng.Int64N(2e6)
			received = acked + 3e6 + rng.Int64N(3e6)
		}
		if testStart+at > sent {
			sent = testStart + at + rng.Int64N(20_000)
		}
		r.sent = append(r.sent, rawlog.SentRow{Seq: int64(i), IntendedNs: testStart + at, SentNs: sent, AckedNs: acked, Status: rawlog.Acked, Partition: 0, Offset: batch})
		r.received = append(r.received, rawlog.ReceivedRow{Group: "g", Seq: int64(i), ReceivedNs: received, Partition: 0, Offset: batch})
	}
	return r
}

// BenchmarkRead is raw log to digest: both tables, joined, all latencies.
func BenchmarkRead(b *testing.B) {
	const n = 1_000_000
	for _, c := range []struct {
		name string
		rate float64
	}{{"10000", 10_000}, {"50000", 50_000}} {
		src, _ := logOf(b, 1<<20, c.rate, time.Duration(n/c.rate*1e9), deltaLike(n, c.rate, 100*ms))
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(b.Context(), src, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/message")
		})
	}
}

// BenchmarkSummarize is what a page does when the warm-up is moved: ten rates
// of 200 intervals.
func BenchmarkSummarize(b *testing.B) {
	d := tenRates(b)
	for b.Loop() {
		Summarize(d, View{})
	}
}

// BenchmarkDigest is the digest's size and the cost of writing and reading it.
func BenchmarkDigest(b *testing.B) {
	d := tenRates(b)
	text := write(b, d)
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := w.Write(text); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("Write", func(b *testing.B) {
		for b.Loop() {
			write(b, d)
		}
		b.ReportMetric(float64(len(text)), "bytes")
		b.ReportMetric(float64(z.Len()), "gzipped")
	})
	for _, n := range []int{100, 50, 20} {
		coarse := write(b, d.Coarsen(n))
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		if _, err := w.Write(coarse); err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		b.Logf("%d intervals: %d bytes, %d gzipped", n, len(coarse), z.Len())
	}
	b.Run("Read", func(b *testing.B) {
		for b.Loop() {
			if _, err := ReadDigest(bytes.NewReader(text)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func tenRates(tb testing.TB) *Digest {
	var steps []rows
	for i := range 10 {
		steps = append(steps, deltaLike(20*1000*(i+1), 1000*float64(i+1), 100*ms))
	}
	src, _ := logOf(tb, 1<<20, 1000, 20*sec, steps...)
	d, err := Read(tb.Context(), src, Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// BenchmarkJoin joins in order. What a message costs does not depend on how many
// there are.
func BenchmarkJoin(b *testing.B) {
	for _, n := range []int64{1_000_000, 16_000_000} {
		b.Run(FormatCount(n), func(b *testing.B) {
			for range b.N {
				s := &StepDigest{StartNs: testStart, Duration: 7200 * sec, Interval: 100 * sec}
				s.Intervals = newIntervals(s.Duration, s.Interval, nil)
				j := newJoiner(s, []string{"g"})
				j.maxSeq, j.sentWhole, j.receivedWhole = n, true, true
				for i := range n {
					at := testStart + i*100_000
					j.row(0, i, at, at, at+1e6, 0, rawlog.Acked)
					j.delivery(0, 0, i, at+5e6, rawlog.Null)
				}
				j.finish()
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(n), "ns/message")
		})
	}
}
