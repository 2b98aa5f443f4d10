//go:build interop

package deltatable

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The command line tails a table that delta-rs writes meanwhile: each row once,
// with a latency from its commit.
func TestBenchTailsWhatDeltaRSWrites(t *testing.T) {
	const commits, rows = 10, 30
	dir := t.TempDir()
	bench := filepath.Join(dir, "bench")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bench, "../../cmd/bench").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	table := filepath.Join(dir, "theirs")
	written := make(chan error, 1)
	go func() {
		_, err := python(t.Context(), "write.py", table, fmt.Sprint(commits), fmt.Sprint(rows))
		written <- err
	}()
	cmd := exec.CommandContext(t.Context(), bench, "tail", table, "--start", "earliest", "--count", fmt.Sprint(commits*rows), "--duration", "2m", "--json", "--quiet")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	var got struct {
		Received int64
		Complete bool
		Tail     struct {
			Column, Stamp string
			PresentRows   int64 `json:"present_rows"`
			Versions      int64
		}
		Latency struct{ N int64 } `json:"broker_to_consumer_whole_step"`
	}
	if err := json.Unmarshal([]byte(line), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if got.Received != commits*rows || !got.Complete || got.Tail.Versions != commits || got.Tail.Column != "data" || got.Tail.Stamp != "commit" || got.Latency.N != commits*rows-got.Tail.PresentRows {
		t.Errorf("%+v", got)
	}
}
