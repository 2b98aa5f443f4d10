package duckdb

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"queuebench/interop/sqltest"
)

// query runs what `analyze sql` prints by DuckDB.
func query(t *testing.T, analyze, run string, args ...string) []byte {
	t.Helper()
	sql, err := exec.CommandContext(t.Context(), analyze, append([]string{"sql", run}, args...)...).Output()
	if err != nil {
		t.Fatalf("analyze sql: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "sql.mjs")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(sql), os.Stderr
	rows, err := cmd.Output()
	if err != nil {
		t.Fatalf("DuckDB: %v\n%s", err, sql)
	}
	return rows
}

// The query that `analyze sql` prints says what `analyze summary` says, of the
// run that the analysis is tested with: losses, duplicates and messages that were
// never sent are in it.
func TestSQLAgreesWithTheSummary(t *testing.T) {
	install(t)
	analyze := filepath.Join(t.TempDir(), "analyze")
	if out, err := exec.Command("go", "build", "-o", analyze, "../../cmd/analyze").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	const run = "../../analysis/testdata/log"
	for _, args := range [][]string{nil, {"--warmup", "0s"}, {"--warmup", "1234567us", "--percentiles", "50,99,99.9"}, {"--cooldown", "1s"}} {
		cmd := exec.CommandContext(t.Context(), analyze, append([]string{"summary", run, "--json"}, args...)...)
		summary, err := cmd.Output()
		if len(summary) == 0 { // the status is that of a broken promise, which the log holds
			t.Fatalf("analyze summary: %v", err)
		}
		sqltest.Compare(t, query(t, analyze, run, args...), summary, "50", "99", "99.9")
	}
}
