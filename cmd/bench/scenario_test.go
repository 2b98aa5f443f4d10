package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"queuebench/internal/command"
	"queuebench/internal/yamlfile"
	"queuebench/rawlog"
	"queuebench/scenario"
	"queuebench/workload"
)

// scenarioJSON runs a scenario that stands in the current folder.
func scenarioJSON(t *testing.T, wantStatus int, text string, args ...string) (jsonResult, string) {
	t.Helper()
	fileOf(t, "s.yaml", text)
	status, stdout, stderr := bench(t, append([]string{"scenario", "s.yaml", "--json"}, args...)...)
	if status != wantStatus {
		t.Fatalf("status %d, want %d: %s", status, wantStatus, stderr)
	}
	return jsonOf(t, stdout), stderr
}

func verdictTexts(r jsonResult) string {
	var all []string
	for _, v := range r.Scenario.Verdicts {
		all = append(all, v.Expectation+" "+v.State)
	}
	return strings.Join(all, "|")
}

const quick = "settings: {queue: memory, rate: 1000, duration: 300ms}\n"

func TestVerdictsDecideTheExitStatus(t *testing.T) {
	bareEnvironment(t)
	for _, c := range []struct {
		text   string
		status int
		want   string
	}{
		{quick + "expect: {lost: 0, duplicates: 0, p50_below: 1h}", command.StatusOK, "lost: 0 held|duplicates: 0 held|p50_below: 1h0m0s held"},
		{quick + "expect: {lost: 0, p50_below: 1ns}", command.StatusBroken, "lost: 0 held|p50_below: 1ns broken"},
		{quick + "expect: {p99.999_below: 1h}", command.StatusFailed, "p99.999_below: 1h0m0s not decided"},
		{quick + "expect: {recovered_within: 5s}", command.StatusFailed, "recovered_within: 5s not decided"},
		// What is broken decides, whatever is not.
		{quick + "expect: {p99.999_below: 1h, p50_below: 1ns}", command.StatusBroken, "p99.999_below: 1h0m0s not decided|p50_below: 1ns broken"},
		{"settings: {queue: memory, rate: 1000, duration: 300ms, drop-every: 100, drain-timeout: 500ms}\nexpect: {lost: 2}", command.StatusBroken, "lost: 2 broken"},
		// A process that ends by itself is a failure, though all was held.
		{quick + "environment: [{name: p, start: [sleep, 0.05]}]\nexpect: {lost: 0}", command.StatusFailed, "lost: 0 held"},
	} {
		if r, stderr := scenarioJSON(t, c.status, c.text); verdictTexts(r) != c.want {
			t.Errorf("%s: %s, want %s\n%s", c.text, verdictTexts(r), c.want, stderr)
		}
	}
}

func TestFlagsOverrideAScenarioAndItItsWorkload(t *testing.T) {
	bareEnvironment(t)
	fileOf(t, "w.yaml", "queue: memory\nrate: 100\nduration: 10s\nproducers: 2\nconsumers: 2\n")
	r, _ := scenarioJSON(t, 0, "workload: w.yaml\nsettings: {rate: 500, consumers: 3, vary: {groups: [1, 2]}}", "--duration", "100ms", "--consumers", "4", "--run-id", "named")
	m, _ := readLog(t, r.Address)
	for name, want := range map[string]string{"rate": "500", "duration": "100ms", "producers": "2", "consumers": "4", "workload": "w.yaml", "run-id": "named", "command": "run"} {
		if m.Settings[name] != want {
			t.Errorf("%s is %q, want %q", name, m.Settings[name], want)
		}
	}
	if len(m.Steps) != 2 || len(m.Steps[1].Groups) != 2 || m.Run != "named" {
		t.Errorf("steps %+v", m.Steps)
	}
}

