package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
	"queuebench/internal/command"
	"queuebench/internal/versitygw"
	"queuebench/objectstore"
	"queuebench/rawlog/logstore"
)

// The store's flags reach it: a server with an authority of its own.
func TestRunOverTLSWithAnAuthorityOfItsOwn(t *testing.T) {
	gw := versitygw.StartWith(t, versitygw.Options{TLS: true}) // found from the module's folder
	bareEnvironment(t)
	for _, kv := range gw.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	line := "run --rate 200 --duration 300ms --commit-interval 20ms --json --store s3://queuebench/x --s3-backend minio --path-style --region us-east-1 --log-store ./logs --endpoint " + gw.Endpoint
	status, stdout, stderr := bench(t, strings.Fields(line+" --ca-file "+gw.CAFile)...)
	if status != 0 || jsonOf(t, stdout).Steps[0].Accounting.Received != 60 {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	m, _ := readLog(t, lastLine(stdout))
	if !strings.Contains(m.Store.Address, "path-style=true") || !strings.Contains(m.Store.Address, "region=us-east-1") {
		t.Errorf("the store is %s", m.Store.Address)
	}
	if status, _, stderr := bench(t, strings.Fields(line)...); status != 1 || !strings.Contains(stderr, "not trusted") {
		t.Errorf("without --ca-file: status %d, %s", status, stderr)
	}
}

// A bucket of S3 Express has the prices of that, unless others are named.
func TestPricesGoByTheBucket(t *testing.T) {
	bareEnvironment(t)
	for line, want := range map[string]string{
		"--store s3://queue--use1-az4--x-s3 --region us-east-1":                   "S3 Express One Zone",
		"--store s3://queue--use1-az4--x-s3 --region us-east-1 --prices standard": "S3 Standard",
		"--store s3://queue": "S3 Standard",
		"":                   "S3 Standard",
	} {
		c := contextOf(t, "run", strings.Fields(line)...)
		w, err := placesOf(c, func(string) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		if p, err := pricesOf(c, w.store); err != nil || p.Name != want {
			t.Errorf("%q costs %+v, %v; expected %s", line, p, err, want)
		}
	}
}

// contextOf is what a command's action is given.
func contextOf(t *testing.T, name string, args ...string) (got *cli.Context) {
	t.Helper()
	app := newApp()
	app.Command(name).Action = func(c *cli.Context) error { got = c; return nil }
	if status := command.Main(t.Context(), app, append([]string{"bench", name}, args...), io.Discard, io.Discard); status != 0 || got == nil {
		t.Fatalf("%s %q: status %d", name, args, status)
	}
	return got
}

// TLS that is switched off is said in the run, wherever it is looked at.
func TestAnInsecureRunSaysSo(t *testing.T) {
	gw := versitygw.StartWith(t, versitygw.Options{TLS: true})
	bareEnvironment(t)
	for _, kv := range gw.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	line := "run --rate 200 --duration 300ms --commit-interval 20ms --json --store s3://queuebench/x --s3-backend minio --path-style --region us-east-1 --endpoint " + gw.Endpoint
	for flags, want := range map[string][]string{
		" --insecure":                                 {"the store was not verified"},
		" --insecure --log-store ./logs":              {"the store was not verified"},
		" --log-store ./logs2 --ca-file " + gw.CAFile: nil,
	} {
		status, stdout, stderr := bench(t, strings.Fields(line+flags)...)
		if status != 0 {
			t.Fatalf("status %d, %s%s", status, stdout, stderr)
		}
		options := objectstore.Options{Insecure: true}
		src, err := logstore.Open(t.Context(), lastLine(stdout), options)
		if err != nil {
			t.Fatal(err)
		}
		d, err := analysis.Read(t.Context(), src, analysis.Options{})
		if err != nil {
			t.Fatal(err)
		}
		texts := map[string]string{
			"standard error": stderr, "the result": strings.Join(jsonOf(t, stdout).Warnings, "\n"), "the manifest": strings.Join(d.Manifest.Warnings, "\n"),
		}
		for where, text := range texts {
			if strings.Count(text, "insecure: ") != len(want) {
				t.Errorf("bench%s: %s says %q", flags, where, text)
			}
			for _, w := range want {
				if !strings.Contains(text, w) {
					t.Errorf("bench%s: %s does not say that %s: %q", flags, where, w, text)
				}
			}
		}
	}
	status, _, stderr := bench(t, strings.Fields(strings.Replace(line, "--json", "", 1)+" --log-store ./logs3")...)
	if status != 1 || !strings.Contains(stderr, "not trusted") {
		t.Errorf("unverified by default: status %d, %s", status, stderr)
	}
}

// So do the commands that leave no run.
func TestInsecureCommandsSaySo(t *testing.T) {
	gw := versitygw.StartWith(t, versitygw.Options{TLS: true})
	bareEnvironment(t)
	for _, kv := range gw.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	place := " --store s3://queuebench/x --s3-backend minio --path-style --region us-east-1 --endpoint " + gw.Endpoint
	load := "work --worker 0/1 --start-delay 3s --rate 200 --duration 100ms --commit-interval 20ms --remove=false --quiet --ca-file " + gw.CAFile + place
	at := map[string]string{}
	for run, more := range map[string]string{"far": "", "near": " --log-store ./logs"} {
		status, stdout, stderr := bench(t, strings.Fields(load+more+" --run-id "+run)...)
		if status != 0 || strings.Contains(stderr, "--insecure") {
			t.Fatalf("status %d, %s", status, stderr)
		}
		at[run] = lastLine(stdout)
	}
	far, near := at["far"], at["near"]
	const part = "sent/step=0/repeat=0/part-producer-0-0.parquet"
	body, err := os.ReadFile(filepath.Join(near, part))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(filepath.Join("spool", part)), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	fileOf(t, filepath.Join("spool", part), string(body))
	const note = "note: TLS certificates are not verified (--insecure)"
	for _, c := range []struct {
		line   string
		status int
		says   bool
	}{
		{"finish --run-id far --keep --insecure" + place, 0, true},
		{"finish --run-id far --keep --ca-file " + gw.CAFile + place, 0, false},
		{"finish --run-id far --keep" + place, 1, false},
		{"clean " + far + " --s3-backend minio --insecure", 0, true},
		{"clean far --insecure" + place, 0, true},
		{"clean " + near + " --s3-backend minio", 1, false}, // the queue's store is the server, the log's a folder
		{"clean " + near + " --s3-backend minio --insecure", 0, true},
		{"clean " + near + " --s3-backend minio --ca-file " + gw.CAFile, 0, false},
		{"upload spool --to " + gw.Address("x/runs/up") + " --s3-backend minio --insecure", 0, true},
	} {
		status, stdout, stderr := bench(t, strings.Fields(c.line)...)
		if status != c.status || strings.Contains(stderr, note) != c.says || strings.Count(stderr, note) > 1 {
			t.Errorf("bench %s: status %d, %s%s", c.line, status, stdout, stderr)
		}
	}
}
