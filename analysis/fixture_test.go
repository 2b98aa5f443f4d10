//go:build !js

package analysis

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"queuebench/internal/golden"
	"queuebench/queue"
	"queuebench/rawlog"
)

// fixture is the log in testdata/log: two steps of a queue that commits every
// 100 ms; in the second a message is lost, one comes twice, two are overrun and
// the client holds the sender for 300 ms.
func fixture(t *testing.T) memorySource {
	first, second := deltaLike(2000, 500, 100*ms), deltaLike(2000, 500, 100*ms)
	for i := range second.sent {
		row := &second.sent[i]
		if at := row.IntendedNs - testStart; at >= 2e9 && at < 23e8 {
			row.SentNs = testStart + 23e8
			row.BlockedNs = row.SentNs - row.IntendedNs
			row.AckedNs += 3e8
			second.received[i].ReceivedNs += 3e8
		}
	}
	// What was held up holds up what follows.
	for i := 1; i < len(second.sent); i++ {
		second.sent[i].AckedNs = max(second.sent[i].AckedNs, second.sent[i-1].AckedNs)
		second.received[i].ReceivedNs = max(second.received[i].ReceivedNs, second.received[i-1].ReceivedNs)
	}
	second.received = append(second.received[:700], second.received[701:1998]...)
	twice := second.received[900]
	second.received = append(second.received, twice)
	second.received[len(second.received)-1].ReceivedNs += 3e9
	for i := 1998; i < 2000; i++ {
		row := &second.sent[i]
		row.Status, row.SentNs, row.AckedNs, row.Partition, row.Offset = rawlog.Overrun, 0, 0, -1, -1
	}
	for i, r := range []*rows{&first, &second} {
		for s := range int64(4) {
			row := rawlog.NewSecondRow("process", testStart+(s+1)*1e9)
			row.Received, row.Backlog, row.CPUNs = 500, 50+int64(i), 30e6
			r.seconds = append(r.seconds, row)
		}
		for c := range int64(40) {
			row := rawlog.BatchRow{Actor: "producer-0", TimeNs: testStart + c*100e6, Partition: 0, Offset: c + 1, Messages: 50, Bytes: 6000, Tries: 1,
				WaitNs: 90e6, EncodeNs: 1e5, DataPutNs: 3e6 + c*1e4, CommitPutNs: 2e6, DiscoverNs: rawlog.Null, CommitGetNs: rawlog.Null,
				DataGetNs: rawlog.Null, DecodeNs: rawlog.Null, DeliverNs: rawlog.Null}
			r.batches = append(r.batches, row)
			row.Actor, row.DataPutNs, row.CommitPutNs, row.CommitGetNs, row.DataGetNs = "consumer-0", rawlog.Null, rawlog.Null, 1e6, 15e5
			r.batches = append(r.batches, row)
		}
		r.events = append(r.events, rawlog.EventRow{TimeNs: testStart, Actor: "process", Kind: "start", Text: "step", DurationNs: rawlog.Null},
			rawlog.EventRow{TimeNs: testStart + 2e9, Actor: "producer-0", Kind: "throttled", Text: "503 <SlowDown>", DurationNs: 3e8})
	}
	src, m := logOf(t, 1500, 500, 4*sec, first, second)
	m.Queue.CommitInterval = 100 * ms
	m.Queue.Kind = "delta"
	m.Store = rawlog.StoreInfo{Address: "s3://bench/q?endpoint=http://127.0.0.1:9000", Durability: "synced to one disk"}
	m.LogStore = rawlog.StoreInfo{Address: "s3://logs/q?endpoint=http://127.0.0.1:9000"}
	m.Host = rawlog.Host{Name: "one", OS: "linux", Arch: "amd64", CPUs: 2}
	m.Queue = queue.Info{Kind: "delta", Partitions: 1, Durability: "the commit's PUT was answered", LosesNothing: true, DeliversOnce: true, CommitInterval: 100 * ms}
	src.put(t, m)
	return src
}

// The log in testdata is what the writer writes, and -update writes it.
func TestFixtureIsWhatTheWriterWrites(t *testing.T) {
	src := fixture(t)
	dir := filepath.Join("testdata", "log")
	if golden.Updating() {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		for name, b := range src {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	stored, err := loadSource(dir)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Read(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(t.Context(), stored, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("testdata/log is another log: run go test ./analysis -update twice")
	}
	// Spark refuses a column without its path, as an older writer left it.
	for name, b := range stored {
		if !strings.HasSuffix(name, ".parquet") {
			continue
		}
		file, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, group := range file.Metadata().RowGroups {
			for i, c := range group.Columns {
				if path := file.Schema().Columns()[i]; !slices.Equal(c.MetaData.PathInSchema, path) {
					t.Errorf("%s: column %q says that it is %q: run go test ./analysis -update twice", name, path, c.MetaData.PathInSchema)
				}
			}
		}
	}
}
