package main

import (
	"strings"
	"testing"
)

func TestHalvesThatCannotBe(t *testing.T) {
	bareEnvironment(t)
	for line, says := range map[string]string{
		"produce --rate 10 --duration 1s --store ./lake":                                    "--run-id",
		"consume --store ./lake":                                                            "--run-id",
		"produce --run-id r --rate 10 --duration 1s":                                        "--store ./lake",
		"consume --run-id r":                                                                "--store ./lake",
		"produce --run-id r --queue memory --rate 10 --duration 1s --store ./lake":          "bench run",
		"consume --run-id r --queue memory --store ./lake":                                  "bench run",
		"produce --run-id r --duration 1s --store ./lake":                                   "--rate",
		"produce --run-id r --rate 10 --duration 1s --store ./lake --groups 2":              "--groups",
		"consume --run-id r --rate 10 --store ./lake":                                       "rate",
		"consume --run-id r --store ./lake --groups 0":                                      "groups",
		"consume --run-id r --store ./lake --partitions 0":                                  "--partitions 0",
		"consume --run-id r --store ./lake --index -1":                                      "--index -1",
		"consume --run-id r --store ./lake --wait 0s":                                       "--wait",
		"consume --run-id r --store ./lake --idle-timeout -1s":                              "--idle-timeout",
		"consume --run-id r --store ./lake extra":                                           "extra",
		"produce --run-id a/b --rate 10 --duration 1s --store ./lake":                       "a/b",
		"consume --run-id r --store ./lake --clock-peer 10.0.0.5":                           "--clock-peer",
		"produce --run-id r --rate 10 --duration 1s --store ./lake --clock-serve somewhere": "--clock-serve",
		"clock --addr 127.0.0.1:0":                                                          "clock serve",
		"clock serve":                                                                       "--addr",
		"clock serve --addr 127.0.0.1":                                                      "--addr",
		"clock set --addr 127.0.0.1:0":                                                      "clock serve",
	} {
		if status, out, errs := bench(t, strings.Fields(line)...); status != 2 || out != "" || !strings.Contains(errs, says) {
			t.Errorf("bench %s: status %d, not 2 with %q: %s%s", line, status, says, out, errs)
		}
	}
	if status, _, errs := bench(t, strings.Fields("consume --run-id r --store ./lake --resume")...); status != 1 || !strings.Contains(errs, "nothing to resume") {
		t.Errorf("nothing to resume: status %d: %s", status, errs)
	}
	if status, _, errs := bench(t, strings.Fields("consume --run-id r --store ./lake --wait 50ms")...); status != 1 || !strings.Contains(errs, "bench produce") {
		t.Errorf("no producers: status %d: %s", status, errs)
	}
}
