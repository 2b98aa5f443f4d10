//go:build interop

// Package deltatable tests the Delta table against engines of others: what we
// write, they read; what they write, we consume exactly once.
package deltatable

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"queuebench/objectstore"
	"queuebench/queue"
	"queuebench/queue/deltalake"
)

// python runs a script of this folder in the environment that
// scripts/test-interop.sh made.
func python(ctx context.Context, script string, args ...string) ([]byte, error) {
	program := os.Getenv("PYTHON")
	if program == "" {
		return nil, errors.New("PYTHON names no interpreter: run `make test-interop`")
	}
	cmd := exec.CommandContext(ctx, program, append([]string{script}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", script, err, stderr.String())
	}
	return out, nil
}

func openTable(t *testing.T, root, name string, schema deltalake.Schema, inline int64) queue.Queue {
	t.Helper()
	store, err := objectstore.OpenFolder(root)
	if err != nil {
		t.Fatal(err)
	}
	q, err := deltalake.New(deltalake.Config{Store: store, Name: name, CommitInterval: 20 * time.Millisecond, Schema: schema, InlineBytes: inline})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close() })
	return q
}

func digest(payloads [][]byte) string {
	slices.SortFunc(payloads, bytes.Compare)
	h := sha256.New()
	for _, p := range payloads {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(p)))
		h.Write(size[:])
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func TestOthersReadWhatWeWrite(t *testing.T) {
	for _, c := range []struct {
		name   string
		schema deltalake.Schema
		inline int64
	}{{"data", deltalake.DataOnly, 0}, {"pathway", deltalake.Pathway, 0}, {"inline", deltalake.DataOnly, deltalake.MaxInlineBytes}} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			q := openTable(t, root, c.name, c.schema, c.inline)
			if err := q.Create(t.Context()); err != nil {
				t.Fatal(err)
			}
			producer, err := q.Producer(t.Context(), queue.ProducerConfig{Acked: func([]queue.Ack) {}})
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(1, 2))
			var payloads [][]byte
			for range 20 {
				var batch []queue.Message
				for range 50 {
					p := make([]byte, random.IntN(300))
					for i := range p {
						p[i] = byte(random.Uint32())
					}
					payloads = append(payloads, p)
					batch = append(batch, queue.Message{Payload: p, Partition: queue.AnyPartition})
				}
				if _, err := producer.Send(t.Context(), batch); err != nil {
					t.Fatal(err)
				}
				if err := producer.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := producer.Close(); err != nil {
				t.Fatal(err)
			}
			log, err := filepath.Glob(filepath.Join(root, c.name, "_delta_log", "*.json"))
			if err != nil || len(log) < 20 {
				t.Fatalf("%d versions in the log, %v", len(log), err)
			}

			want := digest(payloads)
			out, err := python(t.Context(), "read.py", filepath.Join(root, c.name))
			if err != nil {
				t.Fatal(err)
			}
			engines := 0
			for line := range bytes.Lines(out) {
				var got struct {
					Engine, Digest string
					Rows           int
					Version        *int
				}
				if err := json.Unmarshal(line, &got); err != nil {
					t.Fatal(err)
				}
				engines++
				if got.Rows != len(payloads) || got.Digest != want {
					t.Errorf("%s sees %d rows with digest %s, want %d with %s", got.Engine, got.Rows, got.Digest, len(payloads), want)
				}
				if got.Version != nil && *got.Version != len(log)-1 {
					t.Errorf("%s sees version %d, want %d", got.Engine, *got.Version, len(log)-1)
				}
			}
			if engines != 2 {
				t.Errorf("%d engines answered, want 2", engines)
			}
		})
	}
}

