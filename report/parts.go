package report

import (
	"queuebench/analysis"
	"queuebench/figure"
)

// Icon is the shape of a severity, or of "good", so that colour is not all that
// tells. The word has to stand beside it.
func Icon(severity string) string { return icon(analysis.Severity(severity)) }

// FigureHTML is a figure with its caption.
func FigureHTML(f figure.Figure) (string, error) {
	svg, err := f.SVG()
	if err != nil {
		return "", err
	}
	var w writer
	figureHTML(&w, f, svg)
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
