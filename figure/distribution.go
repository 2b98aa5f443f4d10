package figure

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"queuebench/analysis"
	"queuebench/stats"
)

const distributionBins = 90

// distributionLines are the quantiles that a distribution points at, where the
// messages support them.
var distributionLines = []float64{0.5, 0.99}

// bins share the messages of a distribution among equal stretches of an axis.
type bins struct {
	x      latencyAxis
	shares []float64 // of all messages, in percent
	// above is the share beyond the right edge, never the share of messages
	// that never came; below is the one at 0 or less on a logarithmic axis.
	above, below, never float64
}

// binsOf spans the axis from the fastest message to p99.9, or to the slowest
// where that is within twice as much: a few stragglers would squeeze all the
// others into one bar. What lies beyond is counted, and said.
func binsOf(d analysis.Distribution, log bool) bins {
	b := bins{shares: make([]float64, distributionBins)}
	if d.Latency.N == 0 {
		b.x = linearLatency(0, 1e6)
		return b
	}
	top, _ := d.Latency.Quantile(0.999, 0)
	if d.Latency.Max <= 2*top {
		top = d.Latency.Max
	}
	if log {
		lo := float64(d.Latency.Min)
		if lo <= 0 {
			lo = 1
			for _, k := range d.Latency.Buckets {
				if low, _ := stats.Bounds(k.Index); low > 0 {
					lo = float64(low)
					break
				}
			}
		}
		b.x = logLatency(lo, float64(max(d.Latency.Max, 1)))
	} else {
		lo := float64(d.Latency.Min)
		if lo > 0 && lo < 0.5*float64(top) {
			lo = 0
		}
		b.x = spanLatency(lo, float64(top))
	}
	all := float64(d.N())
	for _, k := range d.Latency.Buckets {
		low, high := stats.Bounds(k.Index)
		share := 100 * float64(k.Count) / all
		// The middle of the bucket that holds an extreme may lie beyond it.
		middle := min(max(float64(low)/2+float64(high)/2, float64(d.Latency.Min)), float64(d.Latency.Max))
		v, ok := b.x.pos(middle)
		switch {
		case !ok:
			b.below += share
		case v > b.x.max*(1+1e-12):
			b.above += share
		default:
			i := int((v - b.x.min) / (b.x.max - b.x.min) * distributionBins)
			b.shares[min(max(i, 0), distributionBins-1)] += share
		}
	}
	b.never = 100 * float64(d.Infinite) / all
	return b
}

// spanLatency is a linear axis that need not begin at 0.
func spanLatency(lo, hi float64) latencyAxis {
	if hi <= lo {
		hi = lo + max(math.Abs(lo)*0.01, 1)
	}
	step := step125((hi - lo) / 5)
	a := latencyAxis{min: math.Floor(lo/step) * step, max: math.Ceil(hi/step-1e-9) * step}
	u := unitOf(max(math.Abs(a.max), math.Abs(a.min)))
	for i := range int(math.Round((a.max-a.min)/step)) + 1 {
		v := a.min + float64(i)*step
		label := number(v/u.ns, step/u.ns)
		if label != "0" {
			label += " " + u.name
		}
		a.ticks = append(a.ticks, tick{v, label})
	}
	return a
}

// LatencyDistribution draws the share of the messages in each of some stretches
// of latency, of equal width on its axis.
func LatencyDistribution(d analysis.Distribution, st Style) Figure {
	b := binsOf(d, st.LogScale)
	f := Figure{
		Name:    fmt.Sprintf("distribution-%d-%d", d.Step, d.Repeat),
		Title:   upperFirst(kindName(d.Kind)) + ", distribution" + atLoad(d.Load, d.Rate),
		Caption: distributionCaption(d, b, st.LogScale),
		style:   st,
		Legend:  []LegendEntry{{"share of the messages", 0}},
	}
	f.Data = distributionData(d, b)
	f.draw = func(c draw.Canvas, pal Palette, fc face) { drawDistribution(c, pal, fc, d, b) }
	return f
}

