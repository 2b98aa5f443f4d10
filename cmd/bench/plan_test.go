package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"queuebench/runner"
)

// What a queue tunes itself by is that of one topic, and a produce half, which
// knows of no consumers, reckons with one group.
func TestAQueueIsToldTheLoadOfATopic(t *testing.T) {
	for _, c := range []struct {
		topics, groups, consumers int
		rate                      float64
	}{{1, 1, 1, 600}, {3, 2, 2, 200}, {2, 0, 1, 300}} {
		var got queueEnv
		d := draft{Plan: runner.Plan{Rate: 600_000, Load: runner.Load{Topics: c.topics, Groups: c.groups}}}
		d.open = func(env queueEnv) queueFactory { got = env; return nil }
		d.opened(nil, &opened{})
		if got.rate != c.rate || got.consumers != c.consumers {
			t.Errorf("%+v: told %v messages a second and %d groups", c, got.rate, got.consumers)
		}
	}
}

// Each combination of what --vary varies is a step with each rate, run with its
// own settings, which the step keeps.
func TestVaryRunsEachCombination(t *testing.T) {
	bareEnvironment(t)
	status, stdout, stderr := bench(t, strings.Fields("sweep --queue memory --rates 100,200 --messages 20 --vary consumers=1,3 --vary message-size=16,40 --topics 2 --json --quiet")...)
	if status != 0 {
		t.Fatalf("status %d, %s", status, stderr)
	}
	var out jsonResult
	if err := json.Unmarshal([]byte(strings.SplitN(stdout, "\n", 2)[0]), &out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range out.Steps {
		got = append(got, fmt.Sprintf("%d %s %s %s %d", s.Step, s.Settings["consumers"], s.Settings["message-size"], s.Settings["rate"], s.Accounting.Received))
	}
	want := "0 1 16 100 20;1 1 16 200 20;2 1 40 100 20;3 1 40 200 20;4 3 16 100 20;5 3 16 200 20;6 3 40 100 20;7 3 40 200 20"
	if strings.Join(got, ";") != want {
		t.Errorf("steps %q, want %q", strings.Join(got, ";"), want)
	}
}

// Whatever values vary, from a file or the command line, each is read whole.
func TestValuesThatVaryAreReadWhole(t *testing.T) {
	for list, want := range map[string][]string{
		"1":                    {"1"},
		"1,2,4":                {"1", "2", "4"},
		`"a=1,2",b`:            {"a=1,2", "b"},
		`"say ""x""",""`:       {`say "x"`, ""},
		"uniform:1..2, zipf":   {"uniform:1..2", " zipf"},
		"1,,2":                 {"1", "", "2"},
		`"a` + "\n" + `b","c"`: {"a\nb", "c"},
	} {
		got, err := splitValues(list)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v, want %q", list, got, err, want)
		}
		if again, err := splitValues(joinValues(want)); err != nil || !slices.Equal(again, want) {
			t.Errorf("%q: written and read again %q, %v", want, again, err)
		}
	}
	for _, list := range []string{`"a`, `a"b`, `"a"b`, "a\nb", "\n", `a,"`} {
		if got, err := splitValues(list); err == nil || !strings.Contains(err.Error(), "double quotes") {
			t.Errorf("%q is %q, %v", list, got, err)
		}
	}
}

func TestVaryWithCommasAndFromAFile(t *testing.T) {
	bareEnvironment(t)
	fileOf(t, "w.yaml", "queue: memory\nrate: 100\nmessages: 5\nvary:\n  header: [\"tags=a,b\", 'say=\"x\"']\n")
	for _, args := range [][]string{
		{"run", "--queue", "memory", "--rate", "100", "--messages", "5", "--vary", `header="tags=a,b","say=""x"""`},
		{"run", "--workload", "w.yaml"},
	} {
		status, stdout, stderr := bench(t, append(args, "--json", "--quiet")...)
		if status != 0 {
			t.Fatalf("%q: status %d, %s", args, status, stderr)
		}
		r := jsonOf(t, stdout)
		if len(r.Steps) != 2 || r.Steps[0].Settings["header"] != "tags=a,b" || r.Steps[1].Settings["header"] != `say="x"` {
			t.Errorf("%q: steps %+v", args, r.Steps)
		}
	}
	refused := `run --rate 10 --vary header="a=1`
	if status, _, stderr := bench(t, strings.Fields(refused)...); status != 2 || !strings.Contains(stderr, "into double quotes") {
		t.Errorf("%s: status %d, %s", refused, status, stderr)
	}
}
