package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const samples = "../../importer/testdata/"

// Every command takes what another tool recorded.
func TestOtherToolsFilesStandInForARun(t *testing.T) {
	for name, want := range map[string]string{"vegeta.csv": "1.20 s", "omb-result.json": "OMB end-to-end", "pathway-seed.csv": "Pathway benchmark"} {
		file := samples + name
		digest := filepath.Join(t.TempDir(), "import.gz")
		status, stdout, stderr := analyze(t, "import", file, "-o", digest)
		if status != 0 || stdout != digest+"\n" || !strings.Contains(stderr, "percentiles: ") {
			t.Fatalf("%s: status %d\n%s%s", name, status, stdout, stderr)
		}
		_, direct, _ := analyze(t, "summary", file)
		status, stdout, stderr = analyze(t, "summary", digest)
		if status != 0 || stdout != direct || !strings.Contains(stdout, want) {
			t.Errorf("%s: status %d, %s\n%s\nof the digest, of the file\n%s", name, status, stderr, stdout, direct)
		}
		dir := t.TempDir()
		if status, stdout, stderr = analyze(t, "plot", file, "--out", dir); status != 0 || !strings.Contains(stdout, "latency-per-rate.svg") {
			t.Errorf("%s: status %d\n%s%s", name, status, stdout, stderr)
		}
		report := filepath.Join(dir, "report.html")
		if status, _, stderr = analyze(t, "report", file, "--light", "-o", report); status != 0 {
			t.Errorf("%s: status %d, %s", name, status, stderr)
		}
		if body, err := os.ReadFile(report); err != nil || !strings.Contains(string(body), want) || !strings.Contains(string(body), "imported") {
			t.Errorf("%s: its report does not have %q: %v", name, want, err)
		}
	}
}

func TestReferencesStandBesideARun(t *testing.T) {
	dir := t.TempDir()
	status, stdout, stderr := analyze(t, "plot", fixture, "--reference", "pathway", "--reference", samples+"omb-result.json", "--out", dir)
	if status != 0 || !strings.Contains(stdout, "Pathway 100 ms") || !strings.Contains(stdout, "OMB end-to-end") {
		t.Errorf("status %d\n%s%s", status, stdout, stderr)
	}
	_, stdout, _ = analyze(t, "summary", fixture, "--reference", "pathway")
	if !strings.Contains(stdout, "41.3 s") || !strings.Contains(stdout, "never merged") || !strings.Contains(stdout, "Accounting") {
		t.Errorf("%s", stdout)
	}
	for args, want := range map[string]string{
		"summary FIX --reference nowhere":                   "built in is pathway",
		"summary FIX --reference SAMvegeta.csv":             "no summary to lay beside",
		"summary SAMvegeta.csv --unit fortnight":            "ns, us, ms or s",
		"summary SAMvegeta.csv --columns x":                 "ROLE=NAME",
		"summary SAMvegeta.csv SAMvegeta.csv":               "twice",
		"summary SAMk6.csv --metric other":                  "no metric",
		"import":                                            "at least one FILE",
		"summary SAMwarp.tsv --columns sent=a,latency=b:ms": `no column "a"`,
	} {
		line := strings.Fields(strings.NewReplacer("FIX", fixture, "SAM", samples).Replace(args))
		if status, stdout, stderr := analyze(t, line...); status == 0 || !strings.Contains(stderr, want) || stdout != "" {
			t.Errorf("%s: status %d, %s%s", args, status, stdout, stderr)
		}
	}
	all := []string{"summary", samples + "vegeta.csv", samples + "warp.tsv", samples + "omb-result.json"}
	if status, stdout, stderr := analyze(t, all...); status != 0 || !strings.Contains(stdout, "file warp.tsv") || !strings.Contains(stdout, "OMB publish delay") {
		t.Errorf("several files: status %d, %s\n%s", status, stderr, stdout)
	}
}
