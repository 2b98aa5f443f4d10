package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"queuebench/internal/versitygw"
	"queuebench/rawlog"
)

// stage is a place where a scenario runs as a user runs it: bench as a process
// in a folder of its own, with versitygw in the path.
type stage struct {
	dir string // of the run; temporary files lie below it
	env []string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	program, err := versitygw.Program()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{dir: t.TempDir()}
	bin, tmp := filepath.Join(s.dir, "bin"), filepath.Join(s.dir, "tmp")
	for _, d := range []string{bin, tmp} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(program, filepath.Join(bin, "versitygw")); err != nil {
		t.Fatal(err)
	}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "AWS_") && !strings.HasPrefix(kv, "MINIO_") {
			s.env = append(s.env, kv)
		}
	}
	s.env = append(s.env, asProcess+"=1", "TMPDIR="+tmp, "HOME="+s.dir, "AWS_EC2_METADATA_DISABLED=true", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return s
}

// start starts bench on the stage.
func (s *stage) start(t *testing.T, args ...string) *process {
	t.Helper()
	return startIn(t, s.dir, s.env, args...)
}

// clear checks that nothing of a scenario is left: neither a process whose
// command line names its folder, nor the folder.
func (s *stage) clear(t *testing.T) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range lines {
		if body, err := os.ReadFile(path); err == nil && bytes.Contains(body, []byte(s.dir)) {
			t.Errorf("%s is left: %s", path, bytes.ReplaceAll(body, []byte{0}, []byte(" ")))
		}
	}
	if left, err := filepath.Glob(filepath.Join(s.dir, "tmp", "queuebench-scenario-*")); err != nil || len(left) > 0 {
		t.Errorf("left %q, %v", left, err)
	}
}

// shippedScenarios are what each scenario that comes with the project must show,
// and the flags that make it short.
var shippedScenarios = map[string]struct {
	flags string
	check func(t *testing.T, status int, r jsonResult)
}{
	"store-stops-5s.yaml":  {"", checkStoreStops},
	"consumers-1-4.yaml":   {"--duration 2s --rate 3000", checkConsumers},
	"optimisations.yaml":   {"--duration 1s --rates 500", checkOptimisations},
	"consumer-killed.yaml": {"", checkConsumerKilled},
}

func TestEachShippedScenarioRuns(t *testing.T) {
	seen := 0
	for _, path := range shippedIn(t, "scenarios") {
		name := filepath.Base(path)
		if strings.Contains(name, "compose") {
			continue // needs Docker: it is parsed by another test
		}
		if strings.Contains(name, "kafka") || strings.Contains(name, "jetstream") {
			continue // interop/kafka runs it
		}
		if strings.Contains(name, "rabbitmq") {
			continue // TestAKilledServerOnRabbitMQ runs it, where there is one
		}
		seen++
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they mostly wait
			c, ok := shippedScenarios[name]
			if !ok {
				t.Fatal("add what this scenario must show to this test")
			}
			s := newStage(t)
			p := s.start(t, append([]string{"scenario", path, "--json"}, strings.Fields(c.flags)...)...)
			select {
			case <-p.done:
			case <-time.After(3 * time.Minute):
				t.Fatalf("it does not end: %s", p.stderr.String())
			}
			status := p.cmd.ProcessState.ExitCode()
			if p.stdout.String() == "" {
				t.Fatalf("status %d, %s", status, p.stderr.String())
			}
			c.check(t, status, jsonOf(t, p.stdout.String()))
			s.clear(t)
			if t.Failed() {
				t.Logf("status %d, stderr %s\nstdout %s", status, p.stderr.String(), p.stdout.String())
			}
		})
	}
	if seen < len(shippedScenarios) {
		t.Errorf("%d of %d scenarios are there", seen, len(shippedScenarios))
	}
}

// checkStoreStops lets the time to recover be what it is: other tests share the
// machine.
func checkStoreStops(t *testing.T, status int, r jsonResult) {
	recovered := false
	for _, v := range r.Scenario.Verdicts {
		switch v.Expectation {
		case "lost: 0", "duplicates: 0":
			if v.State != "held" {
				t.Errorf("%+v", v)
			}
		case "recovered_within: 10s":
			recovered = true
			if d, err := time.ParseDuration(strings.TrimPrefix(v.Found, "not within ")); err == nil && d < 4*time.Second || v.Fault != "the store stops for 5s" {
				t.Errorf("recovered while the store was stopped: %+v", v)
			}
			if (v.State == "held") != (status == 0) {
				t.Errorf("status %d with %+v", status, v)
			}
		}
	}
	if len(r.Scenario.Verdicts) != 3 || !recovered {
		t.Errorf("verdicts %+v", r.Scenario.Verdicts)
	}
	if a := r.Steps[0].Accounting; a.Acked != a.Scheduled || a.Received != a.Scheduled {
		t.Errorf("accounting %+v", a)
	}
	// A message that was due while the store was stopped waited for it.
	if max := time.Duration(r.Steps[0].EndToEnd.MaxNs); max < 4*time.Second {
		t.Errorf("the longest latency is %v: the store did not stop for 5 s", max)
	}
	faults := 0
	for _, e := range eventsOf(t, r.Address) {
		if e.Kind == "fault" && e.Actor == "store" && e.DurationNs == int64(5*time.Second) {
			faults++
		}
	}
	if faults != 1 {
		t.Errorf("%d events of the fault", faults)
	}
}

