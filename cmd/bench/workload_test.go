package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"queuebench/internal/command"
	"queuebench/rawlog"
)

// shippedIn lists the YAML files of a folder of the project, by absolute path.
func shippedIn(t *testing.T, folder string) (paths []string) {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", folder))
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".yaml") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// takenAwayBy says that a line gives a flag, or says the same in another way.
func takenAwayBy(args []string, name string) bool {
	names := []string{name}
	for _, pair := range alternatives {
		for side := range pair {
			if slices.Contains(pair[side], name) {
				names = append(names, pair[1-side]...)
			}
		}
	}
	return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(args, "--"+n) })
}

// sameSetting compares two ways to write a value, such as 1m0s and 60s.
func sameSetting(a, b string) bool {
	if a == b {
		return true
	}
	d, errA := duration("a", a)
	e, errB := duration("b", b)
	return errA == nil && errB == nil && d == e
}

// fileOf writes a workload into the current folder.
func fileOf(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// manifestOf runs a line that must do and returns the run's manifest.
func manifestOf(t *testing.T, line string) *rawlog.Manifest {
	t.Helper()
	status, stdout, stderr := bench(t, strings.Fields(line)...)
	if status != 0 {
		t.Fatalf("bench %s: status %d, %s", line, status, stderr)
	}
	m, _ := readLog(t, lastLine(stdout))
	return m
}

func TestFlagsOverrideTheWorkloadAndTheWorkloadTheDefault(t *testing.T) {
	bareEnvironment(t)
	fileOf(t, "w.yaml", "queue: memory\nrate: 500\nseconds-to-stream: 60\nconsumers: 2\ndelay: 1ms\nvary:\n  producers: [1, 2]\n")
	m := manifestOf(t, "run --workload w.yaml --duration 100ms --consumers 3")
	for name, want := range map[string]string{
		"queue": "memory", "rate": "500", "duration": "100ms", "seconds-to-stream": "", "consumers": "3", "delay": "1ms",
		"groups": "1", "vary": "producers=1,2", "workload": "w.yaml", "command": "run",
	} {
		if m.Settings[name] != want {
			t.Errorf("%s is %q, want %q", name, m.Settings[name], want)
		}
	}
	if len(m.Steps) != 2 || m.Steps[1].Settings["producers"] != "2" || m.Steps[1].Producers != 2 {
		t.Errorf("steps %+v", m.Steps)
	}
	// What varies in the file is fixed, or replaced, by the command line.
	if m := manifestOf(t, "run --workload w.yaml --duration 50ms --producers 3"); len(m.Steps) != 1 || m.Steps[0].Producers != 3 {
		t.Errorf("steps %+v", m.Steps)
	}
	if m := manifestOf(t, "run --workload w.yaml --duration 50ms --vary consumers=1,2,4"); len(m.Steps) != 3 || m.Steps[0].Producers != 1 {
		t.Errorf("steps %+v", m.Steps)
	}
}

func TestAWorkloadForAnotherQueueSaysWhatItDoesNot(t *testing.T) {
	bareEnvironment(t)
	fileOf(t, "w.yaml", "rate: 500\nduration: 50ms\ncommit-interval: 20ms\nvary:\n  pipeline: [1, 2]\n")
	m := manifestOf(t, "run --workload w.yaml --queue memory")
	text := strings.Join(m.Warnings, "|")
	if !strings.Contains(text, "w.yaml: line 3: commit-interval does nothing: queue memory has no such setting") ||
		!strings.Contains(text, "line 5: pipeline does not vary") || len(m.Steps) != 1 {
		t.Errorf("warnings %s, %d steps", text, len(m.Steps))
	}
	// Within a file it is a contradiction.
	if err := os.RemoveAll("w.yaml"); err != nil {
		t.Fatal(err)
	}
	fileOf(t, "w.yaml", "queue: memory\nrate: 500\ncommit-interval: 20ms\n")
	if status, _, stderr := bench(t, "run", "--workload", "w.yaml"); status != command.StatusMisused || !strings.Contains(stderr, "--commit-interval does nothing with --queue memory") {
		t.Errorf("status %d, %s", status, stderr)
	}
}

func TestWhatAnOpenMessagingFileSaysAndIsNotDoneIsKeptWithTheRun(t *testing.T) {
	bareEnvironment(t)
	fileOf(t, "omb.yaml", "name: x\ntopics: 2\npartitionsPerTopic: 3\nmessageSize: 64\npayloadFile: p.data\nsubscriptionsPerTopic: 2\nconsumerPerSubscription: 2\nproducersPerTopic: 2\nproducerRate: 2000\ntestDurationMinutes: 1\nturbo: true\n")
	m := manifestOf(t, "run --workload omb.yaml --queue memory --duration 1s")
	text := strings.Join(m.Warnings, "|")
	for _, want := range []string{`line 11: the key "turbo" is not known`, `payloadFile "p.data" is not sent`, "warm-up", "workload of the OpenMessaging Benchmark"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the warnings %s", want, text)
		}
	}
	if s := m.Steps[0]; s.Producers != 4 || len(s.Groups) != 2 || s.Accounting.Scheduled != 2000 || s.Accounting.Received != 2000 || m.Queue.Partitions != 3 {
		t.Errorf("step %+v, queue %+v", s, m.Queue)
	}
}

func TestMistakesInAWorkloadAreMisuse(t *testing.T) {
	bareEnvironment(t)
	for text, want := range map[string]string{
		"rat: 5":                                      `w.yaml:1: "rat" is no setting (did you mean rate?)`,
		"rate: 5\ncosumers: 2":                        `w.yaml:2: "cosumers" is no setting (did you mean consumers?)`,
		"rates: [1]":                                  "w.yaml:1: \"rates\" is no setting of `bench run` but of `bench sweep`",
		"json: true":                                  `"json" is no setting`,
		"rate: 5\nrate: 6":                            "w.yaml:2: the key rate comes twice",
		"rate: 5\nconsumers: two":                     "w.yaml:2: consumers: \"two\" is text: write a whole number",
		"rate: 5\ndrain-timeout: 5":                   "w.yaml:2: drain-timeout: \"5\" is a whole number: write a time",
		"command: sweep\nrates: [5]":                  "w.yaml:1: this workload is for `bench sweep`: run `bench sweep --workload w.yaml`",
		"rate: 5\nqueue: rabbit":                      "this program has delta, memory",
		"rate: 5\nvary: {store: [a, b]}":              "the same for a whole run",
		"rate: 5\nmessage-size: 3":                    "identity takes 16",
		"producerRate: 0\ntopics: 1":                  "bench capacity --workload w.yaml",
		"- rate: 5":                                   "the file is a list",
		"rate: 5\nduration: 5s\nseconds-to-stream: 5": "give one",
	} {
		fileOf(t, "w.yaml", text)
		if status, stdout, stderr := bench(t, "run", "--workload", "w.yaml"); status != command.StatusMisused || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: status %d, stderr %q, want %q", text, status, stderr, want)
		}
	}
	if status, _, stderr := bench(t, "run", "--workload", "absent.yaml"); status != command.StatusMisused || !strings.Contains(stderr, "absent.yaml") {
		t.Errorf("status %d, %s", status, stderr)
	}
	if left := filesBelow("."); len(left) != 1 {
		t.Errorf("left %q", left)
	}
}
