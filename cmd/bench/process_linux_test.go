package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"queuebench/rawlog"
)

// process is bench as a process of its own.
type process struct {
	cmd    *exec.Cmd
	stdout watched
	stderr watched
	done   chan struct{}
}

// watched is output that a test waits for.
type watched struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// startBench starts bench in the current folder. It ends with the test at the
// latest.
func startBench(t *testing.T, args ...string) *process {
	t.Helper()
	return startIn(t, "", append(os.Environ(), asProcess+"=1"), uncalibrated(args)...)
}

// startIn starts bench in a folder, the current one if it is empty.
func startIn(t *testing.T, dir string, env []string, args ...string) *process {
	t.Helper()
	return startTo(t, dir, env, nil, args...)
}

// startTo starts bench with its results going to a file, kept if it is nil.
func startTo(t *testing.T, dir string, env []string, stdout *os.File, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0], args...), done: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = dir, env
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if stdout != nil {
		p.cmd.Stdout = stdout
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		p.cmd.Wait()
	}()
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		<-p.done
	})
	return p
}

// await waits until something holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("%s did not happen in 30 s", what)
}

func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// firstPart waits for the first stored part of a table of run "mine".
func firstPart(t *testing.T, table string) {
	t.Helper()
	await(t, "a part of "+table, func() bool {
		for _, f := range filesBelow(runFolder) {
			if strings.Contains(f, table) && strings.HasSuffix(f, ".parquet") {
				return true
			}
		}
		return false
	})
}

var runFolder = filepath.Join(defaultData, embeddedBucket, runsPrefix, "mine")

// lags are send lag and what of it the queue caused, per message, of the run
// "mine".
func lags(t *testing.T) (lag, blocked []int64) {
	t.Helper()
	for _, f := range filesBelow(filepath.Join(runFolder, "sent")) {
		body, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		part, err := rawlog.OpenPart(rawlog.Memory(body), "intended_ns", "sent_ns", "blocked_ns")
		if err != nil {
			t.Fatal(err)
		}
		for part.Next() {
			for i := range part.Len() {
				lag = append(lag, part.Columns()[1].Ints[i]-part.Columns()[0].Ints[i])
				blocked = append(blocked, part.Columns()[2].Ints[i])
			}
		}
		if part.Err() != nil {
			t.Fatal(part.Err())
		}
	}
	return lag, blocked
}

// Trap 3: the runner is stopped for 100 ms: it appears as send lag that is the
// runner's own.
func TestTrap03AStoppedRunnerShowsAsItsOwnSendLag(t *testing.T) {
	bareEnvironment(t)
	const stopped = 300 * time.Millisecond
	p := startBench(t, "run", "--queue", "memory", "--rate", "1000", "--duration", "3s", "--run-id", "mine")
	await(t, "progress", func() bool { return strings.Contains(p.stderr.String(), " load ") })
	// One is enough: a stop that falls into a call of the queue's client is told
	// from a client that blocks.
	p.signal(t, syscall.SIGSTOP)
	time.Sleep(stopped)
	p.signal(t, syscall.SIGCONT)
	<-p.done
	if p.cmd.ProcessState.ExitCode() != 0 {
		t.Fatalf("status %d, stderr %s", p.cmd.ProcessState.ExitCode(), p.stderr.String())
	}
	lag, blocked := lags(t)
	if len(lag) != 3000 {
		t.Errorf("%d messages have a row", len(lag))
	}
	var own, late int64
	for i := range lag {
		if lag[i] < 0 {
			t.Errorf("a message was sent %d ns early", -lag[i])
		}
		own = max(own, lag[i]-blocked[i])
		if lag[i]-blocked[i] > int64(10*time.Millisecond) {
			late++
		}
	}
	// One message a millisecond fell due meanwhile.
	if own < int64(stopped*9/10) || late < 200 {
		t.Errorf("the runner stood still for %v: own lag at most %v, %d messages late", stopped, time.Duration(own), late)
	}
}

