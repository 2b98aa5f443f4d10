package figure

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"queuebench/analysis"
)

// RatioCurve is by how much each quantile of one load differs between two sides.
type RatioCurve struct {
	Label  string // of the load, or of the run
	Class  int    // colour and dashes: index into Palette.Series
	Points []RatioPoint
}

// RatioPoint is the ratio new to base at a percentile, with its interval. A
// bound that is not known is NaN, or 0 and +Inf where the interval is open; a
// ratio that is not finite is not drawn.
type RatioPoint struct {
	Percent          float64 // in [0,100)
	Ratio, Low, High float64
}

func (p RatioPoint) drawn() bool {
	return p.Ratio > 0 && !math.IsInf(p.Ratio, 0) && p.Percent >= 0 && p.Percent < 100
}

// QuantileRatio draws the curves on the axis of PercentileSpectrum, the ratio on
// a logarithmic one: above the line of no change, the new side is slower.
func QuantileRatio(base, other string, kind analysis.Kind, curves []RatioCurve, st Style) Figure {
	left := max(0, len(curves)-maxSpectra)
	curves = slices.Clone(curves[:len(curves)-left])
	for i := range curves {
		curves[i].Label = printable(curves[i].Label)
	}
	base, other = printable(base), printable(other)
	f := Figure{Name: "quantile-ratio", Title: upperFirst(kindName(kind)) + ", " + other + " to " + base, style: st}
	band := len(curves) == 1
	f.Caption = fmt.Sprintf("Each line is the ratio of the quantile of %s to that of %s, at each percentile of the %s (%s): above 1, %s is slower.", other, base, kindName(kind), KindPath(kind), other)
	if band {
		f.Caption += " The band is the 95 % interval of each point alone, where one is known."
	}
	var missing int
	for _, c := range curves {
		for _, p := range c.Points {
			if !p.drawn() {
				missing++
			}
		}
	}
	if missing > 0 {
		f.Caption += " " + plural(missing, "point has", "points have") + " no finite ratio and is left blank."
		f.Caption = strings.Replace(f.Caption, "points have no finite ratio and is", "points have no finite ratio and are", 1)
	}
	if left > 0 {
		f.Caption += fmt.Sprintf(" %s not drawn.", plural(left, "more load is", "more loads are"))
	}
	for _, c := range curves {
		f.Legend = append(f.Legend, LegendEntry{c.Label, c.Class})
	}
	y := ratioAxis(curves, band)
	if st.axis != nil {
		y = *st.axis
	}
	f.draw = func(c draw.Canvas, pal Palette, fc face) { drawRatio(c, pal, fc, curves, y, band, other+" / "+base) }
	return f
}

// ratioAxis is logarithmic, symmetric enough to hold 1, and at least ±10 %.
func ratioAxis(curves []RatioCurve, band bool) latencyAxis {
	lo, hi := 1/1.1, 1.1
	for _, c := range curves {
		for _, p := range c.Points {
			if !p.drawn() {
				continue
			}
			lo, hi = min(lo, p.Ratio), max(hi, p.Ratio)
			if band && p.Low > 0 && !math.IsInf(p.High, 0) { // false for NaN
				lo, hi = min(lo, max(p.Low, p.Ratio/10)), max(hi, min(p.High, p.Ratio*10))
			}
		}
	}
	a := latencyAxis{log: true}
	marks := []float64{0.5, 0.75, 0.9, 1, 1.1, 1.25, 1.5, 2}
	if hi/lo > 6 {
		marks = nil
		for e := -6; e <= 6; e++ {
			for _, m := range []float64{1, 2, 5} {
				marks = append(marks, m*math.Pow(10, float64(e)))
			}
		}
	}
	a.min, a.max = math.Log10(lo)-0.01, math.Log10(hi)+0.01
	for _, m := range marks {
		if v := math.Log10(m); v >= a.min && v <= a.max {
			a.ticks = append(a.ticks, tick{v, "× " + strconv.FormatFloat(m, 'g', 4, 64)})
		}
	}
	return a
}

func drawRatio(c draw.Canvas, pal Palette, fc face, curves []RatioCurve, y latencyAxis, band bool, name string) {
	fr := newFrame(pal, fc, fc.fitting(name, c.Size().X-20), "percentile", y)
	last := 2.0
	var labels []string
	for _, k := range curves {
		labels = append(labels, k.Label)
		for _, p := range k.Points {
			if p.drawn() {
				last = max(last, spectrumX(p.Percent/100))
			}
		}
	}
	fr.endRoom = roomFor(fc, labels, c.Size().X)
	fr.X.Min, fr.X.Max = 0, last
	fr.X.Tick.Marker = ticker(uncrowded(latencyAxis{max: last, ticks: spectrumTicks(last)}, c.Size().X-fr.endRoom-60, fc))
	at := func(data draw.Canvas, percent, ratio float64) vg.Point {
		v := min(max(math.Log10(ratio), y.min), y.max)
		return vg.Point{X: data.X(fr.X.Norm(spectrumX(percent / 100))), Y: data.Y(fr.Y.Norm(v))}
	}
	ends := make([]*vg.Point, len(curves))
	fr.draw(c, func(data draw.Canvas) {
		one := data.Y(fr.Y.Norm(0))
		data.StrokeLine2(draw.LineStyle{Color: pal.Muted, Width: 1}, data.Min.X, one, data.Max.X, one)
		drawn := false
		for i := len(curves) - 1; i >= 0; i-- {
			for _, run := range ratioRuns(curves[i].Points) {
				drawn = true
				var line []vg.Point
				for _, p := range run {
					line = append(line, at(data, p.Percent, p.Ratio))
				}
				if band {
					ratioBand(data, pal, run, at)
				}
				data.StrokeLines(lineStyle(pal, curves[i].Class), line)
				ends[i] = &line[len(line)-1]
			}
		}
		if !drawn {
			data.FillText(fc.style(13, pal.Muted, draw.XCenter, draw.YCenter), data.Center().Add(vg.Point{Y: 14}), "no quantile can be compared")
		}
	}, func(draw.Canvas) []end {
		var out []end
		for i, k := range curves {
			if ends[i] != nil {
				out = append(out, end{k.Label, ends[i].Y, lineStyle(pal, k.Class), -1, false})
			}
		}
		return out
	})
}

// ratioRuns are the stretches of points that can be drawn.
func ratioRuns(points []RatioPoint) (runs [][]RatioPoint) {
	var run []RatioPoint
	for _, p := range points {
		if p.drawn() {
			run = append(run, p)
			continue
		}
		if len(run) > 0 {
			runs = append(runs, run)
		}
		run = nil
	}
	if len(run) > 0 {
		runs = append(runs, run)
	}
	return runs
}

// ratioBand fills between the bounds of the points that have both.
func ratioBand(data draw.Canvas, pal Palette, run []RatioPoint, at func(draw.Canvas, float64, float64) vg.Point) {
	var upper, lower []vg.Point
	flush := func() {
		for i := len(lower) - 1; i >= 0; i-- {
			upper = append(upper, lower[i])
		}
		if len(upper) > 2 {
			data.FillPolygon(pal.Band, upper)
		}
		upper, lower = nil, nil
	}
	for _, p := range run {
		if !(p.Low > 0) || !(p.High > 0) || math.IsInf(p.High, 0) {
			flush()
			continue
		}
		upper, lower = append(upper, at(data, p.Percent, p.High)), append(lower, at(data, p.Percent, p.Low))
	}
	flush()
}
