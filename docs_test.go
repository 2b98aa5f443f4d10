package queuebench_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"queuebench/internal/versitygw"
)

// documentedEndpoint stands in the documents for the reader's own S3 server.
const documentedEndpoint = "http://127.0.0.1:9000"

// shell runs what the documents show: a folder, the programs in the PATH, and
// an S3 server behind documentedEndpoint with a bucket named "bucket".
type shell struct {
	dir      string
	env      []string
	endpoint string
}

func newShell(t *testing.T) *shell {
	t.Helper()
	if err := buildPrograms(); err != nil {
		t.Fatal(err)
	}
	gw := versitygw.Start(t)
	gw.CreateBucket(t, "bucket")
	return &shell{
		dir:      t.TempDir(),
		endpoint: gw.Endpoint,
		env:      append(append(os.Environ(), gw.Environ()...), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH")),
	}
}

// bin is the folder of the programs, which TestMain makes and removes.
var bin string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if bin, err = os.MkdirTemp("", "queuebench-docs-"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(bin)
		return m.Run()
	}())
}

// buildPrograms builds the programs, once for all tests, and without what only
// debuggers read.
var buildPrograms = sync.OnceValue(func() error {
	for _, name := range []string{"bench", "analyze"} {
		if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(bin, name), "./cmd/"+name).CombinedOutput(); err != nil {
			return fmt.Errorf("go build ./cmd/%s: %w\n%s", name, err, out)
		}
	}
	return nil
})

// write makes a file that an example reads: a copy of one of ours, or a text.
func (s *shell) write(t *testing.T, name, from string) {
	t.Helper()
	body := []byte(from)
	if !strings.Contains(from, "\n") {
		var err error
		if body, err = os.ReadFile(from); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.dir, name), body, 0o600); err != nil {
		t.Fatal(err)
	}
}

// run runs lines as they are written, but for the endpoint, and for `analyze
// serve`, which would serve until interrupted.
func (s *shell) run(t *testing.T, lines string) string {
	t.Helper()
	lines = strings.ReplaceAll(lines, documentedEndpoint, s.endpoint)
	lines = regexp.MustCompile(`(?m)^(\s*analyze serve .*)$`).ReplaceAllString(lines, "$1 --for 500ms")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", lines)
	cmd.Dir, cmd.Env = s.dir, s.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s\n%v\nstdout:\n%s\nstderr:\n%s", lines, err, out.String(), errs.String())
	}
	return out.String()
}

// block is a fenced block of a document, with the comment that stands before it.
var block = regexp.MustCompile("(?ms)^(?:<!-- (not run: [^\n]*) -->\n)?```(sh|console|bash)\n(.*?)^```")

func TestDocumentsRunAsWritten(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	documents, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var ran atomic.Int32
	// Each document has a folder of its own, and its commands mostly wait.
	t.Run("all", func(t *testing.T) {
		for _, path := range append([]string{"README.md"}, documents...) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(path, func(t *testing.T) {
				t.Parallel()
				s := *s
				s.dir = t.TempDir()
				for _, m := range block.FindAllStringSubmatch(string(text), -1) {
					if m[1] != "" {
						t.Logf("%s: %s", m[1], strings.TrimSpace(m[3]))
						continue
					}
					s.run(t, m[3])
					ran.Add(1)
				}
			})
		}
	})
	if n := ran.Load(); n < 3 {
		t.Errorf("only %d blocks ran: the README has more", n)
	}
}

// The examples of bench are run by its own tests, which make the runs and
// spools that they name.
func TestExamplesOfAnalyzeRunAsWritten(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	address := s.run(t, "bench run --queue delta --rate 1000 --duration 6s --quiet | tail -n 1")
	s.run(t, "bench run --run-id east-1 --rate 500 --duration 3s --store ./lake --quiet >/dev/null & bench run --run-id west-1 --rate 1000 --duration 3s --store ./lake --quiet >/dev/null; wait")
	s.write(t, "results.hlog", "importer/testdata/sample.hlog")
	s.write(t, "latencies.csv", "due_ns,got_ns\n1768478400000000000,1768478400250000000\n")
	help := s.run(t, "analyze --help")
	names := regexp.MustCompile(`(?m)^   (\w+)  `).FindAllStringSubmatch(section(help, "COMMANDS"), -1)
	if len(names) < 7 {
		t.Fatalf("analyze --help lists %d commands:\n%s", len(names), help)
	}
	for _, name := range names {
		t.Run(name[1], func(t *testing.T) {
			help := s.run(t, "analyze "+name[1]+" --help")
			examples := section(help, "EXAMPLES")
			if !strings.Contains(examples, "analyze "+name[1]) {
				t.Fatalf("no example of its own in\n%s", help)
			}
			s.run(t, strings.ReplaceAll(examples, "RUN", strings.TrimSpace(address)))
		})
	}
}

// section returns what stands below a title of a help text.
func section(help, title string) string {
	_, after, _ := strings.Cut(help, "\n"+title+"\n")
	if end := regexp.MustCompile(`(?m)^[A-Z]+$`).FindStringIndex(after); end != nil {
		after = after[:end[0]]
	}
	return after
}
