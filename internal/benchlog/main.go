// Command benchlog writes the raw log of a run that never was, for `make
// bench-analyze`: seeded, of any number of messages, streamed to a folder.
//
// The queue commits every 100 ms: deliveries come in batches, latencies are a
// saw-tooth with noise of a PUT and a GET. One message in 100,000 is lost and one
// comes twice.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"queuebench/clock"
	"queuebench/objectstore"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
)

const (
	start    = int64(1_700_000_000e9)
	interval = int64(100 * time.Millisecond)
)

func main() {
	n := flag.Int64("n", 10_000_000, "messages")
	rate := flag.Float64("rate", 250_000, "messages per second of the schedule")
	out := flag.String("out", "", "folder to write")
	noise := flag.Bool("noise", false, "offsets and times that do not compress: some 30 bytes a message in place of 3")
	flag.Parse()
	if err := run(*out, *n, *rate, *noise); err != nil {
		fmt.Fprintln(os.Stderr, "benchlog:", err)
		os.Exit(1)
	}
}

func run(out string, n int64, rate float64, noise bool) error {
	ctx := context.Background()
	store, err := objectstore.OpenFolder(out)
	if err != nil {
		return err
	}
	id := clock.Identity{Host: "one", BootID: "b", AnchorNs: 1}
	l, err := logwriter.New(logwriter.Options{Store: store, Run: "bench", Clock: id, SpoolDir: filepath.Join(out, ".spool"), PartAge: time.Hour})
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	sent, received := l.Sent(0, 0, "producer-0"), l.Received(0, 0, "consumer-0")
	var a rawlog.Accounting
	batch := int64(-1)
	var acked, got, last int64
	for i := range n {
		at := start + int64(float64(i)/rate*1e9)
		if b := (at - start) / interval; b != batch {
			batch = b
			acked = start + (b+1)*interval + 5e6 + rng.Int64N(2e6)
			got = acked + 3e6 + rng.Int64N(3e6)
			sent.SetWatermark(at)
		}
		last = max(last, at+rng.Int64N(20_000))
		message := rawlog.SentRow{Seq: i, IntendedNs: at, SentNs: last, AckedNs: acked, Status: rawlog.Acked, Offset: batch}
		row := rawlog.ReceivedRow{Group: "g", Seq: i, ReceivedNs: got, Offset: batch}
		if noise {
			message.Offset, message.AckedNs = rng.Int64(), acked+rng.Int64N(2e6)
			row.Offset, row.BrokerNs, row.BrokerKind = rng.Int64(), acked+rng.Int64N(1e6), "noise"
		}
		sent.Append(message)
		switch rng.IntN(100_000) {
		case 0:
			a.Lost++
			continue
		case 1:
			a.Duplicates++
			received.Append(row)
		}
		received.Append(row)
	}
	if _, err := l.Close(ctx); err != nil {
		return err
	}
	a.Scheduled, a.Attempted, a.Acked, a.Received = n, n, n, n-a.Lost
	duration := int64(float64(n) / rate * 1e9)
	m := &rawlog.Manifest{Schema: rawlog.SchemaVersion, Run: "bench", Complete: true, StartedNs: start, Clock: id, Settings: map[string]string{}, Warnings: []string{},
		Queue: queue.Info{Kind: "bench", Partitions: 1},
		Steps: []rawlog.Step{{Rate: rate, Settings: map[string]string{}, StartedNs: start, DurationNs: duration, DeadlineNs: start + duration + 30e9, Producers: 1,
			Groups: []string{"g"}, Complete: true, Accounting: a, Parts: l.Parts(0, 0)}}}
	return l.WriteManifest(ctx, m)
}
