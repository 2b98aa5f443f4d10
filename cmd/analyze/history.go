package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
	"queuebench/analysis/history"
	"queuebench/internal/command"
	"queuebench/internal/storeflags"
)

func historyCommand() *cli.Command {
	return &cli.Command{
		Name:      "history",
		Usage:     "look at the same loads over many runs in time, and find where they changed",
		ArgsUsage: "DIR…",
		Description: "Prints, for each rate and percentile, its course over the runs below a folder, and each change with the run at\n" +
			"which it began, by how much, and what else changed there: settings, machine, version. A run is one point,\n" +
			"whatever its repeats. With fewer than some ten runs it says that they are too few. docs/compare.md has the details.\n\n" +
			"DIR is a folder with runs and digests in it or below it, in any number and order; runs may be given too.",
		UsageText: "   mkdir nightly\n" +
			"   analyze digest RUN -o nightly/1.gz\n" +
			"   analyze history nightly\n" +
			"   analyze history nightly --percentiles 50,95,99 --csv history.csv --json",
		Flags: append(append(cutFlags()[:2],
			&cli.StringFlag{Name: "percentiles", Usage: "percentiles, in percent, with commas between: the more, the less each can show", Value: "50,99"},
			&cli.StringFlag{Name: "latency", Usage: "latency to look at: end_to_end, end_to_end_from_send, publish, send_lag, to_broker, through_pipeline, broker_to_consumer, poll", Value: analysis.EndToEnd.String()},
			&cli.StringFlag{Name: "csv", Usage: "file to write as CSV, a row for each run of each series"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON, schema " + history.Schema},
		), storeflags.Flags()...),
		Action: func(c *cli.Context) error {
			v, err := viewOf(c)
			if err != nil {
				return err
			}
			if c.NArg() == 0 {
				return command.Misusef("history takes a DIR: give the folder that runs or digests lie in")
			}
			b := history.New(v)
			for _, dir := range c.Args().Slice() {
				if err := addRuns(c, b, dir, v); err != nil {
					return err
				}
			}
			return printHistory(c, b.Result())
		},
	}
}

// addRuns adds the runs below a folder, one after the other, so that no more than
// one is in memory. One that cannot be shown under the view is told and passed
// over: a night without a message must not hide the others.
func addRuns(c *cli.Context, b *history.Builder, dir string, v analysis.View) error {
	addresses, err := runsBelow(dir)
	if err != nil {
		return err
	}
	for _, a := range addresses {
		d, err := openRun(c, a, v)
		if several := len(addresses) > 1; several && (errors.Is(err, analysis.ErrNotDigest) || errors.Is(err, analysis.ErrNoData) || errors.Is(err, analysis.ErrWarmup)) {
			fmt.Fprintf(c.App.ErrWriter, "%s: passed over: %v\n", c.App.Name, err)
			continue
		}
		if err != nil {
			return err
		}
		b.Add(d)
	}
	return nil
}

func printHistory(c *cli.Context, r *history.Result) error {
	if path := c.String("csv"); path != "" {
		if err := writeFile(path, func(w io.Writer) error { return history.WriteCSV(w, r) }); err != nil {
			return err
		}
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, r)
	}
	return history.WriteText(c.App.Writer, r)
}