func TestWeConsumeOnceWhatOthersWriteWhileWeTail(t *testing.T) {
	const commits, rows = 15, 40
	root := t.TempDir()
	q := openTable(t, root, "theirs", deltalake.DataOnly, 0)
	consumer, err := q.Consumer(t.Context(), queue.ConsumerConfig{Group: "g"})
	if err != nil {
		t.Fatal(err)
	}
	defer consumer.Close()
	written := make(chan error, 1)
	go func() {
		_, err := python(t.Context(), "write.py", filepath.Join(root, "theirs"), fmt.Sprint(commits), fmt.Sprint(rows))
		written <- err
	}()

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	seen := map[string]int{}
	for len(seen) < commits*rows {
		batch, err := consumer.Receive(ctx)
		if err != nil {
			t.Fatalf("after %d messages: %v", len(seen), err)
		}
		for _, d := range batch {
			seen[string(d.Payload)]++
		}
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	for commit := range commits {
		for row := range rows {
			if key := fmt.Sprintf("%d/%d", commit, row); seen[key] != 1 {
				t.Errorf("message %s was delivered %d times", key, seen[key])
			}
		}
	}
}

// state is what delta-rs and DuckDB see of a table.
type state struct {
	Version    int64
	Rows       int
	DuckDBRows int `json:"duckdb_rows"`
	Txns       map[string]int64
}

// Others start from a checkpoint of ours, see the version and the txn versions
// that we wrote, checkpoint and compact the table and append to it while we
// tail: each message comes once.
func TestOthersCheckpointAndCompactWhatWeTail(t *testing.T) {
	const commits, rows = 30, 20
	root := t.TempDir()
	store, err := objectstore.OpenFolder(root)
	if err != nil {
		t.Fatal(err)
	}
	q, err := deltalake.New(deltalake.Config{
		Store: store, Name: "ours", AppID: "orders", CommitInterval: 20 * time.Millisecond, BatchMessages: rows, CheckpointCommits: 10, CheckpointInterval: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	consumer, err := q.Consumer(t.Context(), queue.ConsumerConfig{Group: "g"})
	if err != nil {
		t.Fatal(err)
	}
	defer consumer.Close()
	checkpoints := 0
	producer, err := q.Producer(t.Context(), queue.ProducerConfig{ID: 3, Event: func(e queue.Event) {
		if e.Kind == "checkpoint" {
			checkpoints++
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	for commit := range commits {
		var batch []queue.Message
		for row := range rows {
			batch = append(batch, queue.Message{Payload: fmt.Appendf(nil, "%d/%d", commit, row), Partition: queue.AnyPartition})
		}
		if _, err := producer.Send(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		if err := producer.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := producer.Close(); err != nil { // waits for the checkpoint under way
		t.Fatal(err)
	}
	if checkpoints < 2 {
		t.Fatalf("%d checkpoints", checkpoints)
	}
	// Without the first versions only the checkpoint tells of the table.
	folder := filepath.Join(root, "ours")
	hidden := filepath.Join(folder, "_delta_log", fmt.Sprintf("%020d.json", 1))
	if err := os.Rename(hidden, hidden+".hidden"); err != nil {
		t.Fatal(err)
	}
	out, err := python(t.Context(), "tables.py", "state", folder, "orders:3")
	if err != nil {
		t.Fatal(err)
	}
	var got state
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if got.Version != commits || got.Rows != commits*rows || got.DuckDBRows != commits*rows || got.Txns["orders:3"] != commits*rows {
		t.Errorf("others see %+v of %d commits of %d messages", got, commits, rows)
	}
	if err := os.Rename(hidden+".hidden", hidden); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	seen := map[string]int{}
	receive := func(until int) {
		t.Helper()
		for len(seen) < until {
			batch, err := consumer.Receive(ctx)
			if err != nil {
				t.Fatalf("after %d messages: %v", len(seen), err)
			}
			for _, d := range batch {
				seen[string(d.Payload)]++
			}
		}
	}
	receive(commits * rows / 2) // the reader is in the middle of it
	out, err = python(t.Context(), "tables.py", "rewrite", folder)
	if err != nil {
		t.Fatal(err)
	}
	var rewritten struct{ Removed int }
	if err := json.Unmarshal(out, &rewritten); err != nil || rewritten.Removed < commits {
		t.Fatalf("delta-rs compacted %d files of %d: %v", rewritten.Removed, commits, err)
	}
	receive(commits*rows + 10)
	// And we append behind what it did, from its checkpoint on.
	again, err := q.Producer(t.Context(), queue.ProducerConfig{ID: 4})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Send(t.Context(), []queue.Message{{Payload: []byte("last"), Partition: queue.AnyPartition}}); err != nil {
		t.Fatal(err)
	}
	receive(commits*rows + 11)
	for message, n := range seen {
		if n != 1 {
			t.Errorf("message %s was delivered %d times", message, n)
		}
	}
}
