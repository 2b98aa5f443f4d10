package figure

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"queuebench/analysis"
)

// line is a trace with its name and its place in the palette.
type line struct {
	trace
	label string
	class int
}

// LatencyOverTime draws the percentiles and the maximum of each interval of a
// step over the intended time, over a raster of how many messages took how
// long, with a thin band from minimum to maximum, the warm-up shaded and faults
// marked. Of more than four percentiles, p50, p99 and p99.9
// are drawn; the caption names the others.
func LatencyOverTime(s analysis.Series, st Style) Figure {
	lines, shown, left := overTimeLines(s, st)
	y, below := latencyRange(s.Points, lines, st.LogScale)
	if st.axis != nil {
		y = *st.axis
	}
	f := Figure{
		Name:  fmt.Sprintf("latency-over-time-%d-%d", s.Step, s.Repeat),
		Title: upperFirst(kindName(s.Kind)) + " over time" + atLoad(s.Load, s.Rate),
		style: st,
	}
	if s.Cumulative {
		f.Name = fmt.Sprintf("latency-cumulative-%d-%d", s.Step, s.Repeat)
		f.Title = upperFirst(kindName(s.Kind)) + ", cumulative" + atLoad(s.Load, s.Rate)
	}
	for _, l := range lines {
		f.Legend = append(f.Legend, LegendEntry{l.label, l.class})
	}
	f.Caption = overTimeCaption(s, lines, left, below, shown)
	f.Data = overTimeData(s)
	f.draw = func(c draw.Canvas, pal Palette, fc face) {
		drawOverTime(c, pal, fc, s, lines, shown, y)
	}
	return f
}

// overTimeLines are the lines of a series that are drawn, what stands beside them,
// and the percentiles that have no line.
func overTimeLines(s analysis.Series, st Style) (lines []line, shown extras, left []float64) {
	chosen, left := drawn(s.Percentiles, 4, usualOverTime)
	if st.Draws != nil {
		usual := UsualLines(s.Percentiles)
		chosen, left = nil, nil
		for i, p := range s.Percentiles {
			if st.draws(analysis.FormatPercent(p), usual[p]) {
				chosen = append(chosen, i)
			} else {
				left = append(left, p)
			}
		}
	}
	points := s.Points
	if s.Cumulative { // each is of all until its end, and stands there
		points = slices.Clone(points)
		for i := range points {
			points[i].Start = points[i].End
		}
	}
	all := st.Percentiles
	if all == nil {
		all = s.Percentiles
	}
	classes := classOf(all)
	for _, i := range chosen {
		p := s.Percentiles[i]
		lines = append(lines, line{traceOf(points, percentileOf(i)), PercentileName(p), classes[p]})
	}
	if st.draws(analysis.LineMax, true) {
		lines = append(lines, line{traceOf(points, maximum), "max", MaxClass})
	}
	shown = extras{marks: s.Slowest, raster: st.draws(analysis.LineDensity, true), banded: st.draws(analysis.LineBand, true)}
	if shown.banded {
		shown.band = bandOf(points)
	}
	if !st.draws(analysis.LineSlowest, true) {
		shown.marks = nil
	}
	return lines, shown, left
}

// usualOverTime are the percentiles that latency over time draws of more than four.
var usualOverTime = []float64{50, 99, 99.9}

// UsualLines are the percentiles that latency over time has where a view does not
// say.
func UsualLines(percentiles []float64) map[float64]bool {
	out := map[float64]bool{}
	chosen, _ := drawn(percentiles, 4, usualOverTime)
	for _, i := range chosen {
		out[percentiles[i]] = true
	}
	return out
}

// extras are what a figure over time draws beside its lines.
type extras struct {
	band           [][]bandVertex
	banded, raster bool
	marks          []analysis.SlowMessage
}

// latencyRange is the axis that holds all that is drawn, and the number of
// intervals that a logarithmic one cannot show whole.
func latencyRange(points []analysis.Point, lines []line, log bool) (latencyAxis, int) {
	lo, hi := math.Inf(1), math.Inf(-1)
	below := 0
	for _, p := range points {
		if !extremes(p) {
			continue
		}
		hi = max(hi, float64(p.MaxNs))
		if log && p.MinNs <= 0 {
			below++
			continue
		}
		lo = min(lo, float64(p.MinNs))
	}
	if log {
		for _, l := range lines {
			for _, run := range l.runs {
				for _, v := range run {
					if v.ns > 0 {
						lo = min(lo, v.ns)
					}
				}
			}
		}
		if math.IsInf(lo, 0) || hi <= 0 {
			return logLatency(1e6, 1e9), below
		}
		return logLatency(lo, hi), below
	}
	if math.IsInf(hi, 0) {
		return linearLatency(0, 1e6), 0
	}
	return linearLatency(lo, hi), 0
}

