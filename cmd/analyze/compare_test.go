package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"queuebench/analysis/compare"
)

// digestOf writes the digest of the recorded run.
func digestOf(t *testing.T, path string) string {
	t.Helper()
	if status, _, stderr := analyze(t, "digest", fixture, "-o", path); status != 0 {
		t.Fatal(stderr)
	}
	return path
}

func TestCompareTakesSidesInEveryWay(t *testing.T) {
	dir := t.TempDir()
	digest := digestOf(t, filepath.Join(dir, "base.gz"))
	folder := filepath.Join(dir, "all")
	if err := os.CopyFS(filepath.Join(folder, "deep", "run"), os.DirFS(fixture)); err != nil {
		t.Fatal(err)
	}
	digestOf(t, filepath.Join(folder, "one.digest.gz"))
	var foreign bytes.Buffer
	zip := gzip.NewWriter(&foreign)
	fmt.Fprintln(zip, "nothing of ours")
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{"notes.txt": "notes", "other.gz": foreign.String()} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string][]string{
		"DIGEST RUN":                           {"base 1", "log 1"},
		"RUN RUN":                              {"log 1", "log #2 1"},
		"a=DIGEST b=RUN a=RUN":                 {"a 2", "b 1"},
		"--base DIGEST --base RUN --new RUN":   {"base 2", "new 1"},
		"--base DIGEST RUN RUN":                {"base 1", "log 1", "log #2 1"},
		"DIGEST RUN --new RUN":                 {"base 1", "log 1", "new 1"},
		"before=RUN after=FOLDER":              {"before 1", "after 2"},
		"DIGEST RUN --latency publish":         {"base 1", "log 1"},
		"DIGEST RUN/run.json --warmup 0s":      {"base 1", "log 1"},
		"DIGEST RUN --percentiles 50,75,99.99": {"base 1", "log 1"},
	} {
		args := strings.Fields(strings.NewReplacer("DIGEST", digest, "RUN", fixture, "FOLDER", folder).Replace(line))
		status, stdout, stderr := analyze(t, append([]string{"compare", "--json"}, args...)...)
		var r compare.Result
		if err := json.Unmarshal([]byte(stdout), &r); err != nil || status != 0 {
			t.Errorf("%s: status %d, %v, stderr %q", line, status, err, stderr)
			continue
		}
		var got []string
		for _, s := range r.Sides {
			got = append(got, s.Label+" "+string(rune('0'+len(s.Runs))))
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
		if passed := strings.Contains(stderr, "other.gz is no digest"); passed != strings.Contains(line, "FOLDER") {
			t.Errorf("%s: stderr %q", line, stderr)
		}
	}
}

// A run compared with its own digest differs in nothing, and is said to be the
// same run.
func TestCompareOfARunWithItself(t *testing.T) {
	digest := digestOf(t, filepath.Join(t.TempDir(), "base.gz"))
	status, text, _ := analyze(t, "compare", digest, fixture)
	if status != 0 || !strings.Contains(text, "it is compared with itself") || strings.Contains(text, "→") {
		t.Errorf("status %d\n%s", status, text)
	}
	status, markdown, _ := analyze(t, "compare", digest, fixture, "--markdown")
	if status != 0 || !strings.Contains(markdown, "| load | latency |") {
		t.Errorf("status %d\n%s", status, markdown)
	}
}

func TestCompareRefusesInOneLine(t *testing.T) {
	digest := digestOf(t, filepath.Join(t.TempDir(), "base.gz"))
	empty := t.TempDir()
	for line, c := range map[string]struct {
		status int
		want   string
	}{
		"":                             {2, "a BASE and at least one NEW"},
		"RUN":                          {2, "a BASE and at least one NEW"},
		"--base RUN":                   {2, "was given 1"},
		"RUN DIGEST --markdown --json": {2, "give one of them"},
		"RUN DIGEST --percentiles 100": {2, "not between 0 and 100"},
		"--by consumers --base RUN":    {2, "--by makes the sides"},
		"RUN --by consumers":           {1, "it has no setting \"consumers\""},
		"RUN --scaling consumers":      {1, "nothing scales"},
		"RUN EMPTY":                    {1, "no run and no digest"},
		"RUN RUN/absent":               {1, "run.json"},
		"RUN DIGEST --warmup 1h":       {1, "warm-up"},
		"RUN DIGEST --latency broker_to_consumer": {0, ""},
	} {
		args := strings.Fields(strings.NewReplacer("DIGEST", digest, "RUN", fixture, "EMPTY", empty).Replace(line))
		status, stdout, stderr := analyze(t, append([]string{"compare"}, args...)...)
		if status != c.status || !strings.Contains(stderr, c.want) || status != 0 && (stdout != "" || strings.Count(stderr, "\n") != 1) {
			t.Errorf("%s: status %d, want %d with %q\nstdout %q\nstderr %q", line, status, c.status, c.want, stdout, stderr)
		}
	}
}

func TestLabels(t *testing.T) {
	for argument, want := range map[string][2]string{
		"before=runs/a":                          {"before", "runs/a"},
		"v1.2=s3://b/r?endpoint=http://h:9000":   {"v1.2", "s3://b/r?endpoint=http://h:9000"},
		"s3://b/r?endpoint=http://h:9000&x=y":    {"", "s3://b/r?endpoint=http://h:9000&x=y"},
		"/data/a=b":                              {"", "/data/a=b"},
		"./a=b":                                  {"", "./a=b"},
		"a=":                                     {"", "a="},
		"s3://bucket/prefix/run?endpoint=http:x": {"", "s3://bucket/prefix/run?endpoint=http:x"},
	} {
		if name, address := labelled(argument); name != want[0] || address != want[1] {
			t.Errorf("%s: %q and %q", argument, name, address)
		}
	}
	for address, want := range map[string]string{
		"s3://b/p/run-7?endpoint=http://h:9000": "run-7", "data/runs/r1/": "r1", "r1/run.json": "r1", "x/base.digest.gz": "base", "base.gz": "base",
	} {
		if got := labelOf(address); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}
