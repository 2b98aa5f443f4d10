//go:build unix

package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/rawlog/logstore"
)

func TestMain(m *testing.M) {
	if text := os.Getenv(serverVariable); text != "" {
		if err := serveJetStream(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	// What runs here waits for the most part: two at once would take the time of all.
	flag.Parse()
	if err := flag.Set("test.parallel", "12"); err != nil {
		panic(err)
	}
	code := m.Run()
	if dir, _ := built(); dir != "" {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// built is the folder of bench, built once, as users have it: without the race
// detector, which it would be measured with.
var built = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "queuebench-faults-"); err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "bench"), "../../cmd/bench").CombinedOutput()
	if err != nil {
		return dir, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return dir, nil
})

func benchProgram(t testing.TB) string {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "bench")
}

// setting is an environment variable of a long target, or what `make test` takes.
func setting(name, value string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return value
}

// alongside runs a test beside the others, unless a long target asks for it by a
// variable: what that measures stands alone.
func alongside(t *testing.T, variable string) {
	if os.Getenv(variable) == "" {
		t.Parallel()
	}
}

// chosen says whether FAULTS_ONLY, names with commas, asks for a fault: by a part of
// its name, such as delta, gone or kafka/half-open. Without it all are.
func chosen(name string) bool {
	only := os.Getenv("FAULTS_ONLY")
	if only == "" {
		return true
	}
	for part := range strings.SplitSeq(only, ",") {
		if part = strings.TrimSpace(part); part != "" && strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// bench is bench as a process.
type bench struct {
	cmd       *exec.Cmd
	out, errs watched
	began     time.Time
	done      chan struct{}
}

// watched is output that may be read while it is written.
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

// start starts bench in a folder with further variables. It ends with the test at
// the latest.
func start(t testing.TB, dir string, env []string, args ...string) *bench {
	t.Helper()
	return startWith(t, exec.Command(benchProgram(t)), dir, env, args...)
}

// startWith is start of a command that becomes bench.
func startWith(t testing.TB, cmd *exec.Cmd, dir string, env []string, args ...string) *bench {
	t.Helper()
	cmd.Args = append(cmd.Args, args...)
	p := &bench{cmd: cmd, began: time.Now(), done: make(chan struct{})}
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "AWS_EC2_METADATA_DISABLED=true", "HOME="+dir), env...)
	cmd.Stdout, cmd.Stderr = &p.out, &p.errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // ProcessState says it
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // fails only if it has ended
		<-p.done
	})
	return p
}

// ends waits for the end of a process, within a limit that only a hang reaches, and
// says its exit status.
func (p *bench) ends(t testing.TB, limit time.Duration) (status int) {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(limit):
		t.Fatalf("it did not end within %v:\n%s%s", limit, p.out.String(), p.errs.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *bench) kill() {
	_ = p.cmd.Process.Kill() // fails only if it has ended
	<-p.done
}

// ended says whether it has.
func (p *bench) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// outcome is what a test reads of the JSON of bench.
type outcome struct {
	Complete bool     `json:"complete"`
	Broken   []string `json:"broken"`
	Unsent   []string `json:"unsent"`
	Steps    []struct {
		Accounting rawlog.Accounting `json:"accounting"`
	} `json:"steps"`
}

// accounting is that of the one step of a run that was started with --json.
func (p *bench) accounting(t testing.TB) (outcome, rawlog.Accounting) {
	t.Helper()
	var r outcome
	line := p.out.String()
	if i := strings.IndexByte(line, '{'); i < 0 || json.NewDecoder(strings.NewReader(line[i:])).Decode(&r) != nil || len(r.Steps) != 1 {
		t.Fatalf("status %d:\n%s%s", p.cmd.ProcessState.ExitCode(), line, p.errs.String())
	}
	return r, r.Steps[0].Accounting
}

// addsUp holds the sums of a run of so many messages.
func addsUp(t testing.TB, a rawlog.Accounting, scheduled int64) {
	t.Helper()
	if a.Scheduled != scheduled || a.Attempted+a.Overrun != scheduled || a.Acked+a.Failed+a.Unconfirmed != a.Attempted {
		t.Errorf("it does not add up: %+v of %d", a, scheduled)
	}
}

// await waits until something holds.
func await(t testing.TB, what string, p *bench, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if holds() {
			return
		}
		if p != nil && p.ended() {
			t.Fatalf("%s did not happen, and it ended:\n%s%s", what, p.out.String(), p.errs.String())
		}
		if time.Now().After(end) {
			t.Fatalf("%s did not happen in a minute", what)
		}
	}
}

// hasParts says whether a table of the log in a folder has a part that is closed.
func hasParts(run, table string) bool {
	found, _ := filepath.Glob(filepath.Join(run, table, "*", "*", "part-*.parquet"))
	return len(found) > 0
}

// readable reads a log in a folder as analyze does, and holds that its sums are
// whole.
func readable(t testing.TB, run string) *analysis.Summary {
	t.Helper()
	src, err := logstore.Open(t.Context(), run, objectstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	digest, err := analysis.Read(t.Context(), src, analysis.Options{})
	if errors.Is(err, analysis.ErrNoData) {
		return nil
	}
	if err != nil {
		t.Fatalf("%s: %v", run, err)
	}
	none := time.Duration(0)
	summary := analysis.Summarize(digest, analysis.View{Warmup: &none})
	for _, s := range summary.Steps {
		for _, f := range s.Findings {
			if f.ID == "accounting-breach" {
				t.Errorf("%s: its sums are breached: %s", run, f.Text)
			}
		}
	}
	return &summary
}

// message is one message of a run.
type message struct{ producer, seq int64 }

// messages are the messages in a table of a log in a folder, and how often each is
// there; of sent only those that were acknowledged.
func messages(t testing.TB, run, table string) map[message]int {
	t.Helper()
	all := map[message]int{}
	columns := []string{"producer", "seq"}
	if table == rawlog.Sent.Name {
		columns = append(columns, "status")
	}
	parts, _ := filepath.Glob(filepath.Join(run, table, "*", "*", "part-*.parquet"))
	for _, name := range parts {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		part, err := rawlog.OpenPart(rawlog.Memory(body), columns...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for part.Next() {
			c := part.Columns()
			for i := range part.Len() {
				if len(c) < 3 || c[2].String(i) == rawlog.StatusAcked {
					all[message{c[0].Ints[i], c[1].Ints[i]}]++
				}
			}
		}
		if part.Err() != nil {
			t.Fatalf("%s: %v", name, part.Err())
		}
	}
	return all
}

// foreigners are files of others beside ours, which nothing may touch.
type foreigners map[string]string

// plant writes files below a folder, and remembers them.
func plant(t testing.TB, dir string, names ...string) foreigners {
	t.Helper()
	all := foreigners{}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		all[path] = "what " + name + " holds is none of ours"
		if err := os.WriteFile(path, []byte(all[path]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// unharmed holds that they are what they were.
func (f foreigners) unharmed(t testing.TB) {
	t.Helper()
	for path, want := range f {
		if body, err := os.ReadFile(path); err != nil || string(body) != want {
			t.Errorf("%s was touched: %q, %v", path, body, err)
		}
	}
}
