package report

import (
	"strings"
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/figure"
)

// An interval whose messages were all lost has no minimum and no maximum: 0
// would be the fastest of all.
func TestAnIntervalOfLostMessagesHasNoExtremes(t *testing.T) {
	var w writer
	w.data(figure.LatencyOverTime(analysis.Series{Percentiles: []float64{50}, Points: []analysis.Point{
		{End: time.Second, N: 2, Ns: []int64{3e6}, MinNs: 2e6, MaxNs: 4e6},
		{Start: time.Second, End: 2 * time.Second, N: 5, Ns: []int64{-1}},
		{Start: 2 * time.Second, End: 3 * time.Second, N: 1, Ns: []int64{0}},
	}}, figure.Style{}))
	html := w.String()
	for _, want := range []string{"<td>2<td>2<td>3<td>4", "<td>5<td>&gt;<td>&gt;<td>&gt;", "<td>1<td>0<td>0<td>0"} {
		if !strings.Contains(html, want) {
			t.Errorf("%s is not in %s", want, html)
		}
	}
}
