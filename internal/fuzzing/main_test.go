package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"queuebench/internal/reliability"
)

// asTests makes this program one of tests whose fuzz targets say what the variable
// holds.
const asTests = "QUEUEBENCH_TEST_AS_TESTS"

func TestMain(m *testing.M) {
	if text := os.Getenv(asTests); text != "" {
		if text == "FAIL\n" {
			fmt.Println(strings.Join(os.Args[1:], " "))
		}
		fmt.Print(text)
		if strings.Contains(text, "FAIL") {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m) // no goroutine outlives what started it
}

const passed = `fuzz: elapsed: 0s, gathering baseline coverage: 0/10 completed
fuzz: elapsed: 0s, gathering baseline coverage: 10/10 completed, now fuzzing with 2 workers
fuzz: elapsed: 3s, execs: 600 (200/sec), new interesting: 2 (total: 12)
fuzz: elapsed: 4s, execs: 900 (300/sec), new interesting: 3 (total: 13)
PASS
`

func TestWhatComesOfATarget(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]result{
		passed: {took: 4 * time.Second, execs: 900, rate: 225, news: 3, corpus: 13},
		passed + "--- FAIL: FuzzX\n    Failing input written to testdata/fuzz/FuzzX/0a\nFAIL\n": {took: 4 * time.Second, execs: 900, rate: 225, news: 3, corpus: 13, failed: "a failing input is now testdata/fuzz/FuzzX/0a"},
		"FAIL\n":                              {failed: "exit status 1"},
		"PASS\n":                              {failed: "nothing was executed"},
		"fuzz: elapsed: 1s, execs: 5 (5/sec)": {took: time.Second, execs: 5, rate: 5},
	} {
		t.Setenv(asTests, text)
		want.target, want.parallel, want.asked = target{".", "FuzzX"}, 2, time.Second
		got, tail := fuzz(t.Context(), program, "cache", want.target, options{time: time.Second, parallel: 2})
		if got.processor <= 0 {
			t.Errorf("%q took no processor time", text)
		}
		if got.processor = 0; got != want {
			t.Errorf("%q: %+v, expected %+v", text, got, want)
		}
		if want.failed == "exit status 1" && !strings.Contains(string(tail), "-test.fuzz=^FuzzX$ -test.fuzztime=1s -test.fuzzminimizetime=1s -test.parallel=2 -test.fuzzcachedir=cache") {
			t.Errorf("it was run as %s", tail)
		}
	}
}

// Before Go 1.27 the testing package may call the end of the time a failure, and says
// nothing else: no finding. All that differs from it stays a failure.
func TestAnEndThatIsCalledAFailure(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const ended = "--- FAIL: FuzzX (0.28s)\n    context deadline exceeded\nFAIL\n"
	elapsed := strings.TrimSuffix(passed, "PASS\n")
	for _, c := range []struct {
		text string
		time time.Duration
		late bool
	}{
		{elapsed + ended, time.Nanosecond, true},
		{"warning: starting with empty corpus\n" + elapsed + ended, time.Nanosecond, true},
		{elapsed + ended, time.Hour, false}, // the time had not ended
		{elapsed + "fuzz: minimizing 34-byte failing input file\n" + ended, time.Nanosecond, false},
		{elapsed + "--- FAIL: FuzzX (0.28s)\n    --- FAIL: FuzzX (0.00s)\n        x_test.go:3: context deadline exceeded\n    Failing input written to testdata/fuzz/FuzzX/0a\nFAIL\n", time.Nanosecond, false},
		{elapsed + "--- FAIL: FuzzX (0.28s)\n    context canceled\nFAIL\n", time.Nanosecond, false},
		{ended, time.Nanosecond, false}, // nothing was executed
	} {
		t.Setenv(asTests, c.text)
		r, tail := fuzz(t.Context(), program, "cache", target{".", "FuzzX"}, options{time: c.time, parallel: 1})
		if row := r.row(); (r.failed == "") != c.late || row.Failed == c.late || strings.Contains(row.Happened, lateText) != c.late || !strings.HasSuffix(string(tail), "FAIL\n") {
			t.Errorf("%q for %v: %+v, %+v, %q", c.text, c.time, r, row, tail)
		}
	}
}

func TestResultsAreTold(t *testing.T) {
	results := []result{
		{target: target{"./rawlog", "FuzzPart"}, asked: 600 * time.Second, took: 601 * time.Second, processor: 1180 * time.Second, execs: 1_000_000, rate: 1667, news: 4, corpus: 90, parallel: 2},
		{target: target{"./rawlog", "FuzzRLE"}, asked: 600 * time.Second, took: 600 * time.Second, execs: 60_000, rate: 100, parallel: 2},
		{target: target{"./stats", "FuzzX"}, asked: 600 * time.Second, took: 3 * time.Second, execs: 5_000, rate: 1667, failed: "a failing input is now x", parallel: 2},
	}
	var out bytes.Buffer
	printTable(&out, results, options{slow: 200})
	for _, want := range []string{`rawlog\.FuzzPart +10m1s +19m40s +1000000 +1667 +4 +90 +no finding\n`, `FuzzRLE .* no finding, slow\n`, `FuzzX .*FAILED: a failing input is now x\n`, `3 targets, 1065000 executions`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("there is no %s in\n%s", want, out.String())
		}
	}
	if err := failures(results); !errors.Is(err, errFound) || !strings.HasSuffix(err.Error(), ": stats.FuzzX") {
		t.Errorf("the error is %v", err)
	}
	if err := failures(results[:2]); err != nil {
		t.Error(err)
	}
	row, bad := results[0].row(), results[2].row()
	if row.ID != "fuzz/rawlog.FuzzPart" || row.Effort != 600 || row.Failed || row.Often != "10m1s, 1,000,000 executions, 19m40s of processor time" || !strings.Contains(row.Happened, "90 inputs") {
		t.Errorf("%+v", row)
	}
	if !bad.Failed || bad.Happened != "a failing input is now x" {
		t.Errorf("%+v", bad)
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is written %s", n, got)
		}
	}
}

// Shares are all targets, each once; the module's own are found.
func TestShares(t *testing.T) {
	all, err := targets(filepath.Join("..", ".."))
	if err != nil || len(all) < 40 {
		t.Fatalf("%d targets, %v", len(all), err)
	}
	for n := 1; n <= len(all)+1; n++ {
		var again []target
		for i := 1; i <= n; i++ {
			again = append(again, share{i, n}.of(all)...)
		}
		if fmt.Sprint(again) != fmt.Sprint(all) {
			t.Errorf("%d shares are not all targets in their order", n)
		}
	}
	for text, good := range map[string]bool{"1/1": true, "3/3": true, "0/3": false, "4/3": false, "1": false, "1/3x": false, "": false, "1/3 ": false} {
		var s share
		if err := s.UnmarshalText([]byte(text)); (err == nil) != good || good && s.String() != text {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
	t.Setenv(reliability.Variable, "")
	for _, args := range [][]string{{"-share", "4/3"}, {"-time", "-1s"}, {"-only", "("}, {"-only", "no such"}, {"-jobs", "0"}, {"-todo"}, {"x"}} {
		if err := run(context.Background(), new(bytes.Buffer), args); err == nil {
			t.Errorf("%q is no error", args)
		}
	}
}
