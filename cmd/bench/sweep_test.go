package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/internal/versitygw"
	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/runner"
)

func TestSweepOnTheEmbeddedServer(t *testing.T) {
	bareEnvironment(t)
	status, stdout, stderr := bench(t, "sweep", "--rates", "500,1000", "--rates", "250", "--duration", "1s", "--commit-interval", "50ms", "--json")
	if status != 0 {
		t.Fatalf("status %d, stderr %s", status, stderr)
	}
	r := jsonOf(t, stdout)
	if !r.Complete || !r.Embedded || len(r.Steps) != 3 || r.Address != lastLine(stdout) || r.Schema != resultSchema {
		t.Errorf("got %+v", r)
	}
	for i, n := range []int64{250, 500, 1000} {
		if got, want := r.Steps[i].Accounting, (rawlog.Accounting{Scheduled: n, Attempted: n, Acked: n, Received: n}); got != want {
			t.Errorf("step %d: got %+v, want %+v", i, got, want)
		}
		if r.Steps[i].Requests["put_if_absent"] < 5 || r.Steps[i].EndToEnd.Percentiles["50"] == nil {
			t.Errorf("step %d: %+v", i, r.Steps[i])
		}
	}
	if !strings.Contains(stderr, "in-process floor") || !strings.Contains(stderr, "--log-store names another") {
		t.Errorf("findings are missing: %s", stderr)
	}
	m, rows := readLog(t, lastLine(stdout))
	if !m.Complete || rows["sent"] != 1750 || rows["received"] != 1750 || rows["seconds"] < 3 || rows["batches"] < 10 || rows["events"] < 20 {
		t.Errorf("complete %v, rows %v", m.Complete, rows)
	}
	if m.Queue.Kind != "delta" || !m.Queue.InProcess || strings.Contains(m.Queue.Durability, "127.0.0.1") || m.Settings["commit-interval"] != "50ms" || m.Settings["rates"] != "500,1000,250" || !m.Store.Embedded || m.Host.CPUs == 0 {
		t.Errorf("manifest: %+v", m)
	}
	if left := filesBelow(filepath.Join(defaultData, embeddedBucket, tablesPrefix)); len(left) > 0 {
		t.Errorf("the tables were not removed: %q", left)
	}
	if _, err := os.Stat("queuebench-spool"); !os.IsNotExist(err) {
		t.Errorf("the empty spool was left: %v", err)
	}
}

// TestProductsCommandLine runs the line of the benchmark that this one follows,
// with smaller numbers.
func TestProductsCommandLine(t *testing.T) {
	bareEnvironment(t)
	status, stdout, stderr := bench(t, strings.Fields("sweep --range-start 100 --range-end 300 --range-step 100 --seconds-to-stream 1 --s3-backend minio --autocommit-duration-ms 100")...)
	if status != 0 {
		t.Fatalf("status %d, stderr %s", status, stderr)
	}
	m, _ := readLog(t, lastLine(stdout))
	if len(m.Steps) != 3 || m.Steps[2].Rate != 300 || m.Queue.CommitInterval.Milliseconds() != 100 {
		t.Errorf("%d steps, %+v", len(m.Steps), m.Queue)
	}
}

