package main

import (
	"io"
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
		ArgsUsage: "RUN [RUN]",
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
			if _, err := outOf(c); err != nil {
				return err
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
	v = v.Of(d)
	style := figure.Style{LogScale: v.LogScale, Titled: true, Percentiles: v.Percentiles}
	var figures []figure.Figure
	for i := range d.Steps {
		figures = append(figures, figure.LatencyOverTime(analysis.SeriesOf(&d.Steps[i], v), style))
	}
	figures = append(figures, figure.LatencyPerRate(analysis.Summarize(d, v), v.Kind, style))
	dir := c.String("out")
	if err := makeFolder(dir); err != nil {
		return err
	}
	for _, f := range figures {
		path := filepath.Join(dir, f.Name+"."+format)
		if err := writeFile(path, func(w io.Writer) error { return f.WriteTo(w, format) }); err != nil {
			return err
		}
		if err := command.Print(c.App.Writer, "%s\n   %s\n", path, f.Caption); err != nil {
			return err
		}
	}
	return nil
}
