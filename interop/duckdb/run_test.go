package duckdb

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"queuebench/internal/versitygw"
)

// TestDuckDBAgreesWithAnalyzeOnARealRun sweeps a Delta table on versitygw and
// computes the same percentiles twice: analyze from the run, DuckDB from the
// Parquet parts alone. On the way it holds the accounting of a queue that
// promises to lose and to repeat nothing.
func TestDuckDBAgreesWithAnalyzeOnARealRun(t *testing.T) {
	install(t)
	bin := t.TempDir()
	for _, name := range []string{"bench", "analyze"} {
		if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, name), "../../cmd/"+name).CombinedOutput(); err != nil {
			t.Fatalf("go build %s: %v\n%s", name, err, out)
		}
	}
	server := versitygw.Start(t)
	work := t.TempDir()
	command := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, name), args...)
		cmd.Dir, cmd.Env = work, append(os.Environ(), server.Environ()...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s %v: %v\n%s%s", name, args, err, out.String(), errs.String())
		}
		return out.String()
	}
	lines := strings.Fields(command("bench", "sweep", "--queue", "delta", "--rates", "1000,10000", "--duration", "4s",
		"--commit-interval", "100ms", "--message-size", "100", "--producers", "2", "--groups", "2", "--repeats", "2",
		"--store", server.Address("queues"), "--log-store", filepath.Join(work, "logs")))
	run := lines[len(lines)-1]

	for _, warmup := range []string{"0s", "1s", "1234567us"} {
		text := command("analyze", "summary", run, "--json", "--warmup", warmup)
		summary := filepath.Join(work, "summary.json")
		if err := os.WriteFile(summary, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), "node", "check.mjs", run, summary).CombinedOutput()
		if err != nil {
			t.Errorf("warm-up %s: %v\n%s", warmup, err, out)
		}
		t.Logf("warm-up %s\n%s", warmup, out)

		var s struct {
			Steps []struct {
				Accounting struct{ Scheduled, Attempted, Acked, Received, Lost, Duplicates, Overrun int64 }
			}
		}
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		if len(s.Steps) != 4 {
			t.Fatalf("%d steps, want 4", len(s.Steps))
		}
		for i, step := range s.Steps {
			a := step.Accounting
			// Received counts both groups.
			if a.Scheduled == 0 || a.Attempted != a.Scheduled-a.Overrun || a.Acked != a.Attempted || a.Received != 2*a.Acked || a.Lost != 0 || a.Duplicates != 0 {
				t.Errorf("step %d: %+v", i, a)
			}
		}
	}
}
