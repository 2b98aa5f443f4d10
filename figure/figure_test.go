package figure

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/internal/golden"
	"queuebench/stats"
)

// samples are the figures that the golden files hold.
func samples() map[string]Figure {
	gaps := sampleSeries(100, func(i int, p *analysis.Point) {
		switch {
		case i >= 30 && i < 38, i == 50, i == 52:
			blankPoint(p)
		case i >= 60 && i < 66:
			p.Ns[4], p.Ns[5] = -1, -1
		}
	})
	negative := sampleSeries(60, func(_ int, p *analysis.Point) {
		for i := range p.Ns {
			p.Ns[i] -= 70e6
		}
		p.MinNs -= 70e6
		p.MaxNs -= 70e6
		p.Latency = sampleHistogram(p.MinNs, p.Ns[0], p.Ns[5], p.MaxNs)
	})
	uncut := sampleSeries(40, nil)
	uncut.Warmup = 0
	empty := sampleSeries(0, nil)
	empty.Duration, empty.Points = 20*time.Second, nil
	rates := []float64{1000, 10000, 30000}
	near := func(s *analysis.StepSummary) {
		l := s.Latencies["end_to_end"].Percentiles
		if s.Rate == 1000 {
			l["99.9"] = analysis.Percentile{Ns: l["99.9"].Ns}
		}
		if s.Rate == 70000 {
			l["99"] = analysis.Percentile{Ns: 300e6, Beyond: true, Supported: true}
			l["99.9"] = l["99"]
		}
	}
	faults := sampleSeries(100, nil)
	faults.Marks = []analysis.Mark{{At: 9 * time.Second, Duration: 2 * time.Second, Kind: "fault", Text: "the store <stops>\x00"}, {At: 14 * time.Second, Kind: "fault", Text: "killed"}}
	lossy := sampleDistribution(10000, 1)
	lossy.Infinite = 700
	few := sampleDistribution(1000, 1)
	few.Blocks = 3
	closed := sampleSeries(40, nil)
	closed.Kind, closed.Load = analysis.Publish, analysis.Load{Name: "produce, 10 workers with 4 under way each", Closed: true}
	filled := sampleFlow()
	filled.Load, filled.Warmup = analysis.Load{Name: "backlog of 300,000 messages", Drained: true, Filled: true, Released: 12 * time.Second}, 0
	cumulative := sampleSeries(100, func(i int, p *analysis.Point) {
		p.Start, p.Latency = 2*time.Second, stats.Compact{}
		for k := range p.Ns {
			p.Ns[k] = int64(float64(60e6+10e6*float64(k)) * (1 + 0.5/float64(i+1)))
		}
		p.MinNs, p.MaxNs = 14e6, 150e6+int64(i)*1e6
	})
	cumulative.Cumulative, cumulative.Points = true, cumulative.Points[10:]
	var many []analysis.Series
	var dists []analysis.Distribution
	var names []string
	for i := range 7 {
		s, d := sampleSeries(30+10*i, nil), sampleDistribution(float64(1000*(i+1)), int64(i+1))
		s.Rate = d.Rate
		many, dists, names = append(many, s), append(dists, d), append(names, []string{"", "consumers 2"}[i%2])
	}
	varied := sampleSummary([]float64{1000, 10000, 30000}, 2, func(s *analysis.StepSummary) { s.Variant = []string{"partitions 1", "partitions 4"}[s.Repeat] })
	unsupported := sampleDistribution(10000, 1)
	unsupported.Blocks = 3
	var curves []RatioCurve
	for i := range 7 {
		curves = append(curves, RatioCurve{Label: rateText(float64(1000*(i+1))) + "/s", Class: i, Points: sampleRatios()[i%3].Points})
	}
	whiskers := func(s *analysis.StepSummary) {
		for name, p := range s.Latencies["end_to_end"].Percentiles {
			if s.Rate == 70000 && name == "99.9" { // too few stretches
				continue
			}
			p.LowNs, p.HighNs = p.Ns*97/100, p.Ns*104/100
			s.Latencies["end_to_end"].Percentiles[name] = p
		}
	}
	four := []float64{1000, 10000, 30000, 70000}
	wide := sampleSummary(four, 1, whiskers)
	published := sampleSummary(four, 1, whiskers)
	published.References = []analysis.Reference{{Name: "published, 100 ms", Source: "a table of others"}}
	for i, rate := range []float64{10000, 30000, 70000} {
		published.References[0].Points = append(published.References[0].Points, analysis.ReferencePoint{Rate: rate, Percentiles: map[string]analysis.ReferenceValue{
			"50": {Ns: int64(40e6 + 30e6*float64(i))}, "99": {Ns: int64(140e6 + 60e6*float64(i))}}})
	}
	queued := sampleFlow()
	for i := range queued.Depths {
		queued.Depths[i].Client = queued.Depths[i].Backlog / 3
	}
	return map[string]Figure{
		"per-rate-whiskers":  LatencyPerRate(wide, analysis.EndToEnd, Style{Theme: Page}),
		"per-rate-published": LatencyPerRate(published, analysis.EndToEnd, Style{Titled: true, LogScale: true}),
		"per-rate-runs": RunsPerRate([]RunSteps{{"before", 0, wide.Steps}, {"after <b>", 1, sampleSummary(four[:3], 2, whiskers).Steps}},
			analysis.EndToEnd, 99, Style{Titled: true, Theme: Dark}),
		"backlog-client":     BacklogOverTime(queued, Style{Titled: true}),
		"over-time-closed":   LatencyOverTime(closed, Style{Titled: true}),
		"cumulative":         LatencyOverTime(cumulative, Style{Titled: true}),
		"throughput-filled":  ThroughputOverTime(filled, Style{Titled: true}),
		"distribution-few":   LatencyDistribution(unsupported, Style{Titled: true}),
		"panels-over-time":   LatencyOverTimePanels(many, names, Style{Titled: true})[0],
		"panels-throughput":  ThroughputPanels([]analysis.Flow{sampleFlow(), filled}, names, Style{Titled: true, Theme: Dark})[0],
		"panels-backlog":     BacklogPanels([]analysis.Flow{sampleFlow(), filled}, names, Style{})[0],
		"panels-spectrum":    Spectra(dists, Style{LogScale: true, Titled: true})[0],
		"panels-rate":        RatePanels(varied, analysis.EndToEnd, Style{Titled: true})[1],
		"panels-ratio":       RatioPanels("base", "new", analysis.EndToEnd, curves, Style{Titled: true})[0],
		"stages":             StageTimes(sampleStages(3), Style{Titled: true}),
		"stages-many":        StageTimes(sampleStages(14), Style{Theme: Dark}),
		"stages-none":        StageTimes(sampleSummary(rates, 1, nil), Style{Width: 360, Height: 260}),
		"ratio":              QuantileRatio("base", "new", analysis.EndToEnd, sampleRatios()[:1], Style{}),
		"ratio-three":        QuantileRatio("before <b>", "after", analysis.Publish, sampleRatios(), Style{Titled: true, Theme: Dark}),
		"ratio-empty":        QuantileRatio("a", "b", analysis.EndToEnd, nil, Style{}),
		"scaling":            Scaling(sampleScaling(), Style{Titled: true}),
		"scaling-narrow":     Scaling(analysis.Scaling{Setting: "partitions", Rows: sampleScaling().Rows[:2]}, Style{Width: 360, Height: 260}),
		"over-time-faults":   LatencyOverTime(faults, Style{}),
		"spectrum":           PercentileSpectrum([]analysis.Distribution{sampleDistribution(10000, 1), sampleDistribution(30000, 2)}, Style{LogScale: true}),
		"spectrum-lossy":     PercentileSpectrum([]analysis.Distribution{lossy}, Style{Titled: true}),
		"spectrum-few":       PercentileSpectrum([]analysis.Distribution{few}, Style{Theme: Dark, Titled: true}),
		"spectrum-empty":     PercentileSpectrum(nil, Style{}),
		"distribution":       LatencyDistribution(sampleDistribution(10000, 1), Style{}),
		"distribution-log":   LatencyDistribution(lossy, Style{LogScale: true, Titled: true, Theme: Dark}),
		"distribution-empty": LatencyDistribution(analysis.Distribution{}, Style{Width: 360, Height: 260}),
		"throughput":         ThroughputOverTime(sampleFlow(), Style{Titled: true}),
		"throughput-empty":   ThroughputOverTime(analysis.Flow{}, Style{}),
		"backlog":            BacklogOverTime(sampleFlow(), Style{Titled: true, Theme: Dark}),
		"backlog-narrow":     BacklogOverTime(sampleFlow(), Style{Width: 360, Height: 260}),
		"over-time":          LatencyOverTime(sampleSeries(100, nil), Style{}),
		"over-time-titled":   LatencyOverTime(sampleSeries(100, nil), Style{Titled: true, Theme: Dark, Width: 860, Height: 380}),
		"over-time-log":      LatencyOverTime(sampleSeries(100, nil), Style{LogScale: true}),
		"over-time-page":     LatencyOverTime(sampleSeries(100, nil), Style{Theme: Page}),
		"over-time-gaps":     LatencyOverTime(gaps, Style{}),
		"over-time-negative": LatencyOverTime(negative, Style{}),
		"over-time-narrow":   LatencyOverTime(uncut, Style{Width: 360, Height: 260}),
		"over-time-empty":    LatencyOverTime(empty, Style{}),
		"per-rate":           LatencyPerRate(sampleSummary(rates, 1, nil), analysis.EndToEnd, Style{}),
		"per-rate-repeats":   LatencyPerRate(sampleSummary([]float64{1000, 10000, 30000, 70000}, 3, near), analysis.EndToEnd, Style{LogScale: true}),
		"per-rate-dark":      LatencyPerRate(sampleSummary([]float64{10000, 20000, 30000, 40000, 50000}, 2, near), analysis.EndToEnd, Style{Theme: Dark, Titled: true}),
		"per-rate-one":       LatencyPerRate(sampleSummary(rates[1:2], 1, nil), analysis.EndToEnd, Style{Width: 360, Height: 260}),
		"per-rate-empty":     LatencyPerRate(analysis.Summary{}, analysis.EndToEnd, Style{}),
	}
}

