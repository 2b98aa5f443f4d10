package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
	"queuebench/internal/storeflags"
)

func digestCommand() *cli.Command {
	return &cli.Command{
		Name:      "digest",
		Usage:     "write a run's digest",
		ArgsUsage: "RUN [RUN]",
		Description: "Writes a run's digest and prints its path: a gzipped HdrHistogram interval log of some hundred kilobytes\n" +
			"whatever the number of messages: its intervals are as short as --max-bytes allows. Every command\n" +
			"here takes it in the place of the run. It can be cut at the edges of its intervals, so --from and --to\n" +
			"put an edge where you will want to look.\n\n" + runArgument,
		UsageText: "   analyze digest RUN -o run.digest.gz\n" +
			"   analyze summary run.digest.gz",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "file to write", Value: "run.digest.gz"},
			&cli.IntFlag{Name: "max-bytes", Usage: "size of the file: intervals are made longer until it is kept, down to twelve a step", Value: analysis.DigestBytes},
			&cli.StringFlag{Name: "from", Usage: "let an interval begin here, such as 5s, by intended time since the start of each step"},
			&cli.StringFlag{Name: "to", Usage: "let an interval end here, such as 65s"},
			referenceFlag(),
		}, append(importFlags(), storeflags.Flags()...)...),
		Action: func(c *cli.Context) error {
			path, err := outFile(c)
			if err != nil {
				return err
			}
			var v analysis.View
			if err := windowOf(c, &v); err != nil {
				return err
			}
			d, err := oneRun(c, v)
			if err != nil {
				return err
			}
			if d, err = d.Fit(c.Int("max-bytes")); err != nil {
				return err
			}
			err = writeFile(path, func(w io.Writer) error { return analysis.PackDigest(w, d) })
			if err != nil {
				return err
			}
			return printWritten(c, path)
		},
	}
}