func drawDistribution(c draw.Canvas, pal Palette, fc face, d analysis.Distribution, b bins) {
	top := 0.0
	for _, s := range b.shares {
		top = max(top, s)
	}
	if top == 0 { // nothing to draw
		top = 100
	}
	y := countAxis(max(top, 1e-3))
	for i := range y.ticks {
		y.ticks[i].label = strconv.FormatFloat(y.ticks[i].value, 'g', 4, 64) + " %"
	}
	fr := newFrame(pal, fc, "share of the messages", kindName(d.Kind), y)
	fr.endRoom = 20
	fr.X.Min, fr.X.Max, fr.logX = b.x.min, b.x.max, b.x.log
	fr.X.Tick.Marker = ticker(uncrowded(b.x, c.Size().X-110, fc))
	fr.draw(c, func(data draw.Canvas) {
		if d.Latency.N == 0 {
			data.FillText(fc.style(13, pal.Muted, draw.XCenter, draw.YCenter), data.Center(), "no message was measured")
			return
		}
		fill := pal.Series[0]
		outline := make([]vg.Point, 0, 2*len(b.shares)+2)
		at := func(i int, share float64) vg.Point {
			return vg.Point{X: data.Min.X + (data.Max.X-data.Min.X)*vg.Length(i)/distributionBins, Y: data.Y(fr.Y.Norm(share))}
		}
		for i, s := range b.shares {
			outline = append(outline, at(i, s), at(i+1, s))
		}
		data.FillPolygon(pal.Band, append([]vg.Point{at(0, 0)}, append(outline, at(len(b.shares), 0))...))
		data.StrokeLines(draw.LineStyle{Color: fill, Width: 1.4}, outline)
		for i, p := range distributionLines {
			if !d.Supports(p) {
				continue
			}
			ns, beyond := d.Latency.Quantile(p, d.Infinite)
			v, ok := b.x.pos(float64(ns))
			if beyond || !ok || v < b.x.min || v > b.x.max {
				continue
			}
			x := data.X(fr.X.Norm(v))
			data.StrokeLine2(draw.LineStyle{Color: pal.Muted, Width: 1, Dashes: []vg.Length{3, 2}}, x, data.Min.Y, x, data.Max.Y)
			data.FillText(fc.style(labelSize, pal.Muted, draw.XLeft, draw.YTop), vg.Point{X: x + 4, Y: data.Max.Y - vg.Length(14*i)}, []string{"p50", "p99"}[i])
		}
	}, func(draw.Canvas) []end { return nil })
}

// uncrowded leaves out labels that would touch the one before.
func uncrowded(a latencyAxis, width vg.Length, fc face) []tick {
	out := make([]tick, len(a.ticks))
	edge := vg.Length(math.Inf(-1))
	for i, t := range a.ticks {
		out[i] = t
		half := fc.width(labelSize, t.label) / 2
		x := vg.Length((t.value-a.min)/(a.max-a.min)) * width
		if x-half < edge+8 {
			out[i].label = ""
		} else {
			edge = x + half
		}
	}
	return out
}

func distributionCaption(d analysis.Distribution, b bins, log bool) string {
	text := fmt.Sprintf("The share of the messages in each of %d stretches of %s (%s), of equal width", distributionBins, kindName(d.Kind), pathOf(d.Kind, d.Load))
	if log {
		text += " on the logarithmic axis"
	}
	text += "." + cutText(d.Warmup, d.Load) + windowText(d.Window, d.Load) + loadNote(d.Load)
	if !d.Supports(0.99) && d.N() > 0 {
		text += " p99 has no line: too few messages or blocks support it."
	}
	percent := func(v float64) string { return strconv.FormatFloat(v, 'g', 2, 64) + " %" }
	if b.above > 0 {
		text += " " + percent(b.above) + " of the messages lie beyond the right edge, up to " + analysis.FormatLatency(d.Latency.Max) + "."
	}
	if b.below > 0 {
		text += " " + percent(b.below) + " took 0 or less, which a logarithmic axis cannot show."
	}
	if b.never > 0 {
		text += " " + percent(b.never) + " never came."
	}
	return text
}
