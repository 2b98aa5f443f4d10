package logwriter

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"queuebench/clock"
	"queuebench/rawlog"
)

func newLog(t *testing.T, store *memoryStore, change func(*Options)) *Log {
	t.Helper()
	opt := Options{Store: store, Run: "run-1", Clock: clock.Identity{Host: "h", BootID: "b", AnchorNs: 5}, SpoolDir: t.TempDir() + "/spool"}
	if change != nil {
		change(&opt)
	}
	l, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		l.Close(ctx)
	})
	return l
}

func identityOf(t *testing.T, body []byte) (rawlog.Part, *parquet.File) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	text, ok := f.Lookup(rawlog.PartKey)
	if !ok {
		t.Fatal("the part has no identity")
	}
	var p rawlog.Part
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	return p, f
}

func sentRowN(i int) rawlog.SentRow {
	n := int64(i)
	return rawlog.SentRow{Producer: 3, Seq: n, IntendedNs: 1e18 + n*100_000, SentNs: 1e18 + n*100_000 + 777, AckedNs: 1e18 + n*100_000 + 9_000_000, Status: rawlog.Acked, Partition: 0, Offset: n / 1000}
}

func TestRowsBecomeAPartWithItsIdentity(t *testing.T) {
	store := newMemoryStore()
	l := newLog(t, store, nil)
	w := l.Sent(2, 1, "producer-3")
	const n = 70_000
	for i := range n {
		w.Append(sentRowN(i))
	}
	w.SetWatermark(42)
	w.Close()
	if err := l.CloseStep(t.Context(), 2, 1); err != nil {
		t.Fatal(err)
	}
	parts := l.Parts(2, 1)
	if len(parts) != 1 || parts[0].Rows != n || parts[0].Name != "sent/step=2/repeat=1/part-producer-3-0.parquet" {
		t.Fatalf("parts are %+v", parts)
	}
	body := store.get(parts[0].Name)
	if int64(len(body)) != parts[0].Bytes {
		t.Errorf("the part has %d bytes, %d are claimed", len(body), parts[0].Bytes)
	}
	id, f := identityOf(t, body)
	want := rawlog.Part{Schema: rawlog.SchemaVersion, Run: "run-1", Table: "sent", Step: 2, Repeat: 1, Actor: "producer-3", Clock: clock.Identity{Host: "h", BootID: "b", AnchorNs: 5}, WatermarkNs: 42, Last: true}
	if id != want || parts[0].Part != want {
		t.Errorf("identity is %+v, want %+v", id, want)
	}
	if f.NumRows() != n || len(f.RowGroups()) != 2 || f.RowGroups()[0].NumRows() != largeGroup {
		t.Errorf("%d rows in %d row groups", f.NumRows(), len(f.RowGroups()))
	}
}