// TestGolden runs natively and in WASM against the same files.
func TestGolden(t *testing.T) {
	for name, f := range samples() {
		t.Run(name, func(t *testing.T) {
			got, err := f.SVG()
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "testdata/"+name+".svg", []byte(got))
		})
	}
}

var rasters = regexp.MustCompile(`data:image/png;base64,[A-Za-z0-9+/=]*`)

// TestSVGIsWellFormed reads each figure back as XML.
func TestSVGIsWellFormed(t *testing.T) {
	for name, f := range samples() {
		s, err := f.SVG()
		if err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(strings.NewReader(s))
		for {
			_, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		s = rasters.ReplaceAllString(s, "")
		for _, bad := range []string{"NaN", "Inf", string(markMiddle), string(markEnd), "Liberation"} {
			if strings.Contains(s, bad) {
				t.Errorf("%s contains %q", name, bad)
			}
		}
	}
}

// TestTextStaysInside measures every text in the face that laid it out, which
// is wider than the fallbacks, and holds its box inside the figure.
func TestTextStaysInside(t *testing.T) {
	type text struct {
		X      float64 `xml:"x,attr"`
		Anchor string  `xml:"text-anchor,attr"`
		Style  string  `xml:"style,attr"`
		Body   string  `xml:",chardata"`
	}
	for name, f := range samples() {
		s, err := f.SVG()
		if err != nil {
			t.Fatal(err)
		}
		w, _ := f.style.size()
		fc := newFace(false)
		d := xml.NewDecoder(strings.NewReader(s))
		n := 0
		for {
			tok, err := d.Token()
			if err != nil {
				break
			}
			e, ok := tok.(xml.StartElement)
			if !ok || e.Name.Local != "text" {
				continue
			}
			var x text
			if err := d.DecodeElement(&x, &e); err != nil {
				t.Fatal(err)
			}
			n++
			width := fc.width(15, x.Body).Points()
			if !strings.Contains(x.Style, "15px") {
				width = fc.width(13, x.Body).Points()
			}
			left := x.X
			switch x.Anchor {
			case "middle":
				left -= width / 2
			case "end":
				left -= width
			}
			if left < 0 || left+width > w.Points() {
				t.Errorf("%s: %q reaches from %.1f to %.1f, the figure is %.0f wide", name, x.Body, left, left+width, w.Points())
			}
		}
		if n < 3 {
			t.Errorf("%s has only %d texts", name, n)
		}
	}
}
