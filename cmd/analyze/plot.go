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
		Description: "Writes a file for each figure, NAME-STEP-REPEAT.svg for each step and NAME.svg for the run, in which several\n" +
			"steps stand side by side on one axis, and prints their paths with a sentence on what each shows. The figures are\n" + strings.Join(figureNames, ", ") + ".\n\n" + runArgument,
		UsageText: "   analyze plot RUN --out figures\n" +
			"   analyze plot RUN --out figures --format png --scale log\n" +
			"   analyze plot RUN --out figures --interval 5s --lines 50,99,max\n" +
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
var figureNames = []string{"latency-over-time", "latency-cumulative", "percentile-spectrum", "distribution", "throughput-over-time", "backlog-over-time", "stage-times", "latency-per-rate"}

// figuresOf draws the named figures, all when none is named: of several steps each
// and all side by side.
func figuresOf(d *analysis.Digest, v analysis.View, style figure.Style, names []string) []figure.Figure {
	wanted := func(name string) bool { return len(names) == 0 || slices.Contains(names, name) }
	var figures []figure.Figure
	add := func(name string, draw func() []figure.Figure) {
		if wanted(name) {
			figures = append(figures, draw()...)
		}
	}
	one := func(name string, draw func() figure.Figure) {
		add(name, func() []figure.Figure { return []figure.Figure{draw()} })
	}
	sum := analysis.Summarize(d, v)
	var dists []analysis.Distribution
	var flows []analysis.Flow
	var series, cumulative []analysis.Series
	var variants []string
	for i := range d.Steps {
		s := &d.Steps[i]
		dist, flow := analysis.DistributionOf(d, s, v), analysis.FlowOf(s, v)
		over, until := analysis.SeriesOf(s, v), analysis.CumulativeOf(s, v)
		dists, flows = append(dists, dist), append(flows, flow)
		series, cumulative, variants = append(series, over), append(cumulative, until), append(variants, sum.Steps[i].Variant)
		one("latency-over-time", func() figure.Figure { return figure.LatencyOverTime(over, style) })
		one("latency-cumulative", func() figure.Figure { return figure.LatencyOverTime(until, style) })
		one("percentile-spectrum", func() figure.Figure {
			return figure.PercentileSpectrum([]analysis.Distribution{dist}, style)
		})
		one("distribution", func() figure.Figure { return figure.LatencyDistribution(dist, style) })
		one("throughput-over-time", func() figure.Figure { return figure.ThroughputOverTime(flow, style) })
		one("backlog-over-time", func() figure.Figure { return figure.BacklogOverTime(flow, style) })
	}
	if len(d.Steps) > 1 {
		add("latency-over-time", func() []figure.Figure { return figure.LatencyOverTimePanels(series, variants, style) })
		add("latency-cumulative", func() []figure.Figure { return figure.LatencyOverTimePanels(cumulative, variants, style) })
		add("percentile-spectrum", func() []figure.Figure { return figure.Spectra(dists, style) })
		add("throughput-over-time", func() []figure.Figure { return figure.ThroughputPanels(flows, variants, style) })
		add("backlog-over-time", func() []figure.Figure { return figure.BacklogPanels(flows, variants, style) })
	}
	if slices.ContainsFunc(sum.Steps, func(s analysis.StepSummary) bool { return s.Stages != nil }) {
		one("stage-times", func() figure.Figure { return figure.StageTimes(sum, style) })
	}
	add("latency-per-rate", func() []figure.Figure { return figure.RatePanels(sum, v.Kind, style) })
	return figures
}

func plot(c *cli.Context, d *analysis.Digest, v analysis.View, format string) error {
	v = v.Of(d)
	style := figure.Style{LogScale: v.LogScale, Titled: true, Percentiles: v.Percentiles, Draws: v.Draws}
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