// Trap 12, as a user sees it: Ctrl-C.
func TestTrap12CtrlCEndsTheRunWithin2s(t *testing.T) {
	bareEnvironment(t)
	p := startBench(t, "sweep", "--rates", "1000,2000", "--duration", "60s", "--run-id", "mine")
	await(t, "progress", func() bool { return strings.Contains(p.stderr.String(), " load ") })
	interrupted := time.Now()
	p.signal(t, os.Interrupt)
	<-p.done
	if took := time.Since(interrupted); took > 3*time.Second { // the log within 2 s, then the table is removed
		t.Errorf("it ended %v after the interrupt", took)
	}
	if status := p.cmd.ProcessState.ExitCode(); status != 130 || !strings.Contains(p.stderr.String(), "interrupted") {
		t.Errorf("status %d, stderr %s", status, p.stderr.String())
	}
	m, rows := readLog(t, lastLine(p.stdout.String()))
	if m.Complete || m.Reason != "interrupted" || len(m.Steps) != 1 || time.Duration(m.EndedNs-interrupted.UnixNano()) > 2*time.Second {
		t.Errorf("complete %v, reason %q, %d steps, closed after %v", m.Complete, m.Reason, len(m.Steps), time.Duration(m.EndedNs-interrupted.UnixNano()))
	}
	a := m.Steps[0].Accounting
	if a.Scheduled != a.Attempted+a.Overrun || a.Attempted != a.Acked+a.Failed+a.Unconfirmed || rows["sent"] != a.Scheduled || a.Acked == 0 {
		t.Errorf("accounting %+v, rows %v", a, rows)
	}
	if left := filesBelow(filepath.Join(defaultData, embeddedBucket, tablesPrefix)); len(left) > 0 {
		t.Errorf("the table was not removed: %q", left)
	}
}

