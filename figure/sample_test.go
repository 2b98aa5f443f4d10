package figure

import (
	"math/rand/v2"
	"slices"
	"time"

	"queuebench/analysis"
)

// sampleSeries is a step at 100 ms commits: a slow first second, a stall
// near the end, and whatever edit makes of it.
func sampleSeries(points int, edit func(i int, p *analysis.Point)) analysis.Series {
	r := rand.New(rand.NewPCG(7, 11))
	const width = 200 * time.Millisecond
	s := analysis.Series{
		Step: 1, Repeat: 0, Rate: 10000, Kind: analysis.EndToEnd, Warmup: 2 * time.Second,
		Duration: time.Duration(points) * width, Percentiles: []float64{50, 75, 85, 95, 99, 99.9},
	}
	for i := range points {
		base := 62e6 + r.Float64()*6e6
		if i < 5 {
			base *= 3 - float64(i)/2.5
		}
		if i > points*7/10 && i < points*7/10+5 {
			base += 180e6
		}
		p := analysis.Point{Start: time.Duration(i) * width, End: time.Duration(i+1) * width, N: 2000}
		for _, f := range []float64{1, 1.35, 1.5, 1.68, 1.8, 1.9} {
			p.Ns = append(p.Ns, int64(base*f*(0.98+0.04*r.Float64())))
		}
		slices.Sort(p.Ns)
		p.MinNs, p.MaxNs = int64(14e6+r.Float64()*4e6), p.Ns[5]+int64(r.Float64()*25e6)
		if edit != nil {
			edit(i, &p)
		}
		s.Points = append(s.Points, p)
	}
	return s
}

func blankPoint(p *analysis.Point) {
	p.N, p.Ns, p.MinNs, p.MaxNs = 0, nil, 0, 0
}

// sampleSummary is a sweep with the given repeats per rate.
func sampleSummary(rates []float64, repeats int, edit func(s *analysis.StepSummary)) analysis.Summary {
	r := rand.New(rand.NewPCG(3, 5))
	sum := analysis.Summary{Schema: analysis.SummarySchema, Run: "sample", Complete: true}
	names := []string{"50", "75", "85", "95", "99", "99.9"}
	for i, rate := range rates {
		for k := range repeats {
			base := 60e6 * (1 + float64(i)*0.12) * (0.95 + 0.1*r.Float64())
			l := analysis.LatencySummary{N: int64(rate * 20), Percentiles: map[string]analysis.Percentile{}}
			for j, f := range []float64{1, 1.35, 1.5, 1.68, 1.8, 2.4} {
				l.Percentiles[names[j]] = analysis.Percentile{Ns: int64(base * f), Supported: true}
			}
			st := analysis.StepSummary{Step: i, Repeat: k, Rate: rate, Complete: true,
				Latencies: map[string]analysis.LatencySummary{analysis.EndToEnd.String(): l}}
			if edit != nil {
				edit(&st)
			}
			sum.Steps = append(sum.Steps, st)
		}
	}
	return sum
}
