package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"queuebench/rawlog"
)

func TestCrew(t *testing.T) {
	env := func(v string) func(string) string {
		return func(name string) string {
			if name != indexVariable {
				t.Errorf("it asks for %s", name)
			}
			return v
		}
	}
	for _, c := range []struct {
		worker  string
		workers int
		roles   string
		env     string
		own     string // or what the misuse says
	}{
		{"0/4", 0, "both", "", "produce-0 consume-0"},
		{"3/4", 0, "both", "", "produce-3 consume-3"},
		{"3/4", 4, "produce=3,consume=1", "", "consume-0"},
		{"2", 4, "consume=1, produce=3", "", "produce-2"},
		{"", 4, "produce=1,consume=3", "2", "consume-1"},
		{"1/4", 0, "both", "3", "produce-1 consume-1"},
		{"", 4, "both", "", "--worker is needed"},
		{"4/4", 0, "both", "", "0 to 3"},
		{"-1/4", 0, "both", "", "0 to 3"},
		{"0", 0, "both", "", "say of how many"},
		{"0/0", 0, "both", "", "say of how many"},
		{"0/9999999", 0, "both", "", "say of how many"},
		{"0/4", 5, "both", "", "write it once"},
		{"0/x", 0, "both", "", "write it once"},
		{"x/4", 0, "both", "", "0 to 3"},
		{"0/4", 0, "produce=4", "", "at least one of each"},
		{"0/4", 0, "produce=3,consume=2", "", "4 in all"},
		{"0/4", 0, "produce=3,produce=1", "", "--roles"},
		{"0/4", 0, "make=3,consume=1", "", "--roles"},
		{"0/4", 0, "produce=3,consume=0", "", "--roles"},
		{"0/4", 0, "", "", "--roles"},
	} {
		w, err := crewOf(c.worker, c.workers, c.roles, env(c.env))
		if err != nil {
			if !strings.Contains(err.Error(), c.own) {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		var own []string
		for _, p := range w.own {
			own = append(own, p.process())
		}
		if got := strings.Join(own, " "); got != c.own {
			t.Errorf("%+v: %s", c, got)
		}
		for _, name := range own {
			if !slices.Contains(w.processes(), name) {
				t.Errorf("%+v: %s is not in %v", c, name, w.processes())
			}
		}
	}
}

// One process that produces and consumes is a whole crew.
func TestOneWorker(t *testing.T) {
	bareEnvironment(t)
	place := []string{"--run-id", "w-1", "--store", "./lake", "--log-store", "./logs"}
	load := append([]string{"work", "--worker", "0/1", "--rate", "2000", "--duration", "1s", "--producers", "2", "--commit-interval", "50ms", "--start-delay", "200ms"}, place...)
	status, out, errs := bench(t, append(load, "--json")...)
	if status != 0 {
		t.Fatalf("status %d: %s%s", status, out, errs)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var roles []string
	for _, line := range lines {
		var r struct {
			Role  rawlog.Role
			Steps []struct{ Accounting rawlog.Accounting }
		}
		if json.Unmarshal([]byte(line), &r) != nil {
			continue
		}
		roles = append(roles, string(r.Role))
		if a := r.Steps[0].Accounting; a.Acked+a.Received != 2000 {
			t.Errorf("%s: %+v", r.Role, a)
		}
	}
	if fmt.Sprint(roles) != "[produce consume]" {
		t.Errorf("roles %v in\n%s", roles, out)
	}
	if status, _, errs := bench(t, load...); status != 2 || !strings.Contains(errs, "has come before") {
		t.Errorf("again: status %d: %s", status, errs)
	}
	status, out, errs = bench(t, append([]string{"finish", "--json"}, place...)...)
	var end closing
	if err := json.Unmarshal([]byte(out), &end); err != nil || status != 0 || !end.Removed || len(end.Workers) != 2 {
		t.Errorf("finish: status %d: %s%s", status, out, errs)
	}
	if status, _, errs := bench(t, "finish", "--run-id", "none", "--store", "./lake", "--log-store", "./logs"); status != 1 || !strings.Contains(errs, "no run at") {
		t.Errorf("no run: status %d: %s", status, errs)
	}
}
