package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
	"queuebench/analysis/history"
	"queuebench/importer"
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
			"DIR is a folder, or a prefix such as s3://bucket/nightly, with runs and digests in it or below it, in any number\n" +
			"and order; runs may be given too. One that cannot be read is a warning, and the status is 1.",
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
			var left unread
			for _, dir := range c.Args().Slice() {
				if err := addRuns(c, b, dir, v, &left); err != nil {
					return err
				}
			}
			b.Warn(left...)
			if err := printHistory(c, b.Result()); err != nil {
				return err
			}
			return left.err()
		},
	}
}

// addRuns adds the runs below a folder, one after the other, so that no more than
// one is in memory. One that cannot be shown under the view is told and passed
// over: a night without a message must not hide the others. One that cannot be
// read goes to left.
func addRuns(c *cli.Context, b *history.Builder, dir string, v analysis.View, left *unread) error {
	found, err := runsBelow(c, dir)
	if err != nil {
		return err
	}
	for _, f := range found {
		d, err := openFound(c, f, v)
		switch {
		case err == nil:
			b.Add(d)
		case len(found) == 1:
			return err
		case errors.Is(err, analysis.ErrNotDigest) || errors.Is(err, importer.ErrUnknown) || errors.Is(err, analysis.ErrNoData) || errors.Is(err, analysis.ErrWarmup):
			fmt.Fprintf(c.App.ErrWriter, "%s: passed over: %v\n", c.App.Name, err)
		case !left.add(c, f.Address, err):
			return err
		}
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
