package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// clean finds the spools of the halves of a run, and leaves that of a whole run
// whose name is the same.
func TestTrap11CleanFindsTheSpoolsOfHalves(t *testing.T) {
	bareEnvironment(t)
	leave := func(name, body string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const part = "/events/step=0/repeat=0/part-x-0.parquet"
	for _, process := range []string{"produce", "consume", "../../kept"} {
		name := "run-" + filepath.Base(process) + ".json"
		leave("logs/r/"+name, `{"schema": "queuebench.run/1", "run": "r", "process": "`+process+`", "ended_ns": 1}`)
	}
	leave("logs/r-produce/run.json", `{"schema": "queuebench.run/1", "run": "r-produce"}`)
	own := filepath.Join(defaultSpool, "r-consume")
	kept := []string{filepath.Join(defaultSpool, "r-produce") + part + ".open", "kept" + part + ".open"}
	for _, name := range append(kept, own+part, own+part+".open") {
		leave(name, "x")
	}
	if status, out, errs := bench(t, "clean", "./logs/r"); status != 0 || !strings.Contains(out, "1 of them parts that were never closed") || !strings.Contains(errs, "bench upload "+own) {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	if left := filesBelow(own); len(left) != 1 || !strings.HasSuffix(left[0], ".parquet") {
		t.Errorf("left %q: a closed part waits for its upload", left)
	}
	if status, _, errs := bench(t, "clean", "./logs/r", "--log"); status != 0 || len(filesBelow(own)) != 0 || len(filesBelow("logs/r")) != 0 {
		t.Errorf("status %d: %s, left %q", status, errs, filesBelow(own))
	}
	for _, name := range kept {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("it touched the spool of another run: %v", err)
		}
	}
}

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

// A consume half that has other partitions than its producers does not wait for
// what will never come.
func TestAConsumeHalfIsToldOfOtherPartitions(t *testing.T) {
	testOtherPartitions(t, "--commit-interval 20ms", func(here string) string {
		if here == "1" { // a table of one partition lies elsewhere
			return "another number of partitions"
		}
		return "--partitions is 3 there and " + here + " here"
	})
}

// testOtherPartitions runs the halves with other partitions each, on a queue that the
// flags name.
func testOtherPartitions(t *testing.T, flags string, says func(here string) string) {
	t.Helper()
	bareEnvironment(t)
	produced := strings.Fields("produce --run-id r --rate 100 --duration 100ms --store ./lake --partitions 3 " + flags)
	consumed := strings.Fields("consume --run-id r --store ./lake --wait 10m " + flags)
	if status, _, errs := bench(t, produced...); status != 0 {
		t.Fatal(errs)
	}
	for _, here := range []string{"1", "2", "4"} {
		status, _, errs := bench(t, append(consumed, "--index", here, "--partitions", here)...)
		if status != 1 || !strings.Contains(errs, says(here)) {
			t.Errorf("%s: status %d, %s", here, status, errs)
		}
	}
}
