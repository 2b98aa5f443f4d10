//go:build unix

package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"queuebench/internal/secret"
)

// asServer makes the test's program a server on a port.
const asServer = "QUEUEBENCH_TEST_AS_SERVER"

func TestMain(m *testing.M) {
	if port := os.Getenv(asServer); port != "" {
		http.Handle("/", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, os.Getpid()) }))
		fmt.Println("listening on", port)
		fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+port, nil))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// rig is an environment whose events are kept.
type rig struct {
	*Environment
	mu     sync.Mutex
	events []string
}

func newRig(t *testing.T, text string) *rig {
	t.Helper()
	f, err := read(text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := NewVariables(f, os.Args[0], "r1", &secret.Known{})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{}
	r.Environment = NewEnvironment(f, v, func(actor, kind, text string, _ time.Duration) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, actor+" "+kind+": "+text)
	})
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) all() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.events, "\n")
}

// file reads a file of the run's folder.
func (r *rig) file(name string) string {
	body, err := os.ReadFile(filepath.Join(r.vars.dir, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(body))
}

// alive says that a process is there and is no zombie.
func alive(pid int) bool {
	body, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return errors.Is(syscall.Kill(pid, 0), nil) && !errors.Is(err, os.ErrNotExist)
	}
	_, after, _ := strings.Cut(string(body), ") ")
	return !strings.HasPrefix(after, "Z")
}

// soon waits until something is so.
func soon(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("not within 10 s: %s", what)
}

const server = `
ports: [web]
environment:
  - name: web
    start: ["${bench}"]
    env: {QUEUEBENCH_TEST_AS_SERVER: "${port.web}"}
    ready: {http: "http://127.0.0.1:${port.web}/", status: 200, timeout: 20s}
    grace: 200ms
`

func (r *rig) ask() (pid string, err error) {
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 300 * time.Millisecond}
	answer, err := c.Get(fmt.Sprintf("http://127.0.0.1:%d/", r.vars.ports["web"]))
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return string(body), err
}

func TestAProcessIsReadyKeepsItsOutputAndIsEnded(t *testing.T) {
	r := newRig(t, server)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	pid, err := r.ask()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if n, _ := strconv.Atoi(pid); alive(n) {
		t.Errorf("process %s is still there", pid)
	}
	if text := r.all(); !strings.Contains(text, "web output: listening on "+strconv.Itoa(r.vars.ports["web"])) || !strings.Contains(text, "web start: ready") || !strings.Contains(text, "web end: signal: terminated") {
		t.Errorf("events\n%s", text)
	}
	if len(r.Failures()) > 0 {
		t.Errorf("failures %q", r.Failures())
	}
}

// All that a process starts in its group ends with it: also when it does not
// hear SIGTERM, when it ends first, and when it was stopped.
func TestTheWholeGroupIsEnded(t *testing.T) {
	for name, script := range map[string]string{
		"a child":                 "sleep 300 & echo $! > $BENCH_DIR/pid; wait",
		"deaf to SIGTERM":         "trap '' TERM; sleep 300 & echo $! > $BENCH_DIR/pid; while true; do sleep 0.05; done",
		"the leader ends first":   "sleep 300 & echo $! > $BENCH_DIR/pid; sleep 0.2",
		"stopped, deaf, a child":  "trap '' TERM; sleep 300 & echo $! > $BENCH_DIR/pid; kill -STOP $$",
		"output is held open too": "sleep 300 & echo $! > $BENCH_DIR/pid; exec sleep 300",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "environment:\n- {name: p, start: {shell: \""+script+"\"}, grace: 100ms}")
			if err := r.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			soon(t, "the child's number", func() bool { return r.file("pid") != "" })
			child, err := strconv.Atoi(r.file("pid"))
			if err != nil {
				t.Fatal(err)
			}
			if name == "the leader ends first" {
				soon(t, "the failure", func() bool { return len(r.Failures()) == 1 })
			} else if !alive(child) {
				t.Error("the child has ended already")
			}
			if err := r.Close(t.Context()); err != nil {
				t.Error(err)
			}
			soon(t, "the child's end", func() bool { return !alive(child) })
		})
	}
}

func TestCloseEndsWhatWasStartedAfterAnErrorAndAnInterrupt(t *testing.T) {
	r := newRig(t, `
environment:
- {name: a, start: [sleep, 300], stop: {shell: "echo a >> $BENCH_DIR/stopped"}}
- {name: b, run: {shell: "echo b"}, stop: {shell: "echo b >> $BENCH_DIR/stopped"}}
- {name: c, run: {shell: "echo broken >&2; exit 3"}, stop: {shell: "echo c >> $BENCH_DIR/stopped"}}
- {name: d, run: [true], stop: {shell: "echo d >> $BENCH_DIR/stopped"}}
`)
	ctx, cancel := context.WithCancel(t.Context())
	err := r.Start(ctx)
	if err == nil || !strings.Contains(err.Error(), "s.yaml:5: c: exit status 3; it said: broken") {
		t.Errorf("%v", err)
	}
	cancel()
	if err := r.Close(ctx); err != nil {
		t.Error(err)
	}
	if got := strings.Fields(r.file("stopped")); !slices.Equal(got, []string{"c", "b", "a"}) {
		t.Errorf("stopped %q, want what was begun, in the opposite order", got)
	}
}

