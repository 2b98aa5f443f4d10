//go:build unix

// Command benchtable runs programs that do the same work and prints what each
// took, medians of several runs, for `make bench-analyze`:
//
//	benchtable -messages 1000000 -runs 3 LABEL PROGRAM ARG… -- LABEL PROGRAM ARG…
//
// The last one is what the others are compared with. Processor time is user and
// system of all threads; on a machine that others use too it is what counts. A
// program that exits with 3 (a run that broke a promise) has done its work.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"text/tabwriter"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "benchtable:", err)
		os.Exit(1)
	}
}

// took is what a program took.
type took struct {
	wall, cpu time.Duration
	peak      int64 // resident, bytes
}

func run(ctx context.Context, out io.Writer, args []string) error {
	flags := flag.NewFlagSet("benchtable", flag.ContinueOnError)
	messages := flags.Int64("messages", 0, "messages that each program works on")
	runs := flags.Int("runs", 3, "how often each runs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *messages < 1 || *runs < 1 {
		return errors.New("-messages and -runs must be 1 or more")
	}
	programs, err := split(flags.Args())
	if err != nil {
		return err
	}
	all := make([]took, len(programs))
	for i, p := range programs {
		// One after the other in one session: what else the machine does weighs on
		// all of them.
		if all[i], err = median(ctx, p[1:], *runs); err != nil {
			return fmt.Errorf("%s: %w", p[0], err)
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	last := len(programs) - 1
	fmt.Fprintf(w, "%s\tM messages/cpu-s\tcpu s\twall s\tpeak MB\ttimes %s\t\n", "median of "+fmt.Sprint(*runs), programs[last][0])
	for i, t := range all {
		perSecond := func(t took) float64 { return float64(*messages) / t.cpu.Seconds() / 1e6 }
		fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\t%.0f\t%.1f\t\n", programs[i][0], perSecond(t), t.cpu.Seconds(), t.wall.Seconds(), float64(t.peak)/1e6, perSecond(t)/perSecond(all[last]))
	}
	return w.Flush()
}

// split cuts the arguments at each --.
func split(args []string) (programs [][]string, err error) {
	for len(args) > 0 {
		end := slices.Index(args, "--")
		if end < 0 {
			end = len(args)
		}
		if end < 2 {
			return nil, fmt.Errorf("%q is no LABEL PROGRAM ARG…", args[:end])
		}
		programs = append(programs, args[:end])
		args = args[min(len(args), end+1):]
	}
	if len(programs) == 0 {
		return nil, errors.New("there is no program to run")
	}
	return programs, nil
}

func median(ctx context.Context, command []string, runs int) (took, error) {
	var all []took
	for range runs {
		t, err := once(ctx, command)
		if err != nil {
			return took{}, err
		}
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b took) int { return cmp.Compare(a.cpu, b.cpu) })
	return all[len(all)/2], nil
}

func once(ctx context.Context, command []string) (took, error) {
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Stderr = os.Stderr
	start := time.Now()
	err := c.Run()
	t := took{wall: time.Since(start)}
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 3) {
		return t, err
	}
	t.cpu = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	if u, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		t.peak = int64(u.Maxrss) << 10 // kB on Linux
	}
	return t, nil
}
