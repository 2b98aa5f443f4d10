package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
	"queuebench/analysis/compare"
	"queuebench/figure"
	"queuebench/internal/command"
)

func checkPlots(c *cli.Context) error {
	if !slices.Contains(figure.Formats(), c.String("format")) {
		return command.Misusef("--format %q: say one of %s", c.String("format"), strings.Join(figure.Formats(), ", "))
	}
	if command.IsSet(c, "format") && c.String("plots") == "" {
		return command.Misusef("--format is of the figures: say with --plots to which folder they go")
	}
	return nil
}

// plotComparison writes the figures of a comparison, and names them where text
// is printed.
func plotComparison(c *cli.Context, r *compare.Result, kind analysis.Kind) error {
	dir := c.String("plots")
	if dir == "" {
		return nil
	}
	if err := makeFolder(dir); err != nil {
		return err
	}
	style := figure.Style{Titled: true}
	var figures []figure.Figure
	for i, p := range r.Pairs {
		for _, f := range figure.RatioPanels(p.Base, p.New, kind, ratioCurves(p), style) {
			if len(r.Pairs) > 1 {
				f.Name = fmt.Sprintf("%s-pair-%d", f.Name, i+1)
			}
			figures = append(figures, f)
		}
	}
	for _, s := range r.Scaling {
		figures = append(figures, figure.Scaling(s, style))
	}
	for _, f := range figures {
		path := filepath.Join(dir, f.Name+"."+c.String("format"))
		if err := writeFile(path, func(w io.Writer) error { return f.WriteTo(w, c.String("format")) }); err != nil {
			return err
		}
		if c.Bool("json") || c.Bool("markdown") {
			continue
		}
		if err := command.Print(c.App.Writer, "\n%s\n   %s\n", path, f.Caption); err != nil {
			return err
		}
	}
	return nil
}

func ratioCurves(p compare.Pair) []figure.RatioCurve {
	var out []figure.RatioCurve
	for i, cell := range p.Cells {
		curve := figure.RatioCurve{Label: cell.Name, Class: i % figure.Classes}
		for _, q := range cell.Curve {
			curve.Points = append(curve.Points, figure.RatioPoint{Percent: q.Percent, Ratio: float64(q.Ratio), Low: float64(q.Low), High: float64(q.High)})
		}
		out = append(out, curve)
	}
	return out
}
