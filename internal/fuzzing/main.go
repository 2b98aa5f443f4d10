// Fuzzing runs the fuzz targets of the module one after the other, and prints what
// came of each: see `make fuzz`.
//
//	fuzzing -time 10m                       all targets
//	fuzzing -time 10m -share 2/3            the second third of them: three machines share them out
//	fuzzing -time 10m -only 'rawlog|Delta'  those whose "room.Target" the expression finds
//	fuzzing -list                           names of the targets
//
// A room's tests are built once. What a target found interesting is kept in a folder
// (-cache), and is where its next run begins; an input that fails is kept as a seed
// below testdata/fuzz of its room, and the status is then not 0. Where the
// environment's RELIABILITY names a file, each result is a row of
// docs/reliability.md.
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
	parallel int
	slow     float64
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
	flags.IntVar(&o.parallel, "parallel", runtime.GOMAXPROCS(0), "processes of a target")
	flags.Float64Var(&o.slow, "slow", 200, "executions a second and process below which a target is called slow")
	list := flags.Bool("list", false, "print the targets")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || o.time <= 0 || o.parallel < 1 {
		return fmt.Errorf("%q, -time %v, -parallel %d: see -help", flags.Args(), o.time, o.parallel)
	}
	all, err := targets(".")
	if err != nil {
		return err
	}
	chosen := o.share.of(slices.DeleteFunc(all, func(t target) bool { return !o.only.MatchString(t.String()) }))
	if len(chosen) == 0 {
		return fmt.Errorf("no target is left: -share %v of those that %q finds", o.share, o.only)
	}
	if *list {
		for _, t := range chosen {
			fmt.Fprintln(stdout, t)
		}
		return nil
	}
	results, err := fuzzAll(ctx, stdout, chosen, o)
	printTable(stdout, results, o)
	return cmp.Or(err, report(results))
}

// report leaves the results where RELIABILITY says, and tells which targets failed.
func report(results []result) error {
	var failed []string
	for _, r := range results {
		if r.failed != "" {
			failed = append(failed, r.target.String())
		}
		if file := os.Getenv(reliability.Variable); file != "" {
			if err := reliability.Append(file, r.row()); err != nil {
				return err
			}
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
