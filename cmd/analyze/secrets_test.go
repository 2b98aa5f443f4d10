package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"queuebench/internal/secrettest"
	"queuebench/internal/versitygw"
)

// Analyses of a log in a bucket, with keys that are right and keys that are
// wrong: none is in anything that was written or printed.
func TestNoSecretGetsOutOfAnAnalysis(t *testing.T) {
	gw := versitygw.StartWith(t, versitygw.Options{TLS: true}) // it is found from here
	run := inEmptyFolder(t)
	if err := os.CopyFS(filepath.Join(gw.Dir, gw.Bucket, "run"), os.DirFS(run)); err != nil {
		t.Fatal(err)
	}
	marks, texts := secrettest.Marks{"the S3 secret key": gw.SecretKey}, map[string]string{}
	t.Setenv("MINIO_S3_ACCESS_KEY", gw.AccessKey)
	for _, name := range []string{"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"} {
		t.Setenv(name, marks.Of(name))
	}
	for _, c := range []struct {
		key, flags string
		status     int
	}{
		{gw.SecretKey, " --ca-file " + gw.CAFile, 0}, {gw.SecretKey, " --insecure", 0}, {gw.SecretKey, "", 1},
		{marks.Of("a wrong key"), " --insecure", 1},
	} {
		t.Setenv("MINIO_S3_SECRET_ACCESS_KEY", c.key)
		for _, line := range []string{"digest -o run.digest.gz", "report --light -o report.html", "export --format csv", "plot --out figures", "summary", "summary --json"} {
			status, stdout, stderr := analyze(t, append(strings.Fields(line+c.flags+" --s3-backend minio"), gw.Address("run"))...)
			texts[line+c.flags+c.key] = stdout + stderr
			if strings.HasPrefix(line, "summary") && c.status == 0 {
				c.status = 3 // the fixture has lost a message
			}
			if status != c.status {
				t.Errorf("analyze %s%s: status %d: %s", line, c.flags, status, stderr)
			}
			if strings.Contains(c.flags, "insecure") != strings.Contains(stderr, "not verified") {
				t.Errorf("analyze %s%s: %s", line, c.flags, stderr)
			}
		}
	}
	for _, args := range [][]string{
		{"summary", "s3://KEY:" + marks.Of("an address") + "@bucket/run"}, {"summary", "http://u:" + marks.Of("an address") + "@h/run"},
		{"report", run, "-o", "s3://KEY:" + marks.Of("an address") + "@bucket/r.html"},
	} {
		status, stdout, stderr := analyze(t, args...)
		texts[strings.Join(args[:1], " ")+args[1]] = stdout + stderr
		if status != 2 || !strings.Contains(stderr, "environment") {
			t.Errorf("%s: status %d: %s", args[0], status, stderr)
		}
	}
	names := map[string]string{}
	i := 0
	for _, text := range texts { // their names hold the secrets
		names[string(rune('a'+i%26))+strings.Repeat("'", i/26)] = text
		i++
	}
	if files := marks.Search(t, ".", names); files < 5 {
		t.Errorf("only %d files were searched", files)
	}
}

// inEmptyFolder returns the address of a recorded run and works elsewhere.
func inEmptyFolder(t *testing.T) (run string) {
	t.Helper()
	run, err := filepath.Abs("../../analysis/testdata/log")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	return run
}
