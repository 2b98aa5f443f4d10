package faults

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"queuebench/internal/reliability"
)

// smallDisk is a file system of so many bytes, where one can be mounted, and how to
// make it larger.
func smallDisk(t *testing.T, size string) (dir string, grow func(size string), ok bool) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Logf("no file system can be mounted here, the limit of a file's size stands for it: %v", err)
		return "", nil, false
	}
	t.Cleanup(func() {
		// Who read the log may have it open still.
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmounting %s: %v", dir, err)
		}
	})
	return dir, func(size string) {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size="+size); err != nil {
			t.Error(err)
		}
	}, true
}

// A disk that is full ends a run: it says so at once, names the file, and leaves a log
// that can be read.
func TestFullDisks(t *testing.T) {
	t.Parallel()
	reliability.Try(t, reliability.Row{
		ID: "ends/full-disk", What: "the disk full (a small tmpfs, or the limit of a file's size) under a Delta table in a folder, and under the folder of the embedded server with table and log", Often: "once each", Effort: 1,
		Holds:    "status 1 within seconds, what is full and what to do; `bench upload` stores the rest once there is room; the log is read and marked incomplete",
		Happened: "so it was",
	})
	benchProgram(t)
	says := []string{"no room is left", "make room, or name another place"}

	// The table alone: the log lies elsewhere.
	t.Run("table", func(t *testing.T) {
		t.Parallel()
		disk, _, ok := smallDisk(t, "2m")
		if !ok {
			return
		}
		others := plant(t, disk, "others/x")
		dir := t.TempDir()
		b := start(t, dir, nil, delta("--store", filepath.Join(disk, "lake"), "--log-store", "./logs")...)
		b.endsClearly(t, ending{1, append(says, "no space left on device", filepath.Join(disk, "lake")), true}, filepath.Join(dir, "logs", "mine"), nil)
		others.unharmed(t)
	})

	// The same for a user who may mount nothing: a data file grows beyond what a file
	// may have, since the rate does.
	t.Run("table, by the limit of a file", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		cmd := exec.Command("sh", "-c", `ulimit -f 400 && exec "$0" "$@"`, benchProgram(t))
		b := startWith(t, cmd, dir, nil, "run", "--queue", "delta", "--rate-profile", "0s:500,2s:20000", "--arrivals", "poisson", "--duration", "60s", "--drain-timeout", "5s",
			"--commit-interval", "200ms", "--part-age", "500ms", "--quiet", "--calibrate=false", "--run-id", "mine", "--store", "./lake", "--log-store", "./logs")
		b.endsClearly(t, ending{1, append(says, "file too large"), true}, filepath.Join(dir, "logs", "mine"), nil)
	})

	// Table and log in the folder of the embedded server: the table makes room for the
	// log when it is removed.
	t.Run("data", func(t *testing.T) {
		t.Parallel()
		disk, _, ok := smallDisk(t, "2m")
		if !ok {
			return
		}
		dir := t.TempDir()
		data := filepath.Join(disk, "data")
		b := start(t, dir, nil, delta("--data", data)...)
		b.endsClearly(t, ending{1, says, true}, filepath.Join(data, "queuebench", "runs", "mine"), nil)
	})

	// The log alone: the load goes on, and what is not stored is in the spool.
	t.Run("log", func(t *testing.T) {
		t.Parallel()
		disk, grow, ok := smallDisk(t, "128k")
		if !ok {
			return
		}
		dir := t.TempDir()
		logs := filepath.Join(disk, "logs")
		b := start(t, dir, nil, "run", "--queue", "memory", "--rate", "20000", "--arrivals", "poisson", "--duration", "4s", "--part-age", "500ms", "--quiet", "--calibrate=false", "--run-id", "mine", "--log-store", logs)
		run := filepath.Join(logs, "mine")
		b.endsClearly(t, ending{1, append(says, "bench upload"), false}, run, func() (string, []string) {
			grow("64m")
			return run, nil
		})
	})
}
