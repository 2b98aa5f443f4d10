package scenario

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"queuebench/internal/secret"
	"queuebench/internal/yamlfile"
)

func read(text string) (*File, error) {
	root, err := yamlfile.Read("s.yaml", strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	return fromNode("s.yaml", root)
}

const whole = `
name: store stops
description: A store that stops.
command: run
workload: ../w.yaml
settings:
  rate: 1000
  endpoint: http://127.0.0.1:${port.store}
ports: [store]
env:
  KEY: ${secret.key}
environment:
  - name: folder
    run: [mkdir, -p, "${dir}/objects"]
  - name: store
    start: [serve, --port, "${port.store}", 8, true]
    again: {shell: "serve $X"}
    stop: [serve, stop]
    directory: sub
    env: {A: b}
    ready: {http: "http://127.0.0.1:${port.store}/", status: 200, timeout: 3s}
    grace: 2s
    timeout: 9s
    output: 100
faults:
  - {at: 9s, run: [tc, add], undo: [tc, del], for: 1s}
  - name: the store stops
    at: 5s
    signal: sigstop
    process: store
    for: 5s
    recovered_within: 10s
  - {at: 7s, signal: KILL, process: store, restart-after: 0s}
expect:
  recovered_within: 20s
  lost: 0
  p99.9_below: 150ms
`

func TestRead(t *testing.T) {
	f, err := read(whole)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	check("workload", f.Workload, "../w.yaml")
	check("settings", f.Settings.Field("rate").Value, "1000")
	p := f.Process("store")
	check("args", strings.Join(p.Start.Args, " "), "serve --port ${port.store} 8 true")
	check("again", p.Again.Shell, "serve $X")
	check("directory", p.Directory, filepath.Join(dir, "sub"))
	check("ready", p.Ready.Timeout, 3*time.Second)
	check("status", p.Ready.Status, 200)
	check("times", p.Grace+p.Timeout, 11*time.Second)
	check("output", p.Output, 100)
	check("no process", f.Process("folder"), (*Part)(nil))
	var texts []string
	for _, x := range f.Faults {
		texts = append(texts, x.Text())
	}
	check("faults by time", strings.Join(texts, "|"), "the store stops for 5s|SIGKILL to store, started again after 0s|tc for 1s")
	check("signal", f.Faults[0].Signal, "STOP")
	check("within", f.Faults[0].Within, 10*time.Second)
	check("expectations", f.Expect[0].Text()+" "+f.Expect[1].Text()+" "+f.Expect[2].Text(), "recovered_within: 20s lost: 0 p99.9_below: 150ms")
}

func TestMistakesAreToldWithTheirLine(t *testing.T) {
	env := "environment:\n- {name: p, start: [x]}\n"
	for text, want := range map[string]string{
		"enviroment: []":                                                        `s.yaml:1: "enviroment" is no key of a scenario (did you mean environment?)`,
		"faults: {at: 5s}":                                                      "s.yaml:1: faults is a mapping: write a list",
		"environment: [1]":                                                      "is a whole number: write",
		"environment:\n- {name: p}":                                             "s.yaml:2: p needs one of start (it goes on) and run",
		"environment:\n- {start: [x]}":                                          "needs a name of letters",
		"environment:\n- {name: \"../x\", start: [x]}":                          "needs a name of letters",
		"environment:\n- {name: p, start: \"rm -rf /\"}":                        "s.yaml:2: start is text: write the program and its arguments as a list",
		"environment:\n- {name: p, start: []}":                                  "start names no program",
		"environment:\n- {name: p, start: [\"\"]}":                              "start names no program",
		"environment:\n- {name: p, start: [[a]]}":                               "an argument is a list",
		"environment:\n- {name: p, start: {shell: \"\"}}":                       "start names no program",
		"environment:\n- {name: p, start: {sh: x}}":                             `"sh" is no key of start`,
		"environment:\n- {name: p, run: [x], ready: {tcp: a}}":                  "ready and finish are for what start starts",
		"environment:\n- {name: p, start: [x], ready: {}}":                      "ready needs one of tcp, http and command",
		"environment:\n- {name: p, start: [x], ready: {tcp: a, http: b}}":       "ready needs one of",
		"environment:\n- {name: p, start: [x], ready: {http: b}}":               "begins with http://",
		"environment:\n- {name: p, start: [x], ready: {tcp: a, status: 200}}":   "status is that of an http answer",
		"environment:\n- {name: p, start: [x], grace: -1s}":                     "grace -1s is not between",
		"environment:\n- {name: p, start: [x], timeout: 5}":                     "timeout: write a time",
		"environment:\n- {name: p, start: [x], output: 99999999999}":            "output: write a whole number",
		"environment:\n- {name: p, start: [x]}\n- {name: p, run: [y]}":          "s.yaml:3: the name p comes twice",
		"environment:\n- {name: p, start: [\"${port.q}\"]}":                     "s.yaml:2: ${port.q}: name the port under ports",
		"environment:\n- {name: p, start: [\"${prot}\"]}":                       "${prot} is no variable",
		"environment:\n- {name: p, start: [\"${dir\"]}":                         "is not closed",
		"environment:\n- {name: p, start: [x], env: {A: \"${x}\"}}":             "${x} is no variable",
		"settings: {rate: \"${rate}\"}":                                         "${rate} is no variable",
		"settings: 5":                                                           "settings is a whole number",
		"ports: [a, a]":                                                         "each name once",
		"ports: [\"a b\"]":                                                      "is no name for a port",
		env + "faults:\n- {signal: STOP, process: p}":                           "s.yaml:4: a fault needs a time",
		env + "faults:\n- {at: 1s}":                                             "needs one of signal (to a process) and run",
		env + "faults:\n- {at: 1s, signal: STOP, process: q}":                   "for process \"q\", which the environment does not start; it starts: p",
		env + "faults:\n- {at: 1s, signal: STOP}":                               "which the environment does not start",
		env + "faults:\n- {at: 1s, signal: BUS, process: p}":                    "signal \"BUS\": it is one of CONT, HUP, INT, KILL",
		env + "faults:\n- {at: 1s, signal: KILL, process: p, for: 1s}":          "for is for signal STOP",
		env + "faults:\n- {at: 1s, signal: STOP, process: p, restart-after: 0}": "restart-after is for a signal that ends",
		env + "faults:\n- {at: 1s, run: [x], undo: [y]}":                        "needs both undo and for",
		env + "faults:\n- {at: 1s, run: [x], for: 1s}":                          "needs both undo and for",
		env + "faults:\n- {at: 1s, run: [x], process: p}":                       "belong to a signal",
		env + "faults:\n- {at: soon, run: [x]}":                                 "at: write a time",
		"expect: {losst: 0}":                                                    `"losst" is nothing that can be expected (did you mean lost?)`,
		"expect: {lost: -1}":                                                    "lost: write a whole number from 0",
		"expect: {p99_below: 5}":                                                "p99_below: write a time",
		"expect: {p100_below: 5s}":                                              "is nothing that can be expected",
		"expect: {pNaN_below: 5s}":                                              "is nothing that can be expected",
		"expect: [lost]":                                                        "expect is a list",
		"one-at-a-time:\n- {name: a}":                                           "s.yaml:2: it needs a name, and what is set",
		"one-at-a-time:\n- {name: a, on: {x: 1}}\n- {name: a, on: {x: 1}}":      "comes twice",
		"one-at-a-time:\n- {name: a, on: []}":                                   "on is a list",
		"lost: 0":                                                               "is no key of a scenario",
	} {
		f, err := read(text)
		var at *yamlfile.Error
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &at) {
			t.Errorf("%q: %v, %v, want %q", text, f, err, want)
		}
	}
}

