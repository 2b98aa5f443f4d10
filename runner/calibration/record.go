package calibration

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"time"

	"queuebench/clock"
	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
	"queuebench/runner/hostinfo"
)

// RecordCost is what a row of the raw log costs. The rows are those of a
// constant schedule of 10,000 messages a second with commits of 100 ms.
type RecordCost struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
	// AppendNs is what the producer or consumer pays for a row: the median over
	// batches of 64.
	AppendNs float64 `json:"append_ns"`
	// CPUNs is the CPU time for a row in all: appending, encoding, compressing
	// and writing the file.
	CPUNs float64 `json:"cpu_ns"`
	// Allocs are heap objects for a row, in all.
	Allocs float64 `json:"allocs"`
	Bytes  float64 `json:"bytes"` // of the file
}

const (
	recordRows  = 1 << 18
	recordBatch = 64
)

func measureRecords(ctx context.Context, c *clock.Clock, dir string) ([]RecordCost, error) {
	sent, err := recordCost(ctx, c, filepath.Join(dir, "sent"), rawlog.Sent.Name, sentRows(), func(l *logwriter.Log) *logwriter.SentWriter {
		return l.Sent(0, 0, "producer-0")
	})
	if err != nil {
		return nil, err
	}
	received, err := recordCost(ctx, c, filepath.Join(dir, "received"), rawlog.Received.Name, receivedRows(), func(l *logwriter.Log) *logwriter.ReceivedWriter {
		return l.Received(0, 0, "consumer-0")
	})
	return []RecordCost{sent, received}, err
}

func sentRows() []rawlog.SentRow {
	rng := rand.New(rand.NewPCG(1, 2)) // the same rows each time
	rows := make([]rawlog.SentRow, recordRows)
	var sent, acked int64
	for i := range rows {
		due := epoch + int64(i)*100_000
		if due > sent { // else it went out with those before it
			sent = due + rng.Int64N(20_000)
		}
		if i%1000 == 0 {
			acked = due + 100_000_000 + rng.Int64N(10_000_000)
		}
		rows[i] = rawlog.SentRow{Seq: int64(i), IntendedNs: due, SentNs: sent, AckedNs: acked, Status: rawlog.Acked, Offset: int64(i / 1000)}
	}
	return rows
}

func receivedRows() []rawlog.ReceivedRow {
	rng := rand.New(rand.NewPCG(1, 3))
	rows := make([]rawlog.ReceivedRow, recordRows)
	var received int64
	for i := range rows {
		if i%1000 == 0 {
			received = epoch + int64(i)*100_000 + 110_000_000 + rng.Int64N(10_000_000)
		}
		rows[i] = rawlog.ReceivedRow{Group: "group-0", Seq: int64(i), ReceivedNs: received, Offset: int64(i / 1000)}
	}
	return rows
}

// epoch is a time for rows.
const epoch = int64(1_700_000_000_000_000_000)

// recordCost appends rows to a log in a folder of its own: once to make its
// memory, and once to measure.
func recordCost[T any](ctx context.Context, c *clock.Clock, dir, table string, rows []T, open func(*logwriter.Log) *logwriter.Writer[T]) (RecordCost, error) {
	cost := RecordCost{Table: table, Rows: recordRows}
	var appends []float64
	var used hostinfo.Use
	var objects uint64
	meter := hostinfo.NewMeter(os.TempDir())
	for range 2 {
		store, err := objectstore.OpenFolder(filepath.Join(dir, "log"))
		if err != nil {
			return cost, err
		}
		log, err := logwriter.New(logwriter.Options{Store: store, Run: "calibration", Clock: c.Identity(), SpoolDir: filepath.Join(dir, "spool"), PartAge: time.Hour})
		if err != nil {
			return cost, err
		}
		w := open(log)
		before, objectsBefore := meter.Read(), allocated()
		appends = appends[:0]
		for i := 0; i < recordRows && ctx.Err() == nil; i += recordBatch {
			start := c.Now()
			for k := range recordBatch {
				w.Append(rows[i+k])
			}
			appends = append(appends, float64(c.Now()-start)/recordBatch)
		}
		if _, err := log.Close(ctx); err != nil {
			return cost, err
		}
		if err := ctx.Err(); err != nil {
			return cost, context.Cause(ctx)
		}
		used, objects = meter.Read().Since(before), allocated()-objectsBefore
		cost.Bytes = float64(log.Stats().Bytes) / recordRows
	}
	slices.Sort(appends)
	cost.AppendNs = appends[len(appends)/2]
	cost.Allocs = float64(objects) / recordRows
	if used.CPUNs != rawlog.Null {
		cost.CPUNs = float64(used.CPUNs) / recordRows
	}
	return cost, nil
}

// allocated is the number of heap objects that the process has allocated.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:objects"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
