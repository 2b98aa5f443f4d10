// Fuzzing runs the fuzz targets of the module, and prints what came of each: see
// `make fuzz`.
//
//	fuzzing -time 10m                       all targets
//	fuzzing -time 10m -todo                 those without a pass of ten minutes since what they try was changed
//	fuzzing -time 10m -jobs 2               two targets at a time, with one process each
//	fuzzing -time 10m -share 2/3            the second third of them: three machines share them out
//	fuzzing -time 10m -only 'rawlog|Delta'  those whose "room.Target" the expression finds
//	fuzzing -list                           names of the targets
//	fuzzing -keep                           makes small inputs of the cache seeds
//
// A room's tests are built once. What a target found interesting is kept in a folder
// (-cache), and is where its next run begins; an input that fails is kept as a seed
// below testdata/fuzz of its room, and the status is then not 0. Where the
// environment's RELIABILITY names a file, each result becomes a row of
// docs/reliability.md as soon as it is there, so that a run that is interrupted is
// continued with -todo. The time since which a target has to have passed is that of the
// last change, by Git, of its file, its room, or a room that this imports, tests apart.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"queuebench/internal/reliability"
	"queuebench/internal/testfiles"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fuzzing:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	time     time.Duration // of each target
	share    share
	only     *regexp.Regexp
	cache    string
	jobs     int // targets at a time
	parallel int // processes of a target
	slow     float64
	todo     bool
}

var errFound = errors.New("not all targets passed")

func run(ctx context.Context, stdout io.Writer, args []string) error {
	flags := flag.NewFlagSet("fuzzing", flag.ContinueOnError)
	flags.SetOutput(stdout)
	o := options{share: share{1, 1}, only: regexp.MustCompile("")}
	flags.DurationVar(&o.time, "time", 30*time.Second, "for how long each target runs")
	flags.TextVar(&o.share, "share", o.share, "i/n: the i-th of n shares of the targets")
	flags.TextVar(o.only, "only", o.only, "expression that finds room.Target")
	flags.StringVar(&o.cache, "cache", ".fuzz", "folder of the inputs that were found interesting")
	flags.IntVar(&o.jobs, "jobs", 1, "targets that run at a time")
	flags.IntVar(&o.parallel, "parallel", 0, "processes of a target; 0: as many as there are processors, or 1 with several jobs")
	flags.Float64Var(&o.slow, "slow", 200, "executions a second and process below which a target is called slow")
	flags.BoolVar(&o.todo, "todo", false, "leave out what passed for -time in the results of "+reliability.Variable+" since it was changed")
	list := flags.Bool("list", false, "print the targets")
	keeps := flags.Bool("keep", false, "make small inputs of the cache seeds below testdata/fuzz, and fuzz nothing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || o.time <= 0 || o.parallel < 0 || o.jobs < 1 {
		return fmt.Errorf("%q, -time %v, -jobs %d, -parallel %d: see -help", flags.Args(), o.time, o.jobs, o.parallel)
	}
	if o.parallel == 0 {
		if o.parallel = 1; o.jobs == 1 {
			o.parallel = runtime.GOMAXPROCS(0)
		}
	}
	all, err := targets(".")
	if err != nil {
		return err
	}
	chosen := o.share.of(slices.DeleteFunc(all, func(t target) bool { return !o.only.MatchString(t.String()) }))
	if len(chosen) == 0 {
		return fmt.Errorf("no target is left: -share %v of those that %q finds", o.share, o.only)
	}
	if o.todo {
		asked := len(chosen)
		if chosen, err = leftToDo(ctx, chosen, o.time); err != nil {
			return err
		}
		if !*list {
			fmt.Fprintf(stdout, "%d of %d targets have no pass of %v since what they try was changed\n", len(chosen), asked, o.time)
		}
	}
	switch {
	case *list:
		for _, t := range chosen {
			fmt.Fprintln(stdout, t)
		}
		return nil
	case *keeps:
		return keep(ctx, stdout, chosen, o.cache)
	}
	file := os.Getenv(reliability.Variable)
	results, err := fuzzAll(ctx, stdout, chosen, o, func(r result) error {
		if file == "" {
			return nil
		}
		return reliability.Append(file, r.row())
	})
	printTable(stdout, results, o)
	return cmp.Or(err, failures(results))
}

// leftToDo are the targets of -todo.
func leftToDo(ctx context.Context, all []target, atLeast time.Duration) ([]target, error) {
	file := os.Getenv(reliability.Variable)
	if file == "" {
		return nil, fmt.Errorf("-todo needs results: name their file in %s", reliability.Variable)
	}
	rows, err := reliability.Read(file)
	if err != nil {
		return nil, err
	}
	h, err := newHistory(ctx, all)
	if err != nil {
		return nil, err
	}
	return left(all, rows, atLeast, h.changed)
}

// failures tells which targets failed.
func failures(results []result) error {
	var failed []string
	for _, r := range results {
		if r.failed != "" {
			failed = append(failed, r.target.String())
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("%w: %s", errFound, strings.Join(failed, ", "))
	}
	return nil
}

// target is a fuzz target of a room.
type target struct{ room, name string }

func (t target) String() string { return strings.TrimPrefix(t.room, "./") + "." + t.name }

// targets are those of the module at root, in the order of their rooms.
func targets(root string) (all []target, err error) {
	err = testfiles.Each(root, func(room string, f *ast.FuncDecl) error {
		if strings.HasPrefix(f.Name.Name, "Fuzz") {
			all = append(all, target{room, f.Name.Name})
		}
		return nil
	})
	slices.SortFunc(all, func(a, b target) int { return cmp.Or(strings.Compare(a.room, b.room), strings.Compare(a.name, b.name)) })
	return all, err
}

// share is the i-th of n, from 1.
type share struct{ i, n int }

func (s share) String() string { return fmt.Sprintf("%d/%d", s.i, s.n) }

// MarshalText writes i/n.
func (s share) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads i/n.
func (s *share) UnmarshalText(text []byte) error {
	i, n, _ := strings.Cut(string(text), "/")
	var errs [2]error
	s.i, errs[0] = strconv.Atoi(i)
	s.n, errs[1] = strconv.Atoi(n)
	if errors.Join(errs[:]...) != nil || s.i < 1 || s.n < s.i {
		return fmt.Errorf("%q: write i/n, such as 1/3, with i from 1 to n", text)
	}
	return nil
}

// of takes neighbours, so that few rooms are built.
func (s share) of(all []target) []target { return all[(s.i-1)*len(all)/s.n : s.i*len(all)/s.n] }
