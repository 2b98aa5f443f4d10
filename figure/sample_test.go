package figure

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"queuebench/analysis"
	"queuebench/stats"
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
		if points <= 1000 { // histograms of more would not fit into WebAssembly
			p.Latency = sampleHistogram(p.MinNs, p.Ns[0], p.Ns[5], p.MaxNs)
		}
		if edit != nil {
			edit(i, &p)
		}
		s.Points = append(s.Points, p)
	}
	return s
}

func blankPoint(p *analysis.Point) {
	p.N, p.Ns, p.MinNs, p.MaxNs, p.Latency = 0, nil, 0, 0, stats.Compact{}
}

// sampleHistogram has 400 values spread evenly from least over median and high
// to most.
func sampleHistogram(least, median, high, most int64) stats.Compact {
	var c stats.Counter
	stretch := func(from, to int64, n int) {
		for i := range n {
			if err := c.Record(from + (to-from)*int64(i)/int64(n)); err != nil {
				panic(err)
			}
		}
	}
	stretch(least, median, 200)
	stretch(median, high, 196)
	stretch(high, most, 3)
	stretch(most, most, 1)
	return c.Take()
}

// sampleDistribution is 80,000 messages around 60 ms with a tail, scaled.
func sampleDistribution(rate float64, scale int64) analysis.Distribution {
	var parts []stats.Compact
	for i := range int64(200) {
		parts = append(parts, sampleHistogram((14e6+i*1000)*scale, (62e6+i*20000)*scale, (110e6+i*30000)*scale, (120e6+i*i*4000)*scale))
	}
	return analysis.Distribution{Rate: rate, Kind: analysis.EndToEnd, Warmup: 2 * time.Second, Latency: stats.Sum(parts...), Blocks: 200}
}

// sampleFlow is 30 s at 10,000/s whose queue stands still for a while.
func sampleFlow() analysis.Flow {
	f := analysis.Flow{Rate: 10000, Warmup: 3 * time.Second, Duration: 30 * time.Second,
		Marks: []analysis.Mark{{At: 12 * time.Second, Duration: 3 * time.Second, Kind: "fault", Text: "the store stops"}, {At: 20 * time.Second, Kind: "rebalance"}}}
	var backlog int64
	for i := range 30 {
		at := time.Duration(i) * time.Second
		got := int64(10000)
		switch {
		case i >= 12 && i < 15:
			got = 0
		case i >= 15 && backlog > 0:
			got = min(10000+backlog, 16000)
		}
		backlog += 10000 - got
		for k := range 5 {
			from := at + time.Duration(k)*200*time.Millisecond
			f.Scheduled = append(f.Scheduled, analysis.FlowPoint{Start: from, End: from + 200*time.Millisecond, PerS: 10000})
		}
		f.Received = append(f.Received, analysis.FlowPoint{Start: at, End: at + time.Second, PerS: float64(got)})
		f.Depths = append(f.Depths, analysis.Depth{At: at + time.Second, Backlog: backlog, InFlight: 500})
	}
	return f
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

// sampleRatios are three loads: slower in the tail, faster, and one with holes.
func sampleRatios() []RatioCurve {
	var out []RatioCurve
	for k, label := range []string{"1,000/s", "10,000/s", "30,000/s"} {
		c := RatioCurve{Label: label, Class: k}
		for _, p := range []float64{0, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9} {
			r := 1 + float64(k-1)*0.08 + 0.003*p*float64(k)
			q := RatioPoint{Percent: p, Ratio: r, Low: r * 0.95, High: r * 1.06}
			switch {
			case k == 2 && p == 75:
				q.Ratio = math.Inf(1)
			case k == 0 && p > 99:
				q.Low, q.High = 0, math.Inf(1)
			case k == 0 && p == 10:
				q.Low, q.High = math.NaN(), math.NaN()
			}
			c.Points = append(c.Points, q)
		}
		out = append(out, c)
	}
	return out
}

func sampleScaling() analysis.Scaling {
	return analysis.Scaling{Setting: "consumers", Rate: 50000, Beside: "partitions 8", Rows: []analysis.ScalingRow{
		{Resource: 1, ReceivedPerS: 9800}, {Resource: 2, ReceivedPerS: 18700}, {Resource: 4, ReceivedPerS: 33000}, {Resource: 8, ReceivedPerS: 49990, RateBound: true},
	}}
}

// sampleStages are steps of a Delta queue with all stages.
func sampleStages(steps int) analysis.Summary {
	var rates []float64
	for i := range steps {
		rates = append(rates, float64(1000*(i+1)))
	}
	return sampleSummary(rates, 1, func(s *analysis.StepSummary) {
		s.Stages = &analysis.Stages{}
		for i, name := range []string{"wait", "encode", "data_put", "commit_put", "discover", "commit_get", "data_get", "decode", "deliver"} {
			s.Stages.Stages = append(s.Stages.Stages, analysis.StageStats{Stage: name, N: 100, MeanNs: int64([]float64{90e6, 0.4e6, 9e6, 6e6, 70e6, 4e6, 5e6, 0.3e6, 0.1e6}[i] * (1 + s.Rate/20000))})
		}
	})
}
