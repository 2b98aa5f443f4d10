package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"
	"go.uber.org/goleak"

	"queuebench/clock"
	"queuebench/internal/command"
	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/rawlog/logstore"
)

// asProcess makes the test's program bench itself, for tests that signal it.
const asProcess = "QUEUEBENCH_TEST_AS_BENCH"

// withSkew is the variable that makes the clock of such a process wrong.
const withSkew = "QUEUEBENCH_TEST_SKEW"

// withStep makes its wall clock one that was set by so much, since other processes of
// this boot read it.
const withStep = "QUEUEBENCH_TEST_STEP"

func TestMain(m *testing.M) {
	if os.Getenv(asProcess) != "" {
		for variable, boot := range map[string]string{withSkew: "another boot", withStep: ""} {
			if skew, err := time.ParseDuration(os.Getenv(variable)); err == nil {
				app := newApp()
				app.Metadata = map[string]any{clockName: clock.Skewed(skew, boot)}
				os.Exit(command.Process(app))
			}
		}
		main()
	}
	goleak.VerifyTestMain(m) // no goroutine outlives what started it
}

// bench runs a command line.
func bench(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = command.Main(t.Context(), newApp(), append([]string{"bench"}, uncalibrated(args)...), &out, &errs)
	return status, out.String(), errs.String()
}

// uncalibrated leaves a run's calibration out where a test does not ask for it: half a
// second each. What may be in flight is less than a user's: the race detector takes
// several times the memory of the books, 16 MB, and touches all of it.
func uncalibrated(args []string) []string {
	if len(args) == 0 || slices.Contains(args, "--help") {
		return args
	}
	c := newApp().Command(args[0])
	if c == nil {
		return args
	}
	for name, value := range map[string]string{"calibrate": "=false", "max-in-flight": "=16384"} {
		if command.Named(c, name) && !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--"+name) }) {
			args = slices.Insert(args[:len(args):len(args)], 1, "--"+name+value)
		}
	}
	return args
}

// bareEnvironment takes away what would name a store or its keys, and works in
// an empty folder.
func bareEnvironment(t *testing.T) {
	t.Helper()
	for _, kv := range os.Environ() {
		if namesAStore(kv) {
			name, _, _ := strings.Cut(kv, "=")
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Chdir(t.TempDir())
}

// namesAStore says that an environment variable may name a store or its keys.
func namesAStore(kv string) bool {
	return strings.HasPrefix(kv, "AWS_") || strings.HasPrefix(kv, "MINIO_")
}

// lastLine is the run's address.
func lastLine(stdout string) string {
	lines := strings.Split(strings.TrimRight(stdout, "\n"), "\n")
	return lines[len(lines)-1]
}

// jsonOf is the line of --json.
func jsonOf(t *testing.T, stdout string) jsonResult {
	t.Helper()
	var r jsonResult
	line, _, _ := strings.Cut(stdout, "\n")
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("%v in %q", err, stdout)
	}
	return r
}

// readLog reads the manifest at an address and counts the rows of each table.
func readLog(t *testing.T, address string) (*rawlog.Manifest, map[string]int64) {
	t.Helper()
	ctx := context.Background()
	src, err := logstore.Open(ctx, address, objectstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	open := func(name string) rawlog.Object {
		obj, err := src.Open(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		return obj
	}
	obj := open(rawlog.ManifestName)
	body := make([]byte, obj.Size())
	if _, err := obj.ReadAt(body, 0); err != nil {
		t.Fatal(err)
	}
	obj.Close()
	m, err := rawlog.ReadManifest(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	names, err := src.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int64{}
	for _, name := range names {
		if !strings.HasSuffix(name, ".parquet") {
			continue
		}
		obj := open(name)
		part, err := rawlog.OpenPart(obj)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for part.Next() {
			rows[part.Table().Name] += int64(part.Len())
		}
		if part.Err() != nil {
			t.Fatalf("%s: %v", name, part.Err())
		}
		obj.Close()
	}
	return m, rows
}

// below lists the files below a folder; one that is not there has none.
func filesBelow(dir string) (files []string) {
	filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, p)
		}
		return nil
	})
	return files
}

// epoch is a time for names.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func mainOf(t *testing.T, app *cli.App, args []string, out, errs io.Writer) int {
	t.Helper()
	return command.Main(t.Context(), app, append([]string{"bench", "run"}, args...), out, errs)
}
