package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"queuebench/analysis/history"
	"queuebench/internal/versitygw"
	"queuebench/objectstore"
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

// A digest that was cut short is named, the others are shown, and the status says
// that not all were read; one that is alone is an error.
func TestADigestThatIsCutShortIsToldAndLeftOut(t *testing.T) {
	dir := t.TempDir()
	whole, err := os.ReadFile(digestOf(t, filepath.Join(dir, "1.gz")))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "2.gz"), whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	for line, c := range map[string]struct {
		status int
		stdout string
	}{
		"history DIR":                 {1, "2.gz could not be read and is left out"},
		"history DIR/1.gz":            {0, "1 runs"},
		"compare DIR/1.gz DIR":        {1, "2.gz could not be read and is left out"},
		"check DIR --slo p50<1h":      {4, "every run is read"},
		"check DIR --slo p50<1ns":     {3, "every run is read"},
		"compare DIR/1.gz DIR --json": {1, `"warnings": [`},
		"history DIR/2.gz":            {1, ""},
		"compare DIR/1.gz DIR/2.gz":   {1, ""},
	} {
		status, stdout, stderr := analyze(t, strings.Fields(strings.ReplaceAll(line, "DIR", dir))...)
		if status != c.status || !strings.Contains(stdout, c.stdout) || status != 0 && status != 3 && !strings.Contains(stderr, "2.gz") || strings.Count(stderr, "\n") > 1 {
			t.Errorf("%s: status %d, %q, stderr %q", line, status, stdout, stderr)
		}
	}
}

// Runs and digests below a prefix of a bucket are compared as those of a folder.
func TestHistoryOfAPrefix(t *testing.T) {
	server := versitygw.Start(t)
	for _, kv := range server.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	store, err := objectstore.Open(t.Context(), server.Address("nightly"), objectstore.Options{Credentials: objectstore.StaticCredentials(server.AccessKey, server.SecretKey, "")})
	if err != nil {
		t.Fatal(err)
	}
	put := func(name, path string) {
		body, err := os.ReadFile(path)
		if err == nil {
			err = store.Put(t.Context(), name, body, objectstore.PutOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put("digests/1.gz", digestOf(t, filepath.Join(t.TempDir(), "1.gz")))
	err = filepath.WalkDir(fixture, func(path string, e os.DirEntry, err error) error {
		if name, rerr := filepath.Rel(fixture, path); err == nil && rerr == nil && !e.IsDir() {
			put("runs/one/"+filepath.ToSlash(name), path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	place := server.Address
	status, stdout, stderr := analyze(t, "history", place("nightly"), "--json")
	var r history.Result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || status != 0 || len(r.Runs) != 1 || len(r.Warnings) != 1 {
		t.Fatalf("status %d, %v, %+v, stderr %q", status, err, r, stderr)
	}
	for _, args := range [][]string{{"export", place("nightly/digests/1.gz"), "--format", "csv"}, {"compare", place("nightly/digests/1.gz"), place("nightly/runs/one")}, {"check", place("nightly"), "--slo", "p50<1h"}} {
		if status, stdout, stderr := analyze(t, args...); status != 0 {
			t.Errorf("%q: status %d, %q, stderr %q", args, status, stdout, stderr)
		}
	}
	if status, _, stderr := analyze(t, "history", place("absent")); status != 1 || !strings.Contains(stderr, "there is no run and no digest") {
		t.Errorf("status %d, %q", status, stderr)
	}
}
