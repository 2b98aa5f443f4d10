package analysis

import (
	"fmt"
	"slices"
	"strings"
)

// The parts of a figure of latency over time beside its percentiles.
const (
	LineMax     = "max"     // the slowest message of each interval
	LineBand    = "band"    // from the fastest to the slowest
	LineDensity = "density" // how many messages took how long
	LineSlowest = "slowest" // the slowest messages as marks
)

// LineParts are these parts, in the order of a view's lines after its
// percentiles.
var LineParts = []string{LineMax, LineBand, LineDensity, LineSlowest}

// ParseLines reads which lines a figure of latency over time has: percentiles in
// percent and LineParts, with commas between. They come back each once,
// percentiles ascending and then the parts; nil stands for the usual ones.
func ParseLines(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	var percentiles, parts []string
	for field := range strings.SplitSeq(text, ",") {
		field = strings.TrimSpace(field)
		if slices.Contains(LineParts, field) {
			parts = append(parts, field)
			continue
		}
		percentiles = append(percentiles, field)
	}
	var out []string
	if len(percentiles) > 0 {
		ps, err := ParsePercentiles(strings.Join(percentiles, ","))
		if err != nil {
			return nil, fmt.Errorf("lines: %w; beside percentiles there are %s", err, strings.Join(LineParts, ", "))
		}
		for _, p := range ps {
			out = append(out, FormatPercent(p))
		}
	}
	for _, p := range LineParts {
		if slices.Contains(parts, p) {
			out = append(out, p)
		}
	}
	return out, nil
}

// Draws tells whether a view has a line: one of LineParts, or a percentile as
// FormatPercent has it. Where it names none, usual decides.
func (v View) Draws(line string, usual bool) bool {
	if v.Lines == nil {
		return usual
	}
	return slices.Contains(v.Lines, line)
}
