package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/objectstore"
	"queuebench/rawlog/logstore"
)

// fullDisk runs bench, its spool on a disk that a part of 30,000 msg/s does not
// fit on, after two seconds of parts that do.
func fullDisk(t *testing.T, cmd *exec.Cmd, spool, want string) {
	t.Helper()
	cmd.Args = append(cmd.Args, "run", "--queue", "memory", "--rate-profile", "0s:500,2s:30000", "--arrivals", "poisson", "--duration", "60s",
		"--part-age", "1s", "--run-id", "mine", "--calibrate=false", "--spool", spool, "--log-store", "./logs")
	cmd.Env = append(os.Environ(), asProcess+"=1")
	start := time.Now()
	out, err := cmd.CombinedOutput()
	text := string(out)
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 || time.Since(start) > 40*time.Second {
		t.Fatalf("after %v: %v, %s", time.Since(start), err, text)
	}
	for _, part := range []string{"raw log: writing ", "part-", ".parquet in the spool " + spool, want, "make room or choose another spool"} {
		if !strings.Contains(text, part) {
			t.Errorf("the output lacks %q: %s", part, text)
		}
	}
	if left := filesBelow(spool); len(left) > 0 {
		t.Errorf("left in the spool: %q", left)
	}
	src, err := logstore.Open(t.Context(), "./logs/mine", objectstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	digest, err := analysis.Read(t.Context(), src, analysis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	none := time.Duration(0)
	summary := analysis.Summarize(digest, analysis.View{Warmup: &none})
	// More than a second of 500 msg/s is in parts that were closed.
	if a := summary.Steps[0].Accounting; summary.Complete || !has(summary.Findings, "run-incomplete") || a.Attempted < 500 || a.Lost != 0 || !strings.Contains(digest.Manifest.Reason, want) {
		t.Errorf("complete %v, reason %q, accounting %+v, findings %+v", summary.Complete, digest.Manifest.Reason, a, summary.Findings)
	}
}

func TestAFullDiskEndsTheRunAndLeavesAReadableLog(t *testing.T) {
	t.Run("file size limit", func(t *testing.T) { // works for any user
		bareEnvironment(t)
		spool, err := filepath.Abs("spool")
		if err != nil {
			t.Fatal(err)
		}
		fullDisk(t, exec.Command("sh", "-c", `ulimit -f 128 && exec "$0" "$@"`, os.Args[0]), spool, "file too large")
	})
	t.Run("tmpfs", func(t *testing.T) {
		bareEnvironment(t)
		disk, err := filepath.Abs("disk")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(disk, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
			t.Logf("no file system can be mounted here, the file size limit stands for it: %v", err)
			return
		}
		t.Cleanup(func() {
			if err := syscall.Unmount(disk, 0); err != nil {
				t.Errorf("unmounting %s: %v", disk, err)
			}
		})
		fullDisk(t, exec.Command(os.Args[0]), filepath.Join(disk, "spool"), "no space left on device")
	})
}