func checkConsumers(t *testing.T, status int, r jsonResult) {
	s := r.Scenario.Scaling
	if status != 0 || s == nil || s.Setting != "consumers" || len(s.Rows) != 4 {
		t.Fatalf("status %d, %+v", status, s)
	}
	first, last := s.Rows[0], s.Rows[3]
	// Consumers sleep for each message, so four take more than one on any machine.
	if first.Efficiency != 1 || last.Ratio < 1.5 || last.Efficiency != last.Ratio/4 {
		t.Errorf("%+v", s.Rows)
	}
	for _, step := range r.Steps {
		if a := step.Accounting; a.Received != a.Scheduled {
			t.Errorf("consumers %s: %+v", step.Settings["consumers"], a)
		}
	}
}

func checkOptimisations(t *testing.T, status int, r jsonResult) {
	if status != 0 {
		t.Errorf("status %d", status)
	}
	applied, not := 0, 0
	for _, o := range r.Scenario.Options {
		switch {
		case o.NotApplicable != "":
			not++
			if !strings.Contains(o.NotApplicable, "queue delta has no ") {
				t.Errorf("%+v", o)
			}
		case o.Alone == nil || o.Alone.Before.Throughput <= 0 || o.Alone.After.Throughput <= 0:
			t.Errorf("%s: %+v", o.Name, o.Alone)
		default:
			applied++
		}
	}
	if applied < 4 || not < 2 {
		t.Errorf("%d apply and %d do not: %+v", applied, not, r.Scenario.Options)
	}
}

func checkConsumerKilled(t *testing.T, status int, r jsonResult) {
	if status != 0 || len(r.Scenario.Verdicts) != 2 {
		t.Errorf("status %d, %+v", status, r.Scenario.Verdicts)
	}
	for _, v := range r.Scenario.Verdicts {
		if v.State != "held" || v.Found != "0" {
			t.Errorf("%+v", v)
		}
	}
	var kinds []string
	for _, e := range eventsOf(t, r.Address) {
		if e.Actor == "consumer" && e.Kind != "output" {
			kinds = append(kinds, e.Kind+": "+e.Text)
		}
	}
	if text := strings.Join(kinds, "|"); !strings.Contains(text, "fault: the consumer is killed") || !strings.Contains(text, "end: signal: killed") || strings.Count(text, "start: ") < 2 {
		t.Errorf("events of the consumer: %s", text)
	}
	// The second process went on from what the first had recorded, and the two
	// together received each message once.
	body, err := os.ReadFile(filepath.Join(r.Address, rawlog.ManifestNameOf("consume")))
	if err != nil {
		t.Fatal(err)
	}
	m, err := rawlog.ReadManifest(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if !m.Complete || !strings.Contains(strings.Join(m.Warnings, "|"), "was killed and went on from") {
		t.Errorf("complete %v, warnings %q", m.Complete, m.Warnings)
	}
	if a := r.Steps[0].Accounting; a.Acked != a.Scheduled || m.Steps[0].Accounting.Received != a.Acked {
		t.Errorf("producers %+v, consumers %+v", a, m.Steps[0].Accounting)
	}
}

// After Ctrl-C all that the scenario started is ended, and the log is readable.
func TestAnInterruptedScenarioEndsWhatItStarted(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	scenario := filepath.Join(s.dir, "s.yaml")
	text := fmt.Sprintf(`
settings: {queue: memory, rate: 1000, duration: 60s}
environment:
  - name: server
    start: {shell: "trap '' TERM; echo up; sh -c 'sleep 300 && : %s'; :"}
    grace: 100ms
    stop: {shell: "touch %s/stopped"}
faults:
  - {at: 100ms, run: {shell: "echo > %s/rule"}, undo: {shell: "rm %s/rule"}, for: 50s}
  - {at: 200ms, signal: STOP, process: server, for: 50s}
`, s.dir, s.dir, s.dir, s.dir)
	if err := os.WriteFile(scenario, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p := s.start(t, "scenario", scenario)
	await(t, "the second fault", func() bool { return strings.Contains(p.stderr.String(), "fault: SIGSTOP to server") })
	await(t, "the rule", func() bool { _, err := os.Stat(filepath.Join(s.dir, "rule")); return err == nil })
	p.signal(t, syscall.SIGINT)
	select {
	case <-p.done:
	case <-time.After(30 * time.Second):
		t.Fatalf("it does not end: %s", p.stderr.String())
	}
	if status := p.cmd.ProcessState.ExitCode(); status != 130 {
		t.Errorf("status %d, %s", status, p.stderr.String())
	}
	if _, err := os.Stat(filepath.Join(s.dir, "rule")); err == nil {
		t.Error("the rule was not undone")
	}
	if _, err := os.Stat(filepath.Join(s.dir, "stopped")); err != nil {
		t.Error("the command that stops was not run")
	}
	s.clear(t)
	if m, _ := readLog(t, lastLine(p.stdout.String())); m.Complete || m.Reason != "interrupted" || len(m.Steps) != 1 {
		t.Errorf("complete %v, %q, %d steps", m.Complete, m.Reason, len(m.Steps))
	}
}
