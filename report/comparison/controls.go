package comparison

import (
	"strings"
	"time"

	"queuebench/analysis"
	"queuebench/figure"
	"queuebench/report"
	"queuebench/report/texts"
)

func duration(ns int64) time.Duration { return time.Duration(ns) }

// controls are the values of the page's inputs: the cut is that of the longest
// step of all runs.
func (b *builder) controls(ds []*analysis.Digest) report.Controls {
	c := report.Controls{
		Fragment: b.v.Fragment(), Latency: b.kind.String(), Scale: "linear",
		WarmupAuto: b.v.Warmup == nil, WarmupS: "0", Edges: []string{"0"},
	}
	if b.v.LogScale {
		c.Scale = "log"
	}
	var percentiles []string
	for _, p := range b.percentiles() {
		percentiles = append(percentiles, analysis.FormatPercent(p))
	}
	c.Percentiles = strings.Join(percentiles, ", ")
	cut, rule := time.Duration(0), ""
	var longest *analysis.StepDigest
	for _, s := range b.sides {
		for i, x := range s.steps {
			if longest == nil || x.Duration > longest.Duration {
				longest, cut, rule = x, duration(s.sum.Steps[i].WarmupNs), s.sum.Steps[i].WarmupRule
			}
		}
	}
	if longest != nil {
		c.Edges = report.Edges(longest)
	}
	made := cut
	if b.v.Warmup != nil {
		cut = *b.v.Warmup
	}
	c.WarmupS, c.WarmupText = figure.Number(cut.Seconds()), figure.Duration(cut)
	if c.WarmupAuto {
		c.WarmupText = texts.ByDefault(c.WarmupText)
	}
	c.Hint = texts.Cut(figure.Duration(made), rule) + texts.Tested
	_, verdict := b.verdict()
	c.Change = texts.WarmupWas(figure.Duration(cut)) + " " + verdict
	return c
}
