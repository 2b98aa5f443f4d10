package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/exporter"
	"queuebench/internal/command"
	"queuebench/internal/storeflags"
)

func exportCommand() *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "write a run in the format of another tool",
		ArgsUsage: "RUN [RUN]",
		Description: "Writes a run after its warm-up as csv, json (docs/export.schema.json) or parquet: percentiles of each step\n" +
			"and interval; or each step as pathway-csv, hlog, hgrm or omb (a result of the OpenMessaging Benchmark).\n" +
			"Prints the paths; one document without --out goes to standard output. What a format cannot hold is\n" +
			"told on standard error. docs/formats.md describes each.\n\n" + runArgument,
		UsageText: "   analyze export RUN --format csv > run.csv\n" +
			"   analyze export RUN --format pathway-csv --out benchmark-results\n" +
			"   analyze export RUN --format hlog --latency publish --warmup 0s --out logs",
		Flags: append(append(viewFlags(),
			&cli.StringFlag{Name: "format", Usage: strings.Join(exporter.Names(), ", ")},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "file to write, or the folder for formats with a file per step (default: standard output, of one document)"},
		), append(importFlags(), storeflags.Flags()...)...),
		Action: func(c *cli.Context) error {
			f, err := exporter.Find(c.String("format"))
			if err != nil {
				return command.Misusef("--%w", err)
			}
			v, err := viewOf(c)
			if err != nil {
				return err
			}
			toStdout := c.String("out") == ""
			if !toStdout && !f.PerStep {
				if _, err := outFile(c); err != nil {
					return err
				}
			}
			d, err := oneRun(c, v)
			if err != nil {
				return err
			}
			if len(d.Steps) == 0 {
				return errors.New("there is no step to export: summaries of other tools are carried, and not written again")
			}
			if f.Run != nil {
				write := func(w io.Writer) error { return f.Run(w, d, v) }
				if toStdout {
					return write(c.App.Writer)
				}
				if err := writeFile(c.String("out"), write); err != nil {
					return err
				}
				return printWritten(c, c.String("out"))
			}
			return exportSteps(c, f, exporter.Steps(d, v))
		},
	}
}

// exportSteps writes a file for each step, or the only one to standard output.
func exportSteps(c *cli.Context, f exporter.Format, steps []exporter.Step) error {
	dir := c.String("out")
	if dir == "" && len(steps) > 1 {
		return command.Misusef("%s has a file per step, and the run has %d: name a folder with --out", f.Name, len(steps))
	}
	if dir != "" {
		if err := makeFolder(dir); err != nil {
			return err
		}
	}
	for _, s := range steps {
		var notes []string
		write := func(w io.Writer) (err error) {
			notes, err = f.Step(w, s)
			return err
		}
		path := ""
		var err error
		if dir == "" {
			err = write(c.App.Writer)
		} else {
			path = filepath.Join(dir, s.Name()+f.Extension)
			err = writeFile(path, write)
		}
		if err != nil {
			return err
		}
		for _, n := range notes {
			fmt.Fprintf(c.App.ErrWriter, "%s: note: %s\n", c.App.Name, n)
		}
		if path != "" {
			if err := command.Print(c.App.Writer, "%s\n", path); err != nil {
				return err
			}
		}
	}
	return nil
}
