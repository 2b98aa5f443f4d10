//go:build interop

package spark

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"queuebench/interop/sqltest"
)

// The query for Spark says what `analyze summary` says.
func TestSQLAgreesWithTheSummary(t *testing.T) {
	python := os.Getenv("PYTHON")
	if python == "" {
		t.Fatal("PYTHON names no interpreter with pyspark: scripts/test-interop.sh sets it up")
	}
	analyze := filepath.Join(t.TempDir(), "analyze")
	if out, err := exec.Command("go", "build", "-o", analyze, "../../cmd/analyze").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	run := filepath.Join(t.TempDir(), "run")
	if out, err := exec.Command("go", "run", "../../internal/benchlog", "-n", "200000", "-rate", "20000", "-out", run).CombinedOutput(); err != nil {
		t.Fatalf("no log: %v\n%s", err, out)
	}
	var queries [][]byte
	cuts := [][]string{{"--warmup", "0s"}, {"--warmup", "1s", "--percentiles", "50,99,99.9"}}
	for _, args := range cuts {
		sql, err := exec.CommandContext(t.Context(), analyze, append([]string{"sql", "--engine", "spark", run}, args...)...).Output()
		if err != nil {
			t.Fatalf("analyze sql: %v", err)
		}
		queries = append(queries, sql)
	}
	cmd := exec.CommandContext(t.Context(), python, "query.py")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(bytes.Join(queries, []byte{0})), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("Spark: %v", err)
	}
	rows := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if len(rows) != len(cuts) {
		t.Fatalf("%d results of %d queries: %s", len(rows), len(cuts), out)
	}
	for i, args := range cuts {
		summary, err := exec.CommandContext(t.Context(), analyze, append([]string{"summary", run, "--json"}, args...)...).Output()
		if len(summary) == 0 {
			t.Fatalf("analyze summary: %v", err)
		}
		sqltest.Compare(t, rows[i], summary, "50", "99", "99.9")
	}
}
