package deltalake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"queuebench/queue"
)

// checkpointed is a table with some checkpoints, written by the queue itself,
// and the number of its messages.
func checkpointed(t *testing.T) (Config, *load, int) {
	cfg := Config{Store: folder(t), Name: "table", AppID: "app", CommitInterval: 2 * time.Millisecond, CheckpointCommits: 5, CheckpointInterval: time.Nanosecond}
	l := newLoad(t, open(t, cfg), 1)
	n := 0
	for ctx := deadline(t); n < 200 || l.event("checkpoint") < 2; n += 20 {
		if err := l.send(ctx, n, n+20, 2*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	l.p.Close() // waits for the checkpoint under way
	return cfg, l, n
}

func TestCheckpointsHoldWhatTheLogHolds(t *testing.T) {
	cfg, l, n := checkpointed(t)
	tb := l.q.tables[0]
	var last lastCheckpointFile
	body, err := tb.get(t.Context(), lastCheckpoint)
	if err != nil || json.Unmarshal(body, &last) != nil {
		t.Fatalf("_last_checkpoint: %v, %s", err, body)
	}
	from, err := tb.readCheckpoint(t.Context(), last.files())
	if err != nil {
		t.Fatal(err)
	}
	want := newSnapshot()
	for v := range last.Version + 1 {
		c, err := tb.getCommit(t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		want.apply(c)
	}
	for i := range want.files {
		want.files[i].DataChange = false
	}
	if !reflect.DeepEqual(from, want) {
		t.Errorf("checkpoint\n%+v\nlog\n%+v", from, want)
	}
	if last.NumOfAddFiles != int64(len(want.files)) || last.Size != int64(len(want.rows())) {
		t.Errorf("_last_checkpoint says %+v, there are %d files", last, len(want.files))
	}

	// Who opens the table reads few versions, and goes on with the txn.
	s, f := withFaults(cfg.Store)
	cfg.Store = s
	heir := newLoad(t, open(t, cfg), 2)
	if f.count("GET", versionKey(1)) > 0 {
		t.Error("version 1 was read although there is a checkpoint")
	}
	if err := heir.send(deadline(t), 0, 5, 0); err != nil {
		t.Error(err)
	}
	// A queue's reader starts with version 0 all the same.
	sink := newSink(t, heir.q, "g", queue.Start{})
	if err := sink.receive(deadline(t), n+5, 10*time.Millisecond); err != nil {
		t.Error(err)
	}
	sink.checkOnce(t, 1, n)
	sink.checkOnce(t, 2, 5)
}

// A checkpoint is of the plainest Parquet, which every engine reads: pages of
// version 1, PLAIN. (Spark 3.5 misreads the strings of DELTA_LENGTH_BYTE_ARRAY.)
func TestCheckpointsAreOfThePlainestParquet(t *testing.T) {
	cfg, l, _ := checkpointed(t)
	var last lastCheckpointFile
	body, err := l.q.tables[0].get(t.Context(), lastCheckpoint)
	if err != nil || json.Unmarshal(body, &last) != nil {
		t.Fatal(err)
	}
	body, _, err = cfg.Store.Get(t.Context(), "table/"+checkpointKey(last.Version))
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range f.Metadata().RowGroups {
		for _, c := range group.Columns {
			for _, e := range c.MetaData.Encoding {
				if e != format.Plain && e != format.RLE {
					t.Errorf("the column %v has the encoding %v", c.MetaData.PathInSchema, e)
				}
			}
			for _, s := range c.MetaData.EncodingStats {
				if s.PageType != format.DataPage {
					t.Errorf("the column %v has a page of the type %v", c.MetaData.PathInSchema, s.PageType)
				}
			}
		}
	}
}

// A checkpoint that cannot be read costs time, not the table (delta-rs#2258,
// #2643, delta#5458).
func TestBadCheckpointsAreFallenBackFrom(t *testing.T) {
	cfg, l, _ := checkpointed(t)
	tb := l.q.tables[0]
	want, err := tb.snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	if err := tb.listLog(t.Context(), -1, func(key string) error {
		if strings.HasSuffix(key, ".checkpoint.parquet") {
			keys = append(keys, key)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(keys) < 2 {
		t.Fatalf("there are the checkpoints %v, at least two are needed", keys)
	}
	same := func(what string) {
		t.Helper()
		got, err := tb.snapshot(t.Context())
		if err != nil || got.version != want.version || len(got.files) != len(want.files) || !reflect.DeepEqual(got.txns, want.txns) {
			t.Errorf("%s: %v, %+v", what, err, got)
		}
	}
	newest := keys[len(keys)-1]
	whole, err := tb.get(t.Context(), newest)
	if err != nil {
		t.Fatal(err)
	}
	put(t, tb.store, newest, string(whole[:len(whole)/2]))
	same("newest checkpoint cut short")
	put(t, tb.store, newest, "rubbish")
	same("newest checkpoint is rubbish")
	put(t, tb.store, lastCheckpoint, "rubbish")
	same("_last_checkpoint is rubbish")
	put(t, tb.store, lastCheckpoint, `{"version":99999,"size":1}`)
	same("_last_checkpoint names what is not there")
	for _, k := range keys {
		put(t, tb.store, k, "rubbish")
	}
	same("all checkpoints are rubbish")
	// Without version 0 and without a checkpoint nothing is left to read.
	if err := tb.store.Delete(t.Context(), versionKey(0)); err != nil {
		t.Fatal(err)
	}
	if _, err := tb.snapshot(t.Context()); !errors.Is(err, ErrStartTooOld) {
		t.Errorf("without version 0: %v", err)
	}
	if _, err := open(t, cfg).Producer(t.Context(), queue.ProducerConfig{}); err == nil {
		t.Error("a producer took up a table whose state cannot be known")
	}
}

// What this package does not write it does not checkpoint.
func TestNoCheckpointOfForeignTables(t *testing.T) {
	h, cfg := handTable(t)
	h.version(1, h.data("a.parquet", "a.parquet", true, "1"))
	h.version(2, `{"remove":{"path":"a.parquet","dataChange":true}}`)
	cfg.CheckpointCommits, cfg.CheckpointInterval = 1, time.Nanosecond
	l := newLoad(t, open(t, cfg), 1)
	if err := l.send(deadline(t), 0, 20, 2*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	l.p.Close()
	if n := l.event("checkpoint"); n > 0 {
		t.Errorf("%d checkpoints were written of a table with tombstones: %v", n, fmt.Sprint(l.events))
	}
}