func drawOverTime(c draw.Canvas, pal Palette, fc face, s analysis.Series, lines []line, shown extras, y latencyAxis) {
	fr := newFrame(pal, fc, kindName(s.Kind), dueAxis(s.Load), y)
	fr.X.Min, fr.X.Max = 0, max(s.Duration.Seconds(), lastSecond(s.Points), 1e-9)
	fr.X.Tick.Marker = ticker(elapsedTicks(fr.X.Max, max(3, int(c.Size().X/90))))
	var raster density
	if shown.raster {
		raster = densityOf(s.Points, y)
	}
	body := func(data draw.Canvas) {
		at := func(x, ns float64) (vg.Point, bool) {
			v, ok := y.pos(ns)
			if !ok {
				v = y.min
			}
			return vg.Point{X: data.X(fr.X.Norm(x)), Y: data.Y(fr.Y.Norm(v))}, ok
		}
		fr.shadeCut(data, s.Warmup, s.Window)
		for _, run := range shown.band {
			var poly []vg.Point
			for _, v := range run {
				p, _ := at(v.x, v.hi)
				poly = append(poly, p)
			}
			for i := len(run) - 1; i >= 0; i-- {
				p, _ := at(run[i].x, run[i].lo)
				poly = append(poly, p)
			}
			data.FillPolygon(pal.Band, poly)
		}
		raster.paint(data, fr)
		// From the maximum down, so that the median lies on top.
		for i := len(lines) - 1; i >= 0; i-- {
			l := lines[i]
			style := lineStyle(pal, l.class)
			for _, run := range l.runs {
				var stroke []vg.Point
				for _, v := range run {
					p, ok := at(v.x, v.ns)
					if !ok {
						data.StrokeLines(style, stroke)
						stroke = nil
						continue
					}
					stroke = append(stroke, p)
				}
				data.StrokeLines(style, stroke)
			}
			for _, x := range thin(l.infinite, 200) {
				fillMark(data, upMark, vg.Point{X: data.X(fr.X.Norm(x)), Y: data.Max.Y}, 3.5, style.Color)
			}
		}
		drawSlowest(data, pal, shown.marks, at)
		fr.drawMarks(data, s.Marks)
		if len(s.Points) == 0 || !anyValue(lines) {
			data.FillText(fc.style(13, pal.Muted, draw.XCenter, draw.YCenter), data.Center(), "no message was measured in this step")
		}
	}
	fr.draw(c, body, func(data draw.Canvas) []end {
		var ends []end
		for _, l := range lines {
			if len(l.runs) == 0 {
				continue
			}
			run := l.runs[len(l.runs)-1]
			v, ok := y.pos(run[len(run)-1].ns)
			if !ok {
				v = y.min
			}
			ends = append(ends, end{l.label, data.Y(fr.Y.Norm(v)), lineStyle(pal, l.class), -1, false})
		}
		return ends
	})
}

// drawSlowest draws a diamond for each message, all of them as one path.
func drawSlowest(data draw.Canvas, pal Palette, marks []analysis.SlowMessage, at func(x, ns float64) (vg.Point, bool)) {
	const r = 3
	var p vg.Path
	for i := range marks {
		q, ok := at(time.Duration(marks[i].Intended).Seconds(), float64(marks[i].Latency()))
		if !ok {
			continue
		}
		p.Move(vg.Point{X: q.X - r, Y: q.Y})
		p.Line(vg.Point{X: q.X, Y: q.Y + r})
		p.Line(vg.Point{X: q.X + r, Y: q.Y})
		p.Line(vg.Point{X: q.X, Y: q.Y - r})
		p.Close()
	}
	if len(p) > 0 {
		data.SetLineStyle(draw.LineStyle{Color: pal.Ink, Width: 0.9})
		data.Stroke(p)
	}
}

func lastSecond(points []analysis.Point) float64 {
	if len(points) == 0 {
		return 0
	}
	return points[len(points)-1].End.Seconds()
}

func anyValue(lines []line) bool {
	for _, l := range lines {
		if len(l.runs) > 0 || len(l.infinite) > 0 {
			return true
		}
	}
	return false
}

// thin keeps at most n of ascending positions, evenly: marks at the upper edge
// that would lie on each other.
func thin(xs []float64, n int) []float64 {
	if len(xs) <= n {
		return xs
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = xs[i*(len(xs)-1)/(n-1)]
	}
	return out
}