func TestTheEnvironmentsOutputAndFaultsAreInTheLog(t *testing.T) {
	bareEnvironment(t)
	r, stderr := scenarioJSON(t, 0, `
settings: {queue: memory, rate: 1000, duration: 800ms}
env: {QB_SCENARIO_TEST: "${secret.x}"}
environment:
  - name: early
    run: {shell: "echo before; echo secret $QB_SCENARIO_TEST"}
  - name: server
    start: {shell: "while true; do echo tick; sleep 0.1; done"}
    output: 12
faults:
  - {name: a pause, at: 200ms, signal: STOP, process: server, for: 100ms}
  - {at: 300ms, run: {shell: "echo $BENCH_RUN"}}
`)
	if os.Getenv("QB_SCENARIO_TEST") != "" {
		t.Error("the scenario's variable is still set")
	}
	var all []string
	for _, e := range eventsOf(t, r.Address) {
		_, plain, early := strings.Cut(e.Text, " earlier: ")
		if !early {
			plain = e.Text
		}
		all = append(all, e.Actor+" "+e.Kind+" "+plain)
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{"early output before", "early output secret ***", "server output tick", "server fault a pause for 100ms", "server fault over a pause for 100ms", "scenario output " + r.Run, "scenario fault a shell command"} {
		if !strings.Contains(text, want) {
			t.Errorf("no event %q in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "server output tick"); n > 3 {
		t.Errorf("%d lines of 4 bytes kept, of at most 12 bytes", n)
	}
	if !strings.Contains(stderr, "fault: a pause for 100ms") {
		t.Errorf("nothing shown of the fault: %s", stderr)
	}
}

// A load whose length nobody knows before has faults all the same, and one that
// it was too short for is told.
func TestFaultsStrikeLoadsWithoutADuration(t *testing.T) {
	bareEnvironment(t)
	const text = "command: closed\nsettings: {queue: memory, service-time: 1ms, mode: end-to-end, operations: 400}\nfaults: [{at: %s, run: [echo, struck]}]\nexpect: {lost: 0}"
	r, _ := scenarioJSON(t, command.StatusOK, fmt.Sprintf(text, "50ms"))
	if !slices.ContainsFunc(eventsOf(t, r.Address), func(e rawlog.EventRow) bool { return e.Kind == scenario.EventFault }) {
		t.Error("no fault struck")
	}
	_, stderr := scenarioJSON(t, command.StatusFailed, fmt.Sprintf(text, "1h"))
	if !strings.Contains(stderr, "s.yaml:3: the fault at 1h0m0s did not strike") {
		t.Error(stderr)
	}
}

func TestMistakesInAScenarioAreToldBeforeAnythingStarts(t *testing.T) {
	bareEnvironment(t)
	env := "environment: [{name: p, run: [touch, started]}]\n"
	for text, want := range map[string]string{
		"settings: {rat: 5}":                                               `s.yaml:2: "rat" is no setting (did you mean rate?)`,
		"settings: {rate: 5, rates: [1]}":                                  "\"rates\" is no setting of `bench run` but of `bench sweep`",
		"settings: {queue: memory}":                                        "no rate is given",
		"settings: {queue: memory, rate: 5, vary: {consumers: [0]}}":       "consumers of all groups",
		"command: clean":                                                   `command "clean" makes no load: say one of sweep, run`,
		"command: capacity\none-at-a-time: [{name: a, on: {codec: zstd}}]": "one-at-a-time needs a load of several steps, and `bench capacity` makes one",
		"workload: absent.yaml":                                            "absent.yaml",
		"settings: {queue: memory, rate: 5, duration: 1s}\nfaults: [{at: 1s, run: [true]}]": "s.yaml:3: the fault at 1s comes when the load of 1s is over",
		"settings: {queue: memory, rate: 5}\none-at-a-time: [{name: a, on: {codec: zstd}}]": "none of its one-at-a-time options is one of queue memory",
		"settings: {queue: memory, rate: 5}\none-at-a-time: [{name: a, on: {delya: 1ms}}]":  `"delya" is no setting (did you mean delay?)`,
		"settings: {queue: memory, rate: 5, duration: \"${env.QB_ABSENT}\"}":                "QB_ABSENT is not set",
	} {
		fileOf(t, "s.yaml", env+text)
		status, stdout, stderr := bench(t, "scenario", "s.yaml")
		if status == command.StatusOK || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: status %d, %s, want %q", text, status, stderr, want)
		}
	}
	if status, _, stderr := bench(t, "scenario"); status != command.StatusMisused || !strings.Contains(stderr, "name one scenario file") {
		t.Errorf("status %d, %s", status, stderr)
	}
	fileOf(t, "s.yaml", env+"settings: {queue: memory, rate: 5}")
	if status, _, stderr := bench(t, "scenario", "s.yaml", "--rates", "5"); status != command.StatusMisused || !strings.Contains(stderr, "`bench run` makes the load of this scenario: there is no flag --rates") {
		t.Errorf("status %d, %s", status, stderr)
	}
	if left := filesBelow("."); len(left) != 1 {
		t.Errorf("left %q", left)
	}
}

func TestOptionsAreSwitchedOneAtATime(t *testing.T) {
	bareEnvironment(t)
	r, stderr := scenarioJSON(t, 0, `
settings: {queue: memory, rate: 500, duration: 100ms}
one-at-a-time:
  - {name: a delay, on: {delay: 20ms}}
  - {name: slow, off: {service-time: 1us}, on: {service-time: 10us, commit-interval: 1ms}}
  - {name: twice, off: {consumers: 1}, on: {consumers: 2}}
  - {name: zero copy, on: {zero-copy: true}}
  - {name: fixed, on: {groups: 2}}
`, "--groups", "1")
	var steps, rows []string
	for _, s := range r.Steps {
		steps = append(steps, strings.Join([]string{s.Settings["variant"], s.Settings["delay"], s.Settings["service-time"], s.Settings["consumers"]}, " "))
	}
	want := "all off 0s 1us 1|only a delay 20ms 1us 1|only slow 0s 10us 1|only twice 0s 1us 2|all on 20ms 10us 2|without a delay 0s 10us 2|without slow 20ms 1us 2|without twice 20ms 10us 1"
	if got := strings.Join(steps, "|"); got != want {
		t.Errorf("steps\n%s, want\n%s", got, want)
	}
	for _, o := range r.Scenario.Options {
		rows = append(rows, o.Name+": "+o.Settings+o.NotApplicable)
	}
	want = "a delay: delay 20ms|slow: service-time 10us|twice: consumers 2|zero copy: not applicable: queue memory has no zero-copy|fixed: not switched: the command line sets groups|all together: "
	if got := strings.Join(rows, "|"); got != want {
		t.Errorf("rows\n%s, want\n%s", got, want)
	}
	alone := r.Scenario.Options[0].Alone
	if alone == nil || *alone.After.P50Ns < 20e6 || *alone.Before.P50Ns >= 20e6 {
		t.Errorf("a delay of 20 ms, alone: %+v", alone)
	}
	if !strings.Contains(stderr, "zero copy: not applicable") {
		t.Errorf("not shown: %s", stderr)
	}
	status, table, _ := bench(t, "scenario", "s.yaml", "--groups", "1")
	if status != 0 || !strings.Contains(table, "switched on") || !strings.Contains(table, "not applicable: queue memory has no zero-copy") {
		t.Errorf("status %d\n%s", status, table)
	}
}

func TestVerdictsThatAreTheSameStandTogether(t *testing.T) {
	v := func(expectation, step, found string) scenarioVerdict {
		return scenarioVerdict{Expectation: expectation, Step: step, State: "held", Found: found}
	}
	got := fmt.Sprint(together([]scenarioVerdict{v("lost: 0", "a", "0"), v("p", "a", "1ms"), v("lost: 0", "b", "0"), v("p", "b", "2ms"), v("lost: 0", "c", "0")}))
	if want := "[{lost: 0 3 steps  held 0} {p a  held 1ms} {p b  held 2ms}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Each name that may be expected is known of a step.
func TestEachCountThatMayBeExpectedIsKnown(t *testing.T) {
	bareEnvironment(t)
	r, _ := scenarioJSON(t, 0, quick+"expect: {lost: 0, duplicates: 0, out_of_order: 0, failed: 0, unconfirmed: 0, overrun: 0}")
	for _, v := range r.Scenario.Verdicts {
		if v.State != scenario.Held.String() || v.Found != "0" {
			t.Errorf("%+v", v)
		}
	}
}

// eventsOf reads the table events of a run in a folder.
func eventsOf(t *testing.T, folder string) (all []rawlog.EventRow) {
	t.Helper()
	for _, f := range filesBelow(filepath.Join(folder, "events")) {
		body, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		part, err := rawlog.OpenPart(rawlog.Memory(body), "time_ns", "actor", "kind", "text", "duration_ns")
		if err != nil {
			t.Fatal(err)
		}
		for part.Next() {
			v := part.Columns()
			for i := range part.Len() {
				all = append(all, rawlog.EventRow{TimeNs: v[0].Ints[i], Actor: v[1].String(i), Kind: v[2].String(i), Text: v[3].String(i), DurationNs: v[4].Ints[i]})
			}
		}
		if part.Err() != nil {
			t.Fatal(part.Err())
		}
	}
	return all
}

// The example with Docker is read as far as it can be without Docker: the file,
// its settings and its load; the compose file is the one that it names.
func TestTheComposeExampleIsAScenario(t *testing.T) {
	for _, path := range shippedIn(t, "scenarios") {
		if filepath.Base(path) != "docker-compose.example.yaml" {
			continue
		}
		f, err := scenario.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		dir := f.Environment[0].Directory
		root, err := yamlfile.Open(filepath.Join(dir, "compose.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		services := root.Field("services")
		if services == nil || services.Field("minio") == nil {
			t.Error("the compose file has no service minio")
		}
		if f.Environment[0].Stop.IsZero() || f.Faults[0].Undo.IsZero() || len(f.Expect) != 3 {
			t.Errorf("%+v", f)
		}
		if _, err := workload.FromNode(path, f.Command, f.Settings, knownSettings(newApp())); err != nil {
			t.Error(err)
		}
		return
	}
	t.Error("there is no docker-compose.example.yaml")
}
