package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two runs of one name would take each other's parts out of one spool.
func TestASpoolIsOfOneRunAlone(t *testing.T) {
	bareEnvironment(t)
	spool := filepath.Join("queuebench-spool", "twin")
	if err := os.MkdirAll(spool, 0o755); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := bench(t, "run", "--queue", "memory", "--rate", "10", "--duration", "100ms", "--run-id", "twin")
	if status != 2 || stdout != "" || !strings.Contains(stderr, spool) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
	if left := filesBelow("."); len(left) > 0 {
		t.Errorf("left %q", left)
	}
	if err := os.Remove(spool); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := bench(t, "run", "--queue", "memory", "--rate", "10", "--duration", "100ms", "--run-id", "twin"); status != 0 {
		t.Errorf("without the other spool: status %d, %q", status, stderr)
	}
}

// A copy of a log names the run that it is a copy of: the log of that name
// beside it is another one.
func TestCleanLeavesTheLogBesideACopy(t *testing.T) {
	bareEnvironment(t)
	if status, _, stderr := bench(t, "run", "--queue", "memory", "--rate", "10", "--duration", "100ms", "--run-id", "first", "--log-store", "logs"); status != 0 {
		t.Fatal(stderr)
	}
	if err := os.CopyFS(filepath.Join("logs", "copy"), os.DirFS(filepath.Join("logs", "first"))); err != nil {
		t.Fatal(err)
	}
	before := filesBelow(".")
	status, stdout, stderr := bench(t, "clean", "./logs/copy", "--log")
	if status != 1 || stdout != "" || !strings.Contains(stderr, "a copy of run first") {
		t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
	if after := filesBelow("."); len(after) != len(before) {
		t.Errorf("of %q there are %q", before, after)
	}
	if status, _, stderr := bench(t, "clean", "./logs/first", "--log"); status != 0 {
		t.Errorf("the log itself: status %d, %q", status, stderr)
	}
	if after := filesBelow("."); len(after) != len(before)/2 {
		t.Errorf("of %q there are %q", before, after)
	}
}

func TestVersionAndHelpOfACommand(t *testing.T) {
	if status, stdout, _ := bench(t, "--version"); status != 0 || !strings.Contains(stdout, "bench ") || !strings.Contains(stdout, "go1") {
		t.Errorf("--version: status %d, %q", status, stdout)
	}
	_, want, _ := bench(t, "sweep", "--help")
	if status, got, _ := bench(t, "help", "sweep"); status != 0 || got != want {
		t.Errorf("help sweep: status %d, %q", status, got)
	}
	if status, _, stderr := bench(t, "help", "nothing"); status != 2 || !strings.Contains(stderr, "no command") {
		t.Errorf("help nothing: status %d, %q", status, stderr)
	}
}