func TestVariables(t *testing.T) {
	f, err := read("ports: [a, b]")
	if err != nil {
		t.Fatal(err)
	}
	v, err := NewVariables(f, "/bin/bench", "r1", &secret.Known{})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("QB_TEST", "x y")
	for text, want := range map[string]string{
		"plain $HOME $$ {x}": "plain $HOME $$ {x}", "$${dir}": "${dir}", "${bench}!": "/bin/bench!", "${run}": "r1",
		"${env.QB_TEST}": "x y", "${dir}/a": v.dir + "/a", "${here}": v.here,
	} {
		if got, err := v.Expand(text); err != nil || got != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	one, _ := v.Expand("${secret.k}")
	two, _ := v.Expand("${secret.k}")
	other, _ := v.Expand("${secret.l}")
	if one != two || one == other || len(one) < 20 {
		t.Errorf("secrets %q %q %q", one, two, other)
	}
	if got := v.Strike("key=" + one); got != "key=***" {
		t.Errorf("struck: %q", got)
	}
	a, _ := v.Expand("${port.a}")
	b, _ := v.Expand("${port.b}")
	if a == b || a == "0" {
		t.Errorf("ports %s and %s", a, b)
	}
	if _, err := v.Expand("${env.QB_TEST_ABSENT}"); err == nil || !strings.Contains(err.Error(), "QB_TEST_ABSENT is not set") {
		t.Errorf("%v", err)
	}
	if err := v.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(v.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(whole)
	f.Add("faults:\n- {at: 1s, run: [x], undo: [y], for: 1s}\nexpect: {lost: 0}")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := read(text)
		if err != nil {
			return
		}
		for _, x := range s.Faults {
			if x.Text() == "" || x.At < 0 || x.Signal != "" && s.Process(x.Process) == nil {
				t.Fatalf("fault %+v", x)
			}
		}
	})
}
