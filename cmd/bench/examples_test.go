package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"queuebench/objectstore"
	"queuebench/rawlog"
)

// exampleRun is the run that the examples of clean and upload name.
const exampleRun = "20260102t030405z-abcdef"

// prepareExamples makes what the examples speak of: a run in the default
// folder, and a spool with a part of it.
func prepareExamples(t *testing.T) {
	t.Helper()
	status, stdout, stderr := bench(t, "run", "--queue", "memory", "--rate", "100", "--duration", "100ms", "--run-id", exampleRun)
	if status != 0 {
		t.Fatal(stderr)
	}
	prepareSpool(t, lastLine(stdout))
}

// prepareSpool puts a run's manifest and a part into its spool.
func prepareSpool(t *testing.T, run string) (spool string) {
	t.Helper()
	spool = filepath.Join("queuebench-spool", exampleRun)
	for _, name := range []string{rawlog.ManifestName, "sent/step=0/repeat=0/part-producer-0-0.parquet"} {
		body, err := os.ReadFile(filepath.Join(run, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(spool, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(spool, name), body, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return spool
}

// TestExamplesRunAsTheyAreWritten runs each example of each --help.
func TestExamplesRunAsTheyAreWritten(t *testing.T) {
	app := newApp()
	texts := map[string]string{"bench": app.UsageText}
	for _, c := range app.Commands {
		texts[c.Name] = c.UsageText
	}
	project, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			run := func(args ...string) (status int, stdout, stderr string) { return bench(t, args...) }
			switch name {
			case "clean", "upload", "capacity", "calibrate": // what they need is made in this process; they find what the processors hold
				bareEnvironment(t)
				if err := os.Symlink(filepath.Join(project, "scenarios"), "scenarios"); err != nil {
					t.Fatal(err)
				}
			default: // they mostly wait, each in a process and a folder of its own
				t.Parallel()
				dir := t.TempDir()
				if err := os.Symlink(filepath.Join(project, "scenarios"), filepath.Join(dir, "scenarios")); err != nil {
					t.Fatal(err)
				}
				env := append(slices.DeleteFunc(os.Environ(), namesAStore), asProcess+"=1", "HOME="+dir, "AWS_EC2_METADATA_DISABLED=true")
				run = func(args ...string) (status int, stdout, stderr string) {
					cmd := exec.CommandContext(t.Context(), os.Args[0], uncalibrated(args)...)
					cmd.Dir, cmd.Env = dir, env
					var out, errs bytes.Buffer
					cmd.Stdout, cmd.Stderr = &out, &errs
					if err := cmd.Run(); err != nil {
						errs.WriteString(err.Error())
					}
					return cmd.ProcessState.ExitCode(), out.String(), errs.String()
				}
			}
			for line := range strings.Lines(text) {
				args := strings.Fields(line)
				if len(args) < 2 || args[0] != "bench" {
					t.Errorf("%q is no example", line)
					continue
				}
				if name == "clean" || name == "upload" {
					os.RemoveAll(defaultData)
					os.RemoveAll("queuebench-spool")
					prepareExamples(t)
				}
				if status, stdout, stderr := run(args[1:]...); status != 0 || stdout == "" {
					t.Errorf("%s: status %d, stderr %s", strings.TrimSpace(line), status, stderr)
				}
			}
		})
	}
}

func TestEachHelpBeginsWithWhatItOutputsAndEndsWithExamples(t *testing.T) {
	lines := [][]string{{"--help"}}
	for _, c := range newApp().Commands {
		lines = append(lines, []string{c.Name, "--help"})
	}
	for _, args := range lines {
		status, help, _ := bench(t, args...)
		_, examples, found := strings.Cut(help, "\nEXAMPLES\n")
		if status != 0 || !strings.HasPrefix(help, "Prints ") || !found || !strings.HasPrefix(examples, "   bench ") {
			t.Errorf("%q: status %d, help is\n%s", args, status, help)
		}
	}
}

func TestUploadStoresTheSpoolAndEmptiesIt(t *testing.T) {
	bareEnvironment(t)
	prepareExamples(t)
	run := filepath.Join(defaultData, embeddedBucket, runsPrefix, exampleRun)
	part := filepath.Join(run, "sent/step=0/repeat=0/part-producer-0-0.parquet")
	if err := os.Remove(part); err != nil {
		t.Fatal(err)
	}
	spool := filepath.Join("queuebench-spool", exampleRun)
	open := filepath.Join(spool, "sent/step=0/repeat=0/part-producer-0-1.parquet.open")
	if err := os.WriteFile(open, []byte("PAR1"), 0o644); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-time.Hour) // no run is at work there
	if err := os.Chtimes(open, long, long); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := bench(t, "upload", spool)
	address, err := filepath.Abs(run)
	if err != nil {
		t.Fatal(err)
	}
	if status != 0 || lastLine(stdout) != address || !strings.Contains(stderr, "1 parts were open") {
		t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
	if m, rows := readLog(t, address); rows["sent"] != 10 || m.Run != exampleRun {
		t.Errorf("rows %v", rows)
	}
	if _, err := os.Stat(spool); err == nil {
		t.Errorf("left in the spool: %q", filesBelow(spool))
	}
	if err := os.MkdirAll(spool, 0o755); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := bench(t, "upload", spool); status != 1 || !strings.Contains(stderr, "holds nothing that can be stored") {
		t.Errorf("an emptied spool: status %d, stderr %q", status, stderr)
	}
}

func TestUploadRefusesWhatIsNoSpool(t *testing.T) {
	bareEnvironment(t)
	if err := os.WriteFile("notes.txt", []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := bench(t, "upload", "."); status != 1 || !strings.Contains(stderr, "is no file of a spool") {
		t.Errorf("status %d, stderr %q", status, stderr)
	}
	if status, _, stderr := bench(t, "upload", "./absent"); status != 1 || !strings.Contains(stderr, "absent") {
		t.Errorf("status %d, stderr %q", status, stderr)
	}
}

// Trap 11: the neighbours have names that begin alike.
func TestTrap11CleanTouchesNoNeighbour(t *testing.T) {
	bareEnvironment(t)
	store, err := objectstore.OpenFolder("lake")
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{"tables/r1/step-0-repeat-0/a", "tables/r1/x", "tables/r10/a", "tables/r1-2/a", "tables/r", "r1/a", "runs/r1/run.json", "runs/r10/run.json"}
	for _, k := range keys {
		if err := store.Put(t.Context(), k, []byte("x"), objectstore.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	left := func() (n int) {
		for _, k := range keys {
			if _, err := store.Head(t.Context(), k); err == nil {
				n++
			}
		}
		return n
	}
	if status, stdout, stderr := bench(t, "clean", "r1", "--store", "./lake"); status != 0 || !strings.Contains(stdout, "removed 2 objects") || left() != 6 {
		t.Errorf("status %d, %s%s, %d left", status, stdout, stderr, left())
	}
	if status, stdout, stderr := bench(t, "clean", "--log", "r1", "--store", "./lake"); status != 0 || !strings.Contains(stdout, "removed 1 object of the log of run r1") || left() != 5 {
		t.Errorf("status %d, %s%s, %d left", status, stdout, stderr, left())
	}
	if status, _, stderr := bench(t, "clean", "r1", "--store", "./absent"); status != 1 || !strings.Contains(stderr, "there is no folder") {
		t.Errorf("an absent store: status %d, stderr %q", status, stderr)
	}
	if _, err := os.Stat("absent"); err == nil {
		t.Error("clean made the folder that it was to look into")
	}
}
