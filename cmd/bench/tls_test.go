package main

import (
	"io"
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
