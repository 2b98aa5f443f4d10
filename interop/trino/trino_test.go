//go:build trino

package trino

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"queuebench/interop/sqltest"
)

// The query for Trino says what `analyze summary` says, over tables that were made
// as it tells.
func TestSQLAgreesWithTheSummary(t *testing.T) {
	analyze := filepath.Join(t.TempDir(), "analyze")
	if out, err := exec.Command("go", "build", "-o", analyze, "../../cmd/analyze").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	run := filepath.Join(t.TempDir(), "run")
	if out, err := exec.Command("go", "run", "../../internal/benchlog", "-n", "200000", "-rate", "20000", "-out", run).CombinedOutput(); err != nil {
		t.Fatalf("no log: %v\n%s", err, out)
	}
	s := start(t)
	for i, args := range [][]string{{"--warmup", "0s"}, {"--warmup", "1s", "--percentiles", "50,99,99.9"}} {
		sql, err := exec.CommandContext(t.Context(), analyze, append([]string{"sql", "--engine", "trino", run}, args...)...).Output()
		if err != nil {
			t.Fatalf("analyze sql: %v", err)
		}
		if i == 0 {
			s.tables(t, string(sql))
		}
		rows, err := json.Marshal(s.query(t, string(sql)))
		if err != nil {
			t.Fatal(err)
		}
		summary, err := exec.CommandContext(t.Context(), analyze, append([]string{"summary", run, "--json"}, args...)...).Output()
		if len(summary) == 0 {
			t.Fatalf("analyze summary: %v", err)
		}
		sqltest.Compare(t, rows, summary, "50", "99", "99.9")
	}
}

// A query that was printed to a file is run, and its rows written to another: for
// `make bench-scale`, which names both.
func TestQueryOfAFile(t *testing.T) {
	if os.Getenv("QUERY") == "" {
		return
	}
	sql, err := os.ReadFile(os.Getenv("QUERY"))
	if err != nil {
		t.Fatal(err)
	}
	s := start(t)
	s.tables(t, string(sql))
	rows, err := json.Marshal(s.query(t, string(sql)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(os.Getenv("ROWS"), rows, 0o644); err != nil {
		t.Fatal(err)
	}
}
