package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"queuebench/analysis"
	"queuebench/internal/command"
)

// fixture is the recorded run that the analysis is tested with.
const fixture = "../../analysis/testdata/log"

// progress is what a command tells while a slow host keeps it busy.
var progress = regexp.MustCompile(`(?m)^reading .* % of [0-9.]+ MB\n`)

// analyze runs the command line in this process, and returns what it wrote without
// its progress.
func analyze(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = command.Main(t.Context(), newApp(), append([]string{"analyze"}, args...), &out, &errs)
	return status, out.String(), progress.ReplaceAllString(errs.String(), "")
}

// copyOfRun is a copy of the fixture that a test may damage.
func copyOfRun(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(fixture)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func onePart(t *testing.T, run, table string) string {
	t.Helper()
	parts, err := filepath.Glob(filepath.Join(run, table, "step=*", "repeat=*", "*.parquet"))
	if err != nil || len(parts) == 0 {
		t.Fatalf("no part of %s: %v", table, err)
	}
	return parts[0]
}

func rewrite(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

// What cannot be read is told in one line with what to do, and nothing is left
// half-written.
func TestBadInputIsOneLine(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(t *testing.T, run string) (args []string)
		status int
		want   string
	}{
		"a folder without a run": {func(t *testing.T, run string) []string {
			return []string{t.TempDir()}
		}, 1, "run.json"},
		"no such folder": {func(t *testing.T, run string) []string {
			return []string{filepath.Join(run, "nowhere")}
		}, 1, "run.json"},
		"another major version": {func(t *testing.T, run string) []string {
			rewrite(t, filepath.Join(run, "run.json"), func(b []byte) []byte {
				return bytes.ReplaceAll(b, []byte("queuebench.run/1"), []byte("queuebench.run/2"))
			})
			return []string{run}
		}, 1, "queuebench.run/2"},
		"a manifest that is no JSON": {func(t *testing.T, run string) []string {
			rewrite(t, filepath.Join(run, "run.json"), func(b []byte) []byte { return b[:len(b)/2] })
			return []string{run}
		}, 1, "run.json"},
		"a truncated part": {func(t *testing.T, run string) []string {
			rewrite(t, onePart(t, run, "sent"), func(b []byte) []byte { return b[:len(b)/2] })
			return []string{run}
		}, 1, "part-"},
		"a part that is no Parquet": {func(t *testing.T, run string) []string {
			rewrite(t, onePart(t, run, "received"), func([]byte) []byte { return []byte("id,name\n1,somebody\n") })
			return []string{run}
		}, 1, "part-"},
		"a digest of something else": {func(t *testing.T, run string) []string {
			path := filepath.Join(run, "other.gz")
			if err := os.WriteFile(path, []byte("\x1f\x8bnothing"), 0o600); err != nil {
				t.Fatal(err)
			}
			return []string{path}
		}, 1, "other.gz"},
		"a warm-up as long as the run": {func(t *testing.T, run string) []string { return []string{run, "--warmup", "1h"} }, 1, "warm-up"},
		"a warm-up without a unit":     {func(t *testing.T, run string) []string { return []string{run, "--warmup", "3"} }, 2, "30s"},
		"a negative warm-up":           {func(t *testing.T, run string) []string { return []string{run, "--warmup", "-3s"} }, 2, "negative"},
		"a percentile of 100":          {func(t *testing.T, run string) []string { return []string{run, "--percentiles", "50,100"} }, 2, "100"},
		"two runs":                     {func(t *testing.T, run string) []string { return []string{run, run} }, 2, "one of them twice"},
		"no run":                       {func(t *testing.T, run string) []string { return nil }, 2, "takes a RUN"},
		"an unknown backend":           {func(t *testing.T, run string) []string { return []string{run, "--s3-backend", "azure"} }, 2, "minio or s3"},
	} {
		t.Run(name, func(t *testing.T) {
			args := c.damage(t, copyOfRun(t))
			for _, name := range []string{"summary", "report", "plot"} {
				out := filepath.Join(t.TempDir(), "out")
				line := append([]string{name}, args...)
				if name != "summary" {
					line = append(line, "--out", out)
				}
				status, stdout, stderr := analyze(t, line...)
				if status != c.status || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 || stdout != "" {
					t.Errorf("%s: status %d, want %d with %q\nstdout %q\nstderr %q", name, status, c.status, c.want, stdout, stderr)
				}
				if _, err := os.Stat(out); err == nil {
					t.Errorf("%s left something at its output", name)
				}
			}
		})
	}
}

func TestSummaryOfADigestIsTheSummaryOfTheRun(t *testing.T) {
	digest := filepath.Join(t.TempDir(), "run.digest.gz")
	if status, _, stderr := analyze(t, "digest", fixture, "-o", digest); status != 0 {
		t.Fatalf("status %d, %s", status, stderr)
	}
	var summaries [2]analysis.Summary
	for i, run := range []string{fixture, digest} {
		// The fixture holds a loss that its queue does not permit.
		status, stdout, stderr := analyze(t, "summary", "--json", run)
		if status != command.StatusOK && status != command.StatusBroken {
			t.Fatalf("status %d, %s", status, stderr)
		}
		if err := json.Unmarshal([]byte(stdout), &summaries[i]); err != nil {
			t.Fatal(err)
		}
	}
	a, err := json.Marshal(summaries[0])
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(summaries[1])
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Errorf("the run gives\n%s\nits digest\n%s", a, b)
	}
}
