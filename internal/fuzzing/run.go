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
	"sync"
	"time"
)

// fuzzAll fuzzes targets, o.jobs of them at a time, and builds each room once. Each
// result is given to ended, one at a time. When ctx ends, the results are those until
// then.
func fuzzAll(ctx context.Context, stdout io.Writer, all []target, o options, ended func(result) error) (results []result, err error) {
	cache, err := filepath.Abs(o.cache)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "queuebench-fuzzing-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex // of results, stdout, next
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(stdout, format, args...)
	}
	built := newPrograms(dir, all, say)
	next := 0
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, next <= len(all) && ctx.Err() == nil
	}
	var workers sync.WaitGroup
	for range o.jobs {
		workers.Go(func() {
			for i, more := take(); more; i, more = take() {
				t := all[i]
				program, err := built.of(ctx, t.room)
				if err != nil {
					stop(err)
					return
				}
				say("== %d of %d: %s for %v\n", i+1, len(all), t, o.time)
				r, tail := fuzz(ctx, program, filepath.Join(cache, filepath.FromSlash(t.room)), t, o)
				if ctx.Err() != nil {
					return // what was interrupted is no result
				}
				built.done(t.room)
				mu.Lock()
				fmt.Fprintf(stdout, "%s", tail)
				results = append(results, r)
				err = ended(r)
				mu.Unlock()
				if err != nil {
					stop(err)
				}
			}
		})
	}
	workers.Wait()
	return results, context.Cause(ctx)
}

// programs are the tests of rooms, each built when its first target begins and removed
// after its last: they are large.
type programs struct {
	dir   string
	say   func(format string, args ...any)
	mu    sync.Mutex // held while one is built
	rooms map[string]*program
}

type program struct {
	path  string
	built bool
	left  int // targets
}

func newPrograms(dir string, all []target, say func(string, ...any)) *programs {
	p := &programs{dir: dir, say: say, rooms: map[string]*program{}}
	for _, t := range all {
		if p.rooms[t.room] == nil {
			p.rooms[t.room] = &program{path: filepath.Join(dir, fmt.Sprintf("tests-%d", len(p.rooms)))}
		}
		p.rooms[t.room].left++
	}
	return p
}

// of is a room's program.
func (p *programs) of(ctx context.Context, room string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.rooms[room]
	if r.built {
		return r.path, nil
	}
	p.say("== building the tests of %s\n", room)
	// With -fuzz the build is instrumented for coverage, also what it imports.
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-fuzz=.", "-o", r.path, room)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go test -c %s: %w\n%s", room, err, out)
	}
	r.built = true
	return r.path, nil
}

// done says that a target of a room has ended.
func (p *programs) done(room string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.rooms[room]
	if r.left--; r.left == 0 {
		_ = os.Remove(r.path) // its folder is removed in the end
	}
}

// minimizing is for how long each input that reaches something new is made smaller. With
// the testing package's minute ten such inputs of some kilobytes take ten minutes, in
// which nothing else is tried.
const minimizing = time.Second

// fuzz runs one target of a program of tests. Of one that failed, or called its end a
// failure, tail is what it said.
func fuzz(ctx context.Context, program, cache string, t target, o options) (r result, tail []byte) {
	r = result{target: t, parallel: o.parallel, asked: o.time}
	// What hangs is killed by the testing package after 10 s of one execution; the rest
	// is for building seeds and for making a failing input smaller.
	ctx, cancel := context.WithTimeout(ctx, o.time+5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-test.run=^$", "-test.fuzz=^"+t.name+"$", "-test.fuzztime="+o.time.String(),
		"-test.fuzzminimizetime="+minimizing.String(), "-test.parallel="+strconv.Itoa(o.parallel), "-test.fuzzcachedir="+cache, "-test.paniconexit0")
	cmd.Dir = filepath.FromSlash(t.room)
	apart(cmd) // an interrupt is for us: who is ended by one while he makes an input smaller calls it a failure
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var rest bytes.Buffer
	lines, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	read := make(chan struct{})
	go func() {
		defer close(read)
		in := bufio.NewReader(lines)
		for {
			line, err := in.ReadString('\n')
			if !r.progress(line) && rest.Len() < 1<<20 {
				rest.WriteString(line)
			}
			if err != nil {
				return
			}
		}
	}()
	began := time.Now()
	err := cmd.Run()
	w.Close()
	<-read
	if s := cmd.ProcessState; s != nil {
		r.processor = s.UserTime() + s.SystemTime() // with its workers, for which it waited
	}
	r.late = err != nil && endedByDeadline.Match(rest.Bytes()) && time.Since(began) >= o.time
	if err != nil && !r.late {
		r.failed = err.Error()
		if m := regexp.MustCompile(`Failing input written to (\S+)`).FindSubmatch(rest.Bytes()); m != nil {
			r.failed = "a failing input is now " + filepath.ToSlash(filepath.Join(filepath.FromSlash(t.room), string(m[1])))
		}
	}
	if err != nil {
		tail = rest.Bytes()
	}
	if r.execs == 0 && r.failed == "" {
		r.failed = "nothing was executed"
	}
	return r, tail
}

// endedByDeadline is all that the testing package before Go 1.27 says where it takes the
// end of its time for a failure, which is no finding: https://go.dev/issue/75804. What a
// target itself fails with is told with the input that was written.
var endedByDeadline = regexp.MustCompile(`^(?:warning: .*\n)*--- FAIL: Fuzz\w* \(\S+\)\n    context deadline exceeded\nFAIL\n$`)

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
