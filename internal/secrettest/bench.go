package secrettest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Bench builds bench and runs it in an empty folder, with additions to the
// environment, as a process of its own. It fails where a secret stands in anything
// that the run wrote or printed, or in what the list of processes shows of it, and
// where the run has another exit status.
func (m Marks) Bench(t testing.TB, status int, environ []string, args ...string) {
	t.Helper()
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	program, dir := filepath.Join(t.TempDir(), "bench"), t.TempDir()
	build := exec.Command("go", "build", "-o", program, "./cmd/bench")
	build.Dir = filepath.Dir(strings.TrimSpace(string(mod)))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "HOME="+dir), environ...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// It is there from the moment on that the process is.
	shown, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid), "cmdline"))
	// One that has ended already shows nothing.
	if err != nil || len(shown) > 0 && !bytes.Contains(shown, []byte("bench")) {
		t.Errorf("the list of processes shows %q, %v", shown, err)
	}
	_ = cmd.Wait() // the status says it
	if got := cmd.ProcessState.ExitCode(); got != status {
		t.Errorf("bench %q: status %d, expected %d\n%s%s", args, got, status, stdout.Bytes(), stderr.Bytes())
	}
	if files := m.Search(t, dir, map[string]string{"standard output": stdout.String(), "standard error": stderr.String(), "the list of processes": string(shown)}); status == 0 && files < 3 {
		t.Errorf("only %d files were searched", files)
	}
}
