package report

import (
	"queuebench/analysis"
	"queuebench/figure"
)

// Icon is the shape of a severity, or of "good", so that colour is not all that
// tells. The word has to stand beside it.
func Icon(severity string) string { return icon(analysis.Severity(severity)) }

// FigureHTML is a figure with its caption and its data.
func FigureHTML(f figure.Figure) (string, error) {
	var w writer
	if err := w.figure(f); err != nil {
		return "", err
	}
	return w.String(), nil
}

// Edges are the seconds of a step at which the slider of the warm-up stops.
func Edges(s *analysis.StepDigest) []string {
	edges := []string{"0"}
	for _, iv := range s.Intervals {
		if iv.Start > 0 {
			edges = append(edges, seconds(iv.Start))
		}
	}
	return edges
}
