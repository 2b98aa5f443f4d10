package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What cannot be merged is a misuse that says what to give, and nothing is
// written.
func TestMergeMisuse(t *testing.T) {
	run, err := filepath.Abs("../../analysis/testdata/log")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if status, _, errs := analyze(t, "digest", run, "-o", "one.digest.gz"); status != 0 {
		t.Fatal(errs)
	}
	for line, want := range map[string]string{
		"merge":                                   "two runs or more",
		"merge RUN":                               "two runs or more",
		"merge RUN RUN":                           "the same run, run-1: give each once",
		"merge RUN one.digest.gz":                 "the intervals of a digest cannot be cut",
		"merge RUN RUN --clock-error -1s":         "such as 50ms",
		"merge RUN RUN --name a/b":                "--name",
		"merge RUN RUN --from 5s --to 1s":         "--from and --to",
		"merge RUN RUN -o no/such/folder/x":       "there is no folder",
		"merge RUN RUN RUN --same-queue --name x": "give each once",
	} {
		status, stdout, errs := analyze(t, strings.Fields(strings.ReplaceAll(line, "RUN", run))...)
		if status != 2 || stdout != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %q, %q", line, status, stdout, errs)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}
