//go:build spark

// Package deltaspark tests the Delta table against Apache Spark: what we write it
// reads, and what it writes we consume exactly once, from its checkpoints of
// version 2, too. It is no part of the tests that run on each change: Spark takes
// a minute to start, and needs Java. `make test-spark` runs it.
package deltaspark

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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

// patience is for a Spark that starts on a busy machine and may have to get its
// jars.
const patience = 15 * time.Minute

// spark runs spark.py, and decodes the last line that it prints.
func spark(ctx context.Context, into any, args ...string) error {
	program := os.Getenv("PYTHON")
	if program == "" {
		return errors.New("PYTHON names no interpreter: run `make test-spark`")
	}
	cmd := exec.CommandContext(ctx, program, append([]string{"spark.py"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("spark.py %v: %w\n%s", args, err, stderr.String())
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	return json.Unmarshal(lines[len(lines)-1], into)
}

func openTable(t *testing.T, dir, name string, cfg deltalake.Config) *deltalake.Queue {
	t.Helper()
	store, err := objectstore.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Store, cfg.Name = store, name
	q, err := deltalake.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close() })
	return q
}

// Spark reads a table of ours, from a checkpoint of ours and with copies in its
// commits: the same rows, the same version.
func TestSparkReadsWhatWeWrite(t *testing.T) {
	dir := t.TempDir()
	q := openTable(t, dir, "ours", deltalake.Config{CommitInterval: 20 * time.Millisecond, InlineBytes: 1 << 16, CheckpointCommits: 4, CheckpointInterval: 1})
	p, err := q.Producer(t.Context(), queue.ProducerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	var payloads [][]byte
	for i := range 10 {
		var batch []queue.Message
		for k := range 20 {
			payloads = append(payloads, fmt.Appendf(nil, "%d/%d\x00\xff", i, k))
			batch = append(batch, queue.Message{Payload: payloads[len(payloads)-1], Partition: queue.AnyPartition})
		}
		if _, err := p.Send(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		if err := p.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(); err != nil { // waits for the checkpoint under way
		t.Fatal(err)
	}
	log, err := filepath.Glob(filepath.Join(dir, "ours", "_delta_log", "*.json"))
	if err != nil || len(log) < 10 {
		t.Fatalf("%d versions, %v", len(log), err)
	}
	slices.SortFunc(payloads, bytes.Compare)
	h := sha256.New()
	for _, p := range payloads {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(p)))
		h.Write(size[:])
		h.Write(p)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var got struct {
		Rows, Version int
		Digest        string
	}
	if err := spark(ctx, &got, "read", filepath.Join(dir, "ours")); err != nil {
		t.Fatal(err)
	}
	if got.Rows != len(payloads) || got.Version != len(log)-1 || got.Digest != hex.EncodeToString(h.Sum(nil)) {
		t.Errorf("Spark sees %+v of %d rows and version %d", got, len(payloads), len(log)-1)
	}
}

// Spark writes, checkpoints (version 2, with sidecars) and compacts while we
// tail: each row comes once, with its stamp. A late joiner needs the checkpoint.
func TestWeConsumeOnceWhatSparkWrites(t *testing.T) {
	dir := t.TempDir()
	cfg := deltalake.Config{ReadOnly: true, Stamp: &deltalake.Stamp{Column: "at"}, PollInterval: 20 * time.Millisecond}
	q := openTable(t, dir, "theirs", cfg)
	c, err := q.Consumer(t.Context(), queue.ConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	written := make(chan error, 1)
	var wrote struct{ Version int }
	go func() { written <- spark(ctx, &wrote, "write", filepath.Join(dir, "theirs")) }()
	seen := map[string]int{}
	receive := func(c queue.Consumer, until int) {
		t.Helper()
		for len(seen) < until {
			batch, err := c.Receive(ctx)
			if err != nil {
				t.Fatalf("after %d rows: %v", len(seen), err)
			}
			for _, d := range batch {
				seen[string(d.Payload)]++
				if age := time.Since(time.Unix(0, d.BrokerNs)); d.BrokerKind != deltalake.StampColumn || age < 0 || age > patience {
					t.Fatalf("row %s has the stamp %d (%s)", d.Payload, d.BrokerNs, d.BrokerKind)
				}
			}
		}
	}
	receive(c, 60)
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		if n := seen[fmt.Sprint(i)]; n != 1 {
			t.Errorf("row %d was delivered %d times", i, n)
		}
	}
	checkpoints, err := filepath.Glob(filepath.Join(dir, "theirs", "_delta_log", "*.checkpoint.*-*.*"))
	sidecars, _ := filepath.Glob(filepath.Join(dir, "theirs", "_delta_log", "_sidecars", "*.parquet"))
	if err != nil || len(checkpoints) == 0 || len(sidecars) == 0 {
		t.Fatalf("Spark wrote the checkpoints %q with the sidecars %q, %v", checkpoints, sidecars, err)
	}
	for v := range 6 { // which the newest checkpoint, of version 6, has
		if err := os.Remove(filepath.Join(dir, "theirs", "_delta_log", fmt.Sprintf("%020d.json", v))); err != nil {
			t.Fatal(err)
		}
	}
	clear(seen)
	late, err := openTable(t, dir, "theirs", cfg).Consumer(ctx, queue.ConsumerConfig{Start: queue.Start{Kind: queue.StartOffset, Offset: int64(wrote.Version)}})
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	receive(late, 10)
	for i := 50; i < 60; i++ {
		if n := seen[fmt.Sprint(i)]; n != 1 {
			t.Errorf("row %d was delivered %d times to the late joiner", i, n)
		}
	}
}
