package report_test

import (
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/report"
	"queuebench/report/reporttest"
)

// BenchmarkDocument draws a page with a step of 600 intervals in depth: all of it,
// and what is drawn while something is dragged.
func BenchmarkDocument(b *testing.B) {
	d := reporttest.Digest(reporttest.Spec{Run: "long", Rates: []float64{500, 1000, 2000}, Duration: 120 * time.Second, Stall: true})
	for name, part := range map[string]string{"whole": "", "dragged": report.PartDepth} {
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				v := analysis.View{From: time.Duration(20+i%20) * time.Second, To: 80 * time.Second}
				if _, err := report.Build(d, v, report.Options{Width: 1020, Place: &report.Place{Step: 1}, Part: part}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
