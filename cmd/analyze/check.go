package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
	"queuebench/analysis/gate"
	"queuebench/internal/command"
	"queuebench/internal/storeflags"
)

func checkCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "hold a run to limits, for a CI job",
		ArgsUsage: "RUN…",
		Description: "Prints, for each limit and step, whether it was held, broken, or whether the data do not support a verdict:\n" +
			"a percentile without enough messages, a latency that grows, a load that the runner could not make.\n\n" +
			"A limit is METRIC[@RATE] and a comparison with a value:\n" +
			"   p99<150ms  p99.9@10000<400ms  publish.p99<20ms  max<2s  send_lag.p99<1ms\n" +
			"   lost==0  duplicates==0  failed==0  overrun<=0.1%  received_per_s>=99%  cov<5%\n" +
			"With --against, --max-regression p99=10% holds a percentile against that of other runs: held where the whole\n" +
			"interval of the change is below, broken where all of it is above. It takes several runs, or repeats, on either\n" +
			"side (4+4 for one percentile at one rate). docs/compare.md has the details.\n\n" +
			"Exit status 0: all held; 3: one was broken; 4: none was broken and the data do not support one of them.\n\n" +
			"RUN is what every command takes: the address that bench printed last, or a digest. " + sideArgument,
		UsageText: "   analyze check RUN --slo 'lost==0' --slo 'duplicates==0'\n" +
			"   analyze check RUN --slo 'p99@1000<150ms' --slo 'received_per_s>=99%' --junit limits.xml --github || echo \"exit status $?\"",
		Flags: append(append(cutFlags()[:2],
			&cli.GenericFlag{Name: "slo", Usage: "a limit; once for each", Value: &command.Strings{}},
			&cli.GenericFlag{Name: "against", Usage: "a run of the base; once for each", Value: &command.Strings{}},
			&cli.GenericFlag{Name: "max-regression", Usage: "by how much a percentile may be above the base's, such as p99=10% or publish.p50@1000=5%; once for each", Value: &command.Strings{}},
			&cli.BoolFlag{Name: "within-run", Usage: "judge one run against one by their own variation over time, where there are no repeats"},
			&cli.StringFlag{Name: "junit", Usage: "file to write as JUnit XML"},
			&cli.BoolFlag{Name: "github", Usage: "also print annotations for GitHub Actions"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON, schema " + gate.Schema},
		), storeflags.Flags()...),
		Action: func(c *cli.Context) error {
			v, err := cutOf(c)
			if err != nil {
				return err
			}
			limits, err := limitsOf(c)
			if err != nil {
				return err
			}
			if c.NArg() == 0 {
				return command.Misusef("check takes a RUN: give the address that bench printed last, or a digest")
			}
			var left unread
			runs, err := openAll(c, c.Args().Slice(), v, &left)
			if err != nil {
				return err
			}
			base, err := openAll(c, stringsOf(c, "against"), v, &left)
			if err != nil {
				return err
			}
			r, err := gate.Check(runs, base, v, limits)
			if err != nil {
				return err
			}
			for _, text := range left {
				r.Unread(text)
			}
			return printReport(c, r)
		},
	}
}

// limitsOf reads the limits, and refuses what would hold nothing.
func limitsOf(c *cli.Context) (gate.Limits, error) {
	limits := gate.Limits{WithinRun: c.Bool("within-run")}
	for _, text := range stringsOf(c, "slo") {
		s, err := gate.ParseSLO(text)
		if err != nil {
			return limits, command.Misusef("--slo: %w", err)
		}
		limits.SLOs = append(limits.SLOs, s)
	}
	for _, text := range stringsOf(c, "max-regression") {
		g, err := gate.ParseRegression(text)
		if err != nil {
			return limits, command.Misusef("--max-regression: %w", err)
		}
		limits.Regressions = append(limits.Regressions, g)
	}
	against := len(stringsOf(c, "against")) > 0
	switch {
	case len(limits.Regressions) > 0 && !against:
		return limits, command.Misusef("--max-regression needs the runs to hold against: give --against RUN")
	case against && len(limits.Regressions) == 0:
		return limits, command.Misusef("--against holds nothing by itself: give --max-regression p99=10%%, or another percentile and share")
	case len(limits.SLOs)+len(limits.Regressions) == 0:
		return limits, command.Misusef("there is nothing to hold: give --slo 'p99<150ms', or --against RUN --max-regression p99=10%%")
	case c.Bool("json") && c.Bool("github"):
		return limits, command.Misusef("--json and --github: give one of them")
	}
	return limits, nil
}

// openAll opens the runs at all addresses.
func openAll(c *cli.Context, addresses []string, v analysis.View, left *unread) ([]*analysis.Digest, error) {
	var all []*analysis.Digest
	for _, a := range addresses {
		runs, err := openRuns(c, a, v, left)
		if err != nil {
			return nil, err
		}
		all = append(all, runs...)
	}
	return all, nil
}

func printReport(c *cli.Context, r *gate.Report) error {
	var err error
	if c.Bool("json") {
		err = printJSON(c.App.Writer, r)
	} else {
		err = gate.WriteText(c.App.Writer, r)
	}
	if err == nil && c.Bool("github") {
		err = gate.WriteGitHub(c.App.Writer, r)
	}
	if path := c.String("junit"); path != "" {
		err = errors.Join(err, writeFile(path, func(w io.Writer) error { return gate.WriteJUnit(w, r) }))
	}
	if err != nil {
		return err
	}
	for _, v := range r.Verdicts {
		if v.State != r.State || v.State == gate.Held {
			continue
		}
		text := fmt.Errorf("%s at %s: %s, found %s", v.Limit, v.Step, v.State, v.Found)
		if v.State == gate.Broken {
			return command.Broken(text)
		}
		return command.Unsupported(fmt.Errorf("%w: %s", text, v.Why))
	}
	return nil
}
