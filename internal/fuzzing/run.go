package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"queuebench/internal/reliability"
)

// result is what came of a target.
type result struct {
	target   target
	took     time.Duration // of fuzzing, with the seeds before it
	execs    int64         // executions
	rate     float64       // executions a second after the seeds
	news     int64         // inputs that reached what no other had
	corpus   int64         // inputs of that kind, with those of earlier runs and seeds
	failed   string        // why; empty for a pass
	parallel int
}

// fuzzAll fuzzes one target after the other, and builds each room once. When ctx
// ends, the results are those until then.
func fuzzAll(ctx context.Context, stdout io.Writer, all []target, o options) (results []result, err error) {
	cache, err := filepath.Abs(o.cache)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "queuebench-fuzzing-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	room, program := "", ""
	for i, t := range all {
		if t.room != room {
			room, program = t.room, filepath.Join(dir, "tests")
			fmt.Fprintf(stdout, "== building the tests of %s\n", room)
			// With -fuzz the build is instrumented for coverage, also what it imports.
			cmd := exec.CommandContext(ctx, "go", "test", "-c", "-fuzz=.", "-o", program, room)
			if out, err := cmd.CombinedOutput(); err != nil {
				return results, fmt.Errorf("go test -c %s: %w\n%s", room, err, out)
			}
		}
		fmt.Fprintf(stdout, "== %d of %d: %s for %v\n", i+1, len(all), t, o.time)
		r := fuzz(ctx, stdout, program, filepath.Join(cache, filepath.FromSlash(t.room)), t, o)
		if ctx.Err() != nil {
			return results, ctx.Err() // what was interrupted is no result
		}
		results = append(results, r)
	}
	return results, nil
}

// fuzz runs one target of a program of tests.
func fuzz(ctx context.Context, stdout io.Writer, program, cache string, t target, o options) result {
	r := result{target: t, parallel: o.parallel}
	// What hangs is killed by the testing package after 10 s of one execution; the rest
	// is for building seeds and for making a failing input smaller.
	ctx, cancel := context.WithTimeout(ctx, o.time+5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-test.run=^$", "-test.fuzz=^"+t.name+"$", "-test.fuzztime="+o.time.String(),
		"-test.parallel="+strconv.Itoa(o.parallel), "-test.fuzzcachedir="+cache, "-test.paniconexit0")
	cmd.Dir = filepath.FromSlash(t.room)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var tail bytes.Buffer
	lines, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	read := make(chan struct{})
	go func() {
		defer close(read)
		in := bufio.NewReader(lines)
		for {
			line, err := in.ReadString('\n')
			if !r.progress(line) && tail.Len() < 1<<20 {
				tail.WriteString(line)
			}
			if err != nil {
				return
			}
		}
	}()
	err := cmd.Run()
	w.Close()
	<-read
	if err != nil {
		r.failed = err.Error()
		if m := regexp.MustCompile(`Failing input written to (\S+)`).FindSubmatch(tail.Bytes()); m != nil {
			r.failed = "a failing input is now " + filepath.ToSlash(filepath.Join(filepath.FromSlash(t.room), string(m[1])))
		}
		fmt.Fprintf(stdout, "%s", tail.Bytes())
	}
	if r.execs == 0 && r.failed == "" {
		r.failed = "nothing was executed"
	}
	return r
}

// progressLine is one of the testing package's: elapsed, executions, new inputs, all.
var progressLine = regexp.MustCompile(`^fuzz: elapsed: (\S+), execs: (\d+) \(\d+/sec\)(?:, new interesting: (\d+) \(total: (\d+)\))?`)

// progress reads a line, and says whether it was one of progress.
func (r *result) progress(line string) bool {
	m := progressLine.FindStringSubmatch(line)
	if m == nil {
		return strings.HasPrefix(line, "fuzz: elapsed: ")
	}
	took, err := time.ParseDuration(m[1])
	if err != nil {
		return false
	}
	number := func(i int) int64 { n, _ := strconv.ParseInt(m[i], 10, 64); return n } // digits, or empty for 0
	r.took, r.execs, r.news, r.corpus = took, number(2), number(3), number(4)
	if took > 0 {
		r.rate = float64(r.execs) / took.Seconds()
	}
	return true
}

// slow says that it runs too seldom to find much.
func (r result) slow(limit float64) bool { return r.rate < limit*float64(r.parallel) }

func printTable(stdout io.Writer, results []result, o options) {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "target\ttime\texecutions\t/s\tnew inputs\tall inputs\tresult")
	var total int64
	for _, r := range results {
		text := "no finding"
		if r.failed != "" {
			text = "FAILED: " + r.failed
		} else if r.slow(o.slow) {
			text += ", slow"
		}
		fmt.Fprintf(w, "%s\t%v\t%d\t%.0f\t%d\t%d\t%s\n", r.target, r.took, r.execs, r.rate, r.news, r.corpus, text)
		total += r.execs
	}
	_ = w.Flush() // the writer under it tells
	fmt.Fprintf(stdout, "%d targets, %d executions\n", len(results), total)
}

// row is a line of docs/reliability.md.
func (r result) row() reliability.Row {
	row := reliability.Row{
		ID: "fuzz/" + r.target.String(), What: "`" + r.target.String() + "`", Effort: r.took.Seconds(), Often: fmt.Sprintf("%v, %d executions", r.took, r.execs),
		Happened: fmt.Sprintf("no finding; %d inputs that reach something new, %d in all", r.news, r.corpus),
	}
	if r.failed != "" {
		row.Failed, row.Happened = true, r.failed
	}
	return row
}
