package main

import (
	"errors"
	"io"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
	"queuebench/internal/command"
	"queuebench/internal/storeflags"
	"queuebench/rawlog"
	"queuebench/site"
)

func reportCommand() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "write a run, or a comparison of several, as one HTML file",
		ArgsUsage: "RUN…",
		Description: "Writes one HTML file and prints its path: tables and figures that can be read with scripts off, and the\n" +
			"analyzer itself, so that warm-up, percentiles and axes can be changed where the file is opened.\n" +
			"It needs no server and no network.\n\n" +
			"With several runs it is a comparison: what changed against the first,\n" +
			"how sure that is, and in what else they differ, by the rules of `analyze compare`. LABEL=RUN names a run, and runs\n" +
			"of one label are replicates of one side. Its percentiles are those that are tested, 50 and 99 unless others are named.\n\n" + runArgument,
		UsageText: "   analyze report RUN -o report.html\n" +
			"   analyze report RUN -o light.html --light --warmup 5s\n" +
			"   analyze digest RUN -o base.gz\n" +
			"   analyze report before=base.gz after=RUN -o comparison.html",
		Flags: append(append(viewFlags(),
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "file to write", Value: "report.html"},
			&cli.BoolFlag{Name: "light", Usage: "leave the analyzer out: a file of a few hundred kilobytes that recomputes nothing"},
			&cli.BoolFlag{Name: "compare", Usage: "hold the runs against the first, whatever they are; without it files of other tools are taken together as one run"},
			referenceFlag(),
		), append(importFlags(), storeflags.Flags()...)...),
		Action: func(c *cli.Context) error {
			v, err := viewOf(c)
			if err != nil {
				return err
			}
			path, err := outFile(c)
			if err != nil {
				return err
			}
			write, err := reportOf(c, v)
			if err != nil {
				return err
			}
			if err := writeFile(path, write); err != nil {
				return err
			}
			return printWritten(c, path)
		},
	}
}

// reportOf reads what the arguments name, and says how it is written.
func reportOf(c *cli.Context, v analysis.View) (func(io.Writer) error, error) {
	ds, labels, err := reportRuns(c, v)
	if err != nil {
		return nil, err
	}
	o := site.Options{Light: c.Bool("light"), Labels: labels}
	if labels == nil {
		return func(w io.Writer) error { return site.WriteReport(w, ds[0], v, o) }, nil
	}
	if !command.IsSet(c, "percentiles") {
		v.Percentiles = nil // those of a comparison
	}
	return func(w io.Writer) error { return site.WriteComparison(w, ds, v, o) }, nil
}

// reportRuns reads the runs that the arguments name: one, then there are no
// labels, or several to hold against each other, each with its label or "".
func reportRuns(c *cli.Context, v analysis.View) (ds []*analysis.Digest, labels []string, err error) {
	if comparing, err := comparesRuns(c); err != nil {
		return nil, nil, err
	} else if !comparing {
		d, err := oneRun(c, v)
		if args := c.Args().Slice(); !errors.Is(err, rawlog.ErrNotHalves) || len(slices.Compact(slices.Sorted(slices.Values(args)))) < len(args) {
			return []*analysis.Digest{d}, nil, err
		}
	}
	for _, argument := range c.Args().Slice() {
		name, address := labelled(argument)
		d, err := openRun(c, address, v)
		if err != nil {
			return nil, nil, err
		}
		ds, labels = append(ds, d), append(labels, name)
	}
	return ds, labels, nil
}

// comparesRuns says whether the arguments are runs to hold against each other:
// asked for, by a label, or because a digest is among them, which is no half of a
// run. Raw logs may be the halves of one, which they tell when they are opened;
// files of other tools are imported together.
func comparesRuns(c *cli.Context) (bool, error) {
	args := c.Args().Slice()
	if c.Bool("compare") && len(args) < 2 {
		return false, command.Misusef("--compare takes at least two RUNs, and was given %d: name a base and what is held against it", len(args))
	}
	return c.Bool("compare") || len(args) > 1 && slices.ContainsFunc(args, func(argument string) bool {
		name, address := labelled(argument)
		info, err := os.Stat(address)
		return name != "" || err == nil && info.Mode().IsRegular() && isDigest(address)
	}), nil
}

func siteCommand() *cli.Command {
	return &cli.Command{
		Name:      "site",
		Usage:     "write runs as a static site",
		ArgsUsage: "RUN…",
		Description: "Writes a folder that any static host can serve: the page, the analyzer, and a digest of each run; prints\n" +
			"its path. A folder that holds a site already keeps its runs and gains these.\n\n" + runArgument,
		UsageText: "   analyze site RUN --out site\n" +
			"   analyze serve site",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "folder to write", Value: "site"},
		}, storeflags.Flags()...),
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return command.Misusef("site takes at least one RUN: give the address that bench printed last")
			}
			out, err := outOf(c)
			if err != nil {
				return err
			}
			var digests []*analysis.Digest
			for _, address := range c.Args().Slice() {
				d, err := openRun(c, address, analysis.View{})
				if err != nil {
					return err
				}
				digests = append(digests, d)
			}
			if err := site.WriteSite(out, digests); err != nil {
				return err
			}
			return command.Print(c.App.Writer, "%s\n", out)
		},
	}
}
