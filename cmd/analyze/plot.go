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
		Usage:     "draw latency over time, per rate and by percentile, and what moved",
		ArgsUsage: "RUN [RUN]",
		Description: "Writes a file for each figure, NAME-STEP-REPEAT.svg for each step and NAME.svg for the run, and prints\n" +
			"their paths with a sentence on what each shows. The figures are\n" + strings.Join(figureNames, ", ") + ".\n\n" + runArgument,
		UsageText: "   analyze plot RUN --out figures\n" +
			"   analyze plot RUN --out figures --format png --scale log\n" +
			"   analyze plot RUN --out figures --figure percentile-spectrum --figure throughput-over-time",
		Flags: append(append(viewFlags(),
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "folder to write to", Value: "."},
			&cli.StringFlag{Name: "format", Usage: "svg, png or pdf", Value: "svg"},
			&cli.StringSliceFlag{Name: "figure", Usage: "`NAME` of a figure, several times for several", DefaultText: "all"},
			referenceFlag(),
		), append(importFlags(), storeflags.Flags()...)...),
		Action: func(c *cli.Context) error {
			v, err := viewOf(c)
			if err != nil {
				return err
			}
			format := c.String("format")
			if !slices.Contains(figure.Formats(), format) {
				return command.Misusef("--format %q: say one of %s", format, strings.Join(figure.Formats(), ", "))
			}
			for _, name := range c.StringSlice("figure") {
				if !slices.Contains(figureNames, name) {
					return command.Misusef("--figure %q: say one of %s", name, strings.Join(figureNames, ", "))
				}
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

// figureNames are what can be drawn, those of a step first.
var figureNames = []string{"latency-over-time", "percentile-spectrum", "distribution", "throughput-over-time", "backlog-over-time", "stage-times", "latency-per-rate"}

// figuresOf draws the named figures, all when none is named.
func figuresOf(d *analysis.Digest, v analysis.View, style figure.Style, names []string) []figure.Figure {
	wanted := func(name string) bool { return len(names) == 0 || slices.Contains(names, name) }
	var figures []figure.Figure
	add := func(name string, draw func() figure.Figure) {
		if wanted(name) {
			figures = append(figures, draw())
		}
	}
	var all []analysis.Distribution
	for i := range d.Steps {
		s := &d.Steps[i]
		dist, flow := analysis.DistributionOf(d, s, v), analysis.FlowOf(s, v)
		all = append(all, dist)
		add("latency-over-time", func() figure.Figure { return figure.LatencyOverTime(analysis.SeriesOf(s, v), style) })
		add("percentile-spectrum", func() figure.Figure {
			return figure.PercentileSpectrum([]analysis.Distribution{dist}, style)
		})
		add("distribution", func() figure.Figure { return figure.LatencyDistribution(dist, style) })
		add("throughput-over-time", func() figure.Figure { return figure.ThroughputOverTime(flow, style) })
		add("backlog-over-time", func() figure.Figure { return figure.BacklogOverTime(flow, style) })
	}
	if len(all) > 1 {
		add("percentile-spectrum", func() figure.Figure { return figure.PercentileSpectrum(all, style) })
	}
	sum := analysis.Summarize(d, v)
	if slices.ContainsFunc(sum.Steps, func(s analysis.StepSummary) bool { return s.Stages != nil }) {
		add("stage-times", func() figure.Figure { return figure.StageTimes(sum, style) })
	}
	add("latency-per-rate", func() figure.Figure { return figure.LatencyPerRate(sum, v.Kind, style) })
	return figures
}

func plot(c *cli.Context, d *analysis.Digest, v analysis.View, format string) error {
	v = v.Of(d)
	style := figure.Style{LogScale: v.LogScale, Titled: true, Percentiles: v.Percentiles}
	figures := figuresOf(d, v, style, c.StringSlice("figure"))
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
