package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
	"queuebench/internal/command"
	"queuebench/internal/storeflags"
	"queuebench/site"
)

func reportCommand() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "write a run as one HTML file",
		ArgsUsage: "RUN [RUN]",
		Description: "Writes one HTML file and prints its path: tables and figures that can be read with scripts off, and the\n" +
			"analyzer itself, so that warm-up, percentiles and axes can be changed where the file is opened.\n" +
			"It needs no server and no network.\n\n" + runArgument,
		UsageText: "   analyze report RUN -o report.html\n" +
			"   analyze report RUN -o light.html --light --warmup 5s",
		Flags: append(append(viewFlags(),
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "file to write", Value: "report.html"},
			&cli.BoolFlag{Name: "light", Usage: "leave the analyzer out: a file of a few hundred kilobytes that recomputes nothing"},
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
			d, err := oneRun(c, v)
			if err != nil {
				return err
			}
			err = writeFile(path, func(w io.Writer) error {
				return site.WriteReport(w, d, v, site.Options{Light: c.Bool("light")})
			})
			if err != nil {
				return err
			}
			return printWritten(c, path)
		},
	}
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
