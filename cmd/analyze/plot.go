package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
	"queuebench/figure"
	"queuebench/internal/command"
	"queuebench/internal/storeflags"
)

func plotCommand() *cli.Command {
	return &cli.Command{
		Name:      "plot",
		Usage:     "draw latency over time and latency per rate",
		ArgsUsage: "RUN",
		Description: "Writes latency-over-time-STEP-REPEAT.svg for each step and latency-per-rate.svg, and prints their\n" +
			"paths with a sentence on what each shows.\n\n" + runArgument,
		UsageText: "   analyze plot RUN --out figures\n" +
			"   analyze plot RUN --out figures --format png --scale log",
		Flags: append(append(viewFlags(),
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "folder to write to", Value: "."},
			&cli.StringFlag{Name: "format", Usage: "svg, png or pdf", Value: "svg"},
		), storeflags.Flags()...),
		Action: func(c *cli.Context) error {
			v, err := viewOf(c)
			if err != nil {
				return err
			}
			format := c.String("format")
			if !slices.Contains(figure.Formats(), format) {
				return command.Misusef("--format %q: say one of %s", format, strings.Join(figure.Formats(), ", "))
			}
			d, err := oneRun(c, v)
			if err != nil {
				return err
			}
			return plot(c, d, v, format)
		},
	}
}

func plot(c *cli.Context, d *analysis.Digest, v analysis.View, format string) error {
	style := figure.Style{LogScale: v.LogScale, Titled: true, Percentiles: v.Percentiles}
	var figures []figure.Figure
	for i := range d.Steps {
		figures = append(figures, figure.LatencyOverTime(analysis.SeriesOf(&d.Steps[i], v), style))
	}
	figures = append(figures, figure.LatencyPerRate(analysis.Summarize(d, v), v.Kind, style))
	dir := c.String("out")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, f := range figures {
		path := filepath.Join(dir, f.Name+"."+format)
		if err := writeFile(path, func(w *os.File) error { return f.WriteTo(w, format) }); err != nil {
			return err
		}
		if err := command.Print(c.App.Writer, "%s\n   %s\n", path, f.Caption); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes a file so that it is either whole or not there.
func writeFile(path string, write func(*os.File) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".queuebench-*")
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("%s cannot be written: %w", path, err)
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
