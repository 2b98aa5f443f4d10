package comparison

import (
	"fmt"
	"strings"
	"time"

	"queuebench/analysis"
	"queuebench/figure"
	"queuebench/report"
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
	var texts []string
	for _, p := range b.percentiles() {
		texts = append(texts, analysis.FormatPercent(p))
	}
	c.Percentiles = strings.Join(texts, ", ")
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
		c.WarmupText += " (default)"
	}
	c.Hint = "Cut of the longest step: " + figure.Duration(made)
	if rule != "" {
		c.Hint += " (" + rule + ")"
	}
	c.Hint += ". Percentiles are those that are tested."
	_, verdict := b.verdict()
	c.Change = fmt.Sprintf("Warm-up %s cut. %s", figure.Duration(cut), verdict)
	return c
}