func TestSweepOnVersitygw(t *testing.T) {
	server := versitygw.Start(t)
	bareEnvironment(t)
	for _, kv := range server.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	other := server.Address("other")
	store := server.Address("lake")
	status, stdout, stderr := bench(t, "sweep", "--rates", "500,1000", "--duration", "1s", "--store", store, "--log-store", other, "--partitions", "2", "--groups", "2", "--json")
	if status != 0 {
		t.Fatalf("status %d, stderr %s", status, stderr)
	}
	r := jsonOf(t, stdout)
	for i, n := range []int64{500, 1000} {
		if got, want := r.Steps[i].Accounting, (rawlog.Accounting{Scheduled: n, Attempted: n, Acked: n, Received: n}); got != want {
			t.Errorf("step %d: got %+v, want %+v", i, got, want)
		}
	}
	if r.Embedded || !strings.Contains(stderr, "runs on this machine") {
		t.Errorf("embedded %v, findings %s", r.Embedded, stderr)
	}
	m, rows := readLog(t, lastLine(stdout))
	if !m.Complete || rows["sent"] != 1500 || rows["received"] != 3000 {
		t.Errorf("complete %v, rows %v", m.Complete, rows)
	}
	left, err := objectstore.Open(t.Context(), store, objectstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = left.List(t.Context(), objectstore.ListOptions{}, func(i objectstore.Info) error {
		t.Errorf("left in the store: %s", i.Key)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if text := stdout + stderr; strings.Contains(text, os.Getenv("MINIO_S3_SECRET_ACCESS_KEY")) {
		t.Error("a secret was printed")
	}

	a, err := objectstore.ParseAddress(store)
	if err != nil {
		t.Fatal(err)
	}
	a.Bucket = "there-is-none"
	refused(t, 1, "bucket", "run --rate 10 --store "+a.String())
	t.Setenv("MINIO_S3_SECRET_ACCESS_KEY", "wrong-wrong-wrong")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong-wrong-wrong")
	refused(t, 1, "access denied", "run --rate 10 --store "+store)
}

func TestBucketAndEndpointOfTheEnvironment(t *testing.T) {
	bareEnvironment(t)
	check := func(want string, args ...string) {
		t.Helper()
		var got string
		app := newApp()
		for _, c := range app.Commands {
			if c.Name == "run" {
				c.Action = func(c *cli.Context) error {
					w, err := places(c, os.Getenv)
					got = w.store.String() + " " + w.log.String()
					if w.embedded != "" {
						got = "embedded"
					}
					return err
				}
			}
		}
		var out, errs strings.Builder
		if status := mainOf(t, app, args, &out, &errs); status != 0 {
			got = errs.String()
		}
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%q with %v: got %q, want %q", args, os.Environ()[:0], got, want)
		}
	}
	check("^embedded$")
	check(`^s3://b/p\?endpoint=http://h:1 s3://b/p/runs\?endpoint=http://h:1$`, "--store", "s3://b/p?endpoint=http://h:1")
	check(`^s3://b/p\?endpoint=http://h:2&region=eu `, "--store", "s3://b/p", "--endpoint", "http://h:2", "--region", "eu")
	check(`^s3://b\?endpoint=http://h:2 .*/logs$`, "--bucket", "b", "--endpoint", "http://h:2", "--log-store", "./logs")
	t.Setenv("MINIO_S3_BUCKET", "mb")
	t.Setenv("MINIO_S3_ENDPOINT", "http://m:1")
	check(`^s3://mb\?endpoint=http://m:1 s3://mb/runs\?endpoint=http://m:1$`)
	check(`^s3://other\?endpoint=http://m:1 `, "--store", "s3://other")
	t.Setenv("AWS_S3_BUCKET", "ab")
	t.Setenv("AWS_REGION", "eu-west-1")
	t.Setenv("AWS_S3_ACCESS_KEY", "x")
	t.Setenv("AWS_S3_SECRET_ACCESS_KEY", "y")
	check(`^s3://ab\?region=eu-west-1 `, "--s3-backend", "s3")
}

func TestSomeFailedMessagesAreAFailure(t *testing.T) {
	for _, a := range []rawlog.Accounting{
		{Scheduled: 10, Attempted: 10, Acked: 9, Failed: 1},
		{Scheduled: 10, Attempted: 10, Acked: 9, Unconfirmed: 1},
		{Scheduled: 10, Attempted: 10, Acked: 10},
	} {
		var step runner.StepResult
		step.Accounting = a
		err := verdict(&runner.Config{}, &runner.Result{Steps: []runner.StepResult{step}}, nil)
		if want := min(1, int(a.Failed+a.Unconfirmed)); command.Status(err) != want {
			t.Errorf("%+v: status %d, %v", a, command.Status(err), err)
		}
	}
}

func TestExitStatuses(t *testing.T) {
	bareEnvironment(t)
	for _, c := range []struct {
		line   string
		status int
		want   string
	}{
		{"", 0, ""},
		{"--refuse", 1, "no message was acknowledged"},
		{"--drop-every 10", 3, "20 acknowledged messages were lost"},
		{"--duplicate-every 10", 3, "20 messages were delivered again"},
	} {
		status, stdout, stderr := bench(t, strings.Fields("run --queue memory --rate 1000 --duration 200ms --quiet "+c.line)...)
		if status != c.status || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: status %d, stderr %q", c.line, status, stderr)
		}
		if m, rows := readLog(t, lastLine(stdout)); rows["sent"] != 200 || !m.Complete {
			t.Errorf("%q: complete %v, rows %v", c.line, m.Complete, rows)
		}
	}
}

func TestARunIDIsUsedOnce(t *testing.T) {
	bareEnvironment(t)
	line := strings.Fields("run --queue memory --rate 100 --duration 100ms --run-id mine")
	if status, _, stderr := bench(t, line...); status != 0 {
		t.Fatal(stderr)
	}
	if status, stdout, stderr := bench(t, line...); status != 2 || stdout != "" || !strings.Contains(stderr, "there is a run of that name") {
		t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
}

func TestRunIDsSortByTime(t *testing.T) {
	last := ""
	for range 3 {
		id := newRunID(epoch)
		if checkRunID(id) != nil || id == last || !strings.HasPrefix(id, "20260102t030405z-") {
			t.Errorf("got %q after %q", id, last)
		}
		last = id
	}
}