func TestStartErrors(t *testing.T) {
	for text, want := range map[string]string{
		"{name: p, start: [no-such-program-here]}":                                               "p: exec: \"no-such-program-here\": executable file not found",
		"{name: p, run: [sleep, 300], timeout: 50ms}":                                            "p did not end within 50ms",
		"{name: p, run: [false]}":                                                                "p: exit status 1",
		"{name: p, start: {shell: \"echo why; exit 2\"}, ready: {tcp: \"127.0.0.1:1\"}}":         "it ended before it was ready: exit status 2; it said: why",
		"{name: p, start: [sleep, 300], ready: {tcp: \"127.0.0.1:1\", timeout: 100ms}}":          "it was not ready within 100ms: dial tcp",
		"{name: p, start: [sleep, 300], ready: {command: [false], timeout: 200ms}}":              "it was not ready within 200ms: p ready: exit status 1",
		"{name: p, start: [sleep, 300], ready: {http: \"http://127.0.0.1:1/\", timeout: 100ms}}": "it was not ready within 100ms: Get",
		"{name: p, start: [sleep, 300], directory: /absent/folder}":                              "p: directory: stat /absent/folder: no such file",
		"{name: p, start: [\"${env.QB_ABSENT_VARIABLE}\"]}":                                      "QB_ABSENT_VARIABLE is not set",
	} {
		r := newRig(t, "environment:\n- "+text)
		if err := r.Start(t.Context()); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "s.yaml:2: ") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestReadyByTCPAndByCommand(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := newRig(t, "environment:\n- {name: a, start: [sleep, 300], ready: {tcp: \""+l.Addr().String()+"\"}}\n"+
		"- {name: b, start: {shell: \"sleep 0.2; touch $BENCH_DIR/up; exec sleep 300\"}, ready: {command: {shell: \"test -e $BENCH_DIR/up\"}}}")
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.vars.dir, "up")); err != nil {
		t.Errorf("taken for ready too early: %v", err)
	}
}

func TestOutputIsBoundedAndWhatIsCutIsCounted(t *testing.T) {
	r := newRig(t, `
env: {KEY: "${secret.k}"}
environment:
- name: p
  run: {shell: "echo key=$KEY; i=0; while [ $i -lt 100 ]; do echo line $i; i=$((i+1)); done; head -c 3000 /dev/zero | tr '\\0' x; printf '\\377 end'"}
  output: 50
`)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	text := r.all()
	if !strings.Contains(text, "p output: key=***\n") || !strings.Contains(text, "line 6\n") || strings.Contains(text, "line 7\n") {
		t.Errorf("events\n%s", text)
	}
	// "line 7" to "line 9", "line 10" to "line 99", 3000 x and "\uFFFD end".
	if want := fmt.Sprintf("… %d more bytes of output were not kept", 3*6+90*7+3000+len("\uFFFD end")); !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}

func FuzzOutput(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n"), 3, 5)
	f.Add([]byte(strings.Repeat("x", 3000)), 1000, 4000)
	f.Fuzz(func(t *testing.T, body []byte, cut, limit int) {
		kept := 0
		o := newOutput(max(0, limit), func(s string) string { return s }, func(line string) {
			if len(line) > 3*maxLine || strings.ContainsRune(line, '\n') {
				t.Fatalf("line of %d bytes", len(line))
			}
			if !strings.HasPrefix(line, "… ") {
				kept += len(line)
			}
		})
		at := min(max(0, cut), len(body))
		o.write(body[:at])
		o.write(body[at:])
		o.end()
		if kept > max(0, limit) {
			t.Fatalf("%d bytes kept of at most %d", kept, limit)
		}
	})
}

func TestFinishWaitsForWhatEndsByItself(t *testing.T) {
	r := newRig(t, "environment:\n- {name: good, start: [sleep, 0.1], finish: 10s}\n- {name: bad, start: {shell: \"sleep 0.1; exit 4\"}, finish: 10s}\n- {name: long, start: [sleep, 300], finish: 200ms}")
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Finish(t.Context()); err == nil || !strings.Contains(err.Error(), "process long did not end by itself within 200ms") || strings.Contains(err.Error(), "good") {
		t.Errorf("%v", err)
	}
	if f := r.Failures(); len(f) != 1 || !strings.Contains(f[0], "process bad ended by itself: exit status 4") {
		t.Errorf("failures %q", f)
	}
}
