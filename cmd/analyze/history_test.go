package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"queuebench/analysis/history"
)

func TestHistoryOfAFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "deep", "run"), os.DirFS(fixture)); err != nil {
		t.Fatal(err)
	}
	digestOf(t, filepath.Join(dir, "same.gz"))
	table := filepath.Join(t.TempDir(), "history.csv")
	status, stdout, stderr := analyze(t, "history", dir, "--json", "--csv", table)
	var r history.Result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || status != 0 || len(r.Runs) != 1 || len(r.Series) == 0 {
		t.Fatalf("status %d, %v, %+v, stderr %q", status, err, r, stderr)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "there more than once") {
		t.Errorf("warnings %q", r.Warnings)
	}
	if body, err := os.ReadFile(table); err != nil || !strings.HasPrefix(string(body), "load,rate,settings,") {
		t.Errorf("the CSV is %q, %v", body, err)
	}
	status, stdout, _ = analyze(t, "history", dir)
	if status != 0 || !strings.Contains(stdout, "too few runs") {
		t.Errorf("status %d\n%s", status, stdout)
	}
	for line, want := range map[string]int{"": 2, t.TempDir(): 1, filepath.Join(dir, "absent"): 1, dir + " --csv nowhere/x": 1, dir + " --warmup 3": 2} {
		if status, _, stderr := analyze(t, append([]string{"history"}, strings.Fields(line)...)...); status != want || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: status %d, want %d, %q", line, status, want, stderr)
		}
	}
}