// TestKill9LeavesAReadableLog kills a run, reads what it left, removes its
// table with clean and stores its spool with upload.
func TestKill9LeavesAReadableLog(t *testing.T) {
	bareEnvironment(t)
	p := startBench(t, "sweep", "--rates", "1000", "--duration", "60s", "--run-id", "mine")
	for _, table := range []string{"sent", "received"} {
		firstPart(t, table)
	}
	for _, run := range []string{"./" + runFolder, "mine"} {
		if status, stdout, stderr := bench(t, "clean", run, "--log"); status != 1 || stdout != "" || !strings.Contains(stderr, "has not ended") {
			t.Errorf("clean of a run under way: status %d, %s%s", status, stdout, stderr)
		}
	}
	p.signal(t, os.Kill)
	<-p.done

	m, rows := readLog(t, runFolder)
	if m.Complete || m.EndedNs != 0 || rows["sent"] == 0 || rows["received"] == 0 {
		t.Errorf("complete %v, ended %d, rows %v", m.Complete, m.EndedNs, rows)
	}
	table := filepath.Join(defaultData, embeddedBucket, tablesPrefix, "mine")
	left := len(filesBelow(table))
	if left == 0 {
		t.Fatal("the killed run left no table")
	}
	neighbour := filepath.Join(defaultData, embeddedBucket, tablesPrefix, "mine-too", "x")
	if err := os.MkdirAll(filepath.Dir(neighbour), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(neighbour, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	spool := filepath.Join(defaultSpool, "mine")
	if open := filesBelow(spool); len(open) == 0 {
		t.Error("the killed run left no open part")
	}
	// Nothing in the spool can be stored, and it may belong to a run that lives.
	if status, stdout, stderr := bench(t, "upload", spool); status != 1 || stdout != "" || !strings.Contains(stderr, "without a footer it cannot be read") {
		t.Errorf("upload of open parts: status %d, %s%s", status, stdout, stderr)
	}
	if status, stdout, stderr := bench(t, "clean", "./"+runFolder, "--force"); status != 0 || len(filesBelow(table)) != 0 || !strings.Contains(stdout, "parts that were never closed") {
		t.Errorf("clean: status %d, %s%s, left %q", status, stdout, stderr, filesBelow(table))
	}
	if _, err := os.Stat(spool); err == nil {
		t.Errorf("the spool still holds %q", filesBelow(spool))
	}
	if _, err := os.Stat(neighbour); err != nil {
		t.Errorf("clean touched another run: %v", err)
	}
	if again, _ := readLog(t, runFolder); again.Run != "mine" {
		t.Error("clean touched the log")
	}
	if status, _, stderr := bench(t, "clean", "mine", "--log", "--force"); status != 0 || len(filesBelow(runFolder)) != 0 {
		t.Errorf("clean --log: status %d, %s", status, stderr)
	}
}

// What lies in a spool after a kill: parts to store, and open ones.
func TestUploadRemovesOpenParts(t *testing.T) {
	bareEnvironment(t)
	spool := filepath.Join(defaultSpool, "mine")
	open := filepath.Join(spool, "sent", "step=0", "repeat=0", "part-producer-0-1.parquet.open")
	leave := func(name, body string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, closed := range []bool{true, false} {
		leave(open, "PAR1…")
		args := []string{"upload", spool, "--force"}
		if closed {
			leave(strings.TrimSuffix(open, "1.parquet.open")+"0.parquet", "x")
			args = append(args, "--to", "./logs/mine")
		}
		status, stdout, stderr := bench(t, args...)
		if _, err := os.Stat(spool); status != 0 || err == nil || !strings.Contains(stderr, "1 parts were open when the run was killed") {
			t.Errorf("status %d, %s%s, left %q", status, stdout, stderr, filesBelow(spool))
		}
		if closed && !strings.HasPrefix(stdout, "sent/step=0/repeat=0/part-producer-0-0.parquet\n") {
			t.Errorf("stored %q", stdout)
		}
	}
	// One that was written to lately stays, and what can be stored is.
	leave(open, "PAR1…")
	leave(strings.TrimSuffix(open, "1.parquet.open")+"0.parquet", "x")
	status, stdout, stderr := bench(t, "upload", spool, "--to", "./logs/mine")
	if left := filesBelow(spool); status != 0 || len(left) != 1 || left[0] != open || !strings.Contains(stderr, "say --force") || !strings.HasSuffix(strings.TrimSpace(stdout), "logs/mine") {
		t.Errorf("status %d, %s%s, left %q", status, stdout, stderr, left)
	}
}

// hangingStore is an S3 server that takes everything until it hangs.
func hangingStore(t *testing.T) (endpoint string, hang func()) {
	hanging, ended := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		select {
		case <-hanging:
			<-ended
			return
		default:
		}
		switch {
		case r.Method == http.MethodPut:
			w.Header().Set("ETag", `"x"`)
		case r.URL.Query().Has("list-type"):
			io.WriteString(w, `<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name><KeyCount>0</KeyCount><MaxKeys>1</MaxKeys><IsTruncated>false</IsTruncated></ListBucketResult>`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(func() {
		close(ended)
		server.Close()
	})
	return server.URL, sync.OnceFunc(func() { close(hanging) })
}

// startOnHangingStore starts a run whose log's store hangs by the time that it
// is interrupted.
func startOnHangingStore(t *testing.T) *process {
	t.Helper()
	t.Setenv("MINIO_S3_ACCESS_KEY", "a")
	t.Setenv("MINIO_S3_SECRET_ACCESS_KEY", "verysecret")
	endpoint, hang := hangingStore(t)
	p := startBench(t, "run", "--queue", "memory", "--rate", "1000", "--duration", "60s", "--run-id", "mine", "--log-store", "s3://bucket?endpoint="+endpoint)
	await(t, "progress or an end", func() bool {
		select {
		case <-p.done:
			t.Fatalf("it ended: %s", p.stderr.String())
		default:
		}
		return strings.Contains(p.stderr.String(), " load ")
	})
	hang()
	p.signal(t, os.Interrupt)
	return p
}

func TestASecondCtrlCEndsTheProcessAtOnce(t *testing.T) {
	bareEnvironment(t)
	p := startOnHangingStore(t)
	time.Sleep(100 * time.Millisecond) // the first is being served
	p.signal(t, os.Interrupt)
	<-p.done
	if status := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGINT {
		t.Errorf("the second interrupt did not end the process: %v, stderr %s", p.cmd.ProcessState, p.stderr.String())
	}
}

func TestCtrlCWhileTheLogsStoreHangsSpoolsAndSaysHowToUpload(t *testing.T) {
	bareEnvironment(t)
	p := startOnHangingStore(t)
	<-p.done
	spool, err := filepath.Abs(filepath.Join("queuebench-spool", "mine"))
	if err != nil {
		t.Fatal(err)
	}
	if code, text := p.cmd.ProcessState.ExitCode(), p.stderr.String(); code != 130 || !strings.Contains(text, "bench upload "+spool) || strings.Contains(text, "verysecret") {
		t.Errorf("status %d, stderr %s", code, text)
	}
	status, stdout, stderr := bench(t, "upload", spool, "--to", "./logs/mine")
	if status != 0 {
		t.Fatalf("upload: status %d, stderr %s", status, stderr)
	}
	m, rows := readLog(t, lastLine(stdout))
	// Parts that the store took before it hung are not in the spool.
	if m.Complete || m.Reason != "interrupted" || rows["sent"] == 0 || rows["sent"] > m.Steps[0].Accounting.Scheduled {
		t.Errorf("complete %v, reason %q, rows %v", m.Complete, m.Reason, rows)
	}
	if left := filesBelow(spool); len(left) > 0 {
		t.Errorf("left in the spool: %q", left)
	}
}
