package figure

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"queuebench/analysis"
	"queuebench/stats"
)

// maxSpectra is the number of lines that can be told apart, and
// spectrumVertices how many vertices each has at most: one for each pixel or so.
const (
	maxSpectra       = 6
	spectrumVertices = 600
)

// spectrum is the quantile function of one distribution: x is −log10(1−q), the
// axis of HdrHistogram, on which each further nine takes the same room.
type spectrum struct {
	label     string
	class     int
	line      []vertex
	supported float64 // x up to which the messages support the line
	cutOff    bool    // further quantiles fall on messages that never came
}

func spectrumX(q float64) float64 { return -math.Log10(1 - q) }

func spectrumOf(d analysis.Distribution, class int, label string) spectrum {
	s := spectrum{label: label, class: class, supported: spectrumX(d.SupportedTo()), cutOff: d.Infinite > 0}
	n := float64(d.N())
	var seen int64
	for i, b := range d.Latency.Buckets {
		if i == 0 {
			s.line = append(s.line, vertex{0, float64(d.Latency.Min)})
		}
		seen += b.Count
		_, high := stats.Bounds(b.Index)
		// The largest value stands at the middle of the last message's share.
		q := min(float64(seen), n-0.5) / n
		s.line = append(s.line, vertex{spectrumX(q), float64(min(max(high, d.Latency.Min), d.Latency.Max))})
	}
	s.line = apart(s.line)
	return s
}

// apart drops vertices that lie closer than a pixel could show, down to
// spectrumVertices; the first and the last stay.
func apart(line []vertex) []vertex {
	if len(line) <= spectrumVertices {
		return line
	}
	least := (line[len(line)-1].x - line[0].x) / (spectrumVertices - 2)
	out := line[:1:1]
	for i, v := range line[1:] {
		if v.x-out[len(out)-1].x >= least || i == len(line)-2 {
			out = append(out, v)
		}
	}
	return out
}

// PercentileSpectrum draws latency against the percentile, on an axis where
// 90 %, 99 % and 99.9 % lie evenly apart; a line for each distribution.
func PercentileSpectrum(ds []analysis.Distribution, st Style) Figure {
	kind := analysis.EndToEnd
	var lines []spectrum
	left := max(0, len(ds)-maxSpectra)
	for i, d := range ds[:len(ds)-left] {
		kind = d.Kind
		lines = append(lines, spectrumOf(d, i, spectrumLabel(d, ds)))
	}
	f := Figure{Name: "percentile-spectrum", Title: upperFirst(kindName(kind)) + " by percentile", style: st}
	if len(ds) == 1 {
		f.Name = fmt.Sprintf("percentile-spectrum-%d-%d", ds[0].Step, ds[0].Repeat)
		f.Title += atLoad(ds[0].Load, ds[0].Rate)
	}
	f.spectra(ds, lines, kind, left)
	return f
}

// spectra makes f the figure of lines, which are those of ds that are drawn.
func (f *Figure) spectra(ds []analysis.Distribution, lines []spectrum, kind analysis.Kind, left int) {
	st := f.style
	for _, l := range lines {
		f.Legend = append(f.Legend, LegendEntry{l.label, l.class})
	}
	y, below := spectrumRange(lines, st.LogScale)
	if st.axis != nil {
		y = *st.axis
	}
	f.Data = spectrumData(ds[:len(ds)-left])
	f.Caption = spectrumCaption(ds, lines, kind, left, below)
	f.draw = func(c draw.Canvas, pal Palette, fc face) { drawSpectrum(c, pal, fc, kind, lines, y) }
}

// spectrumRange is the axis that holds the lines, and how many of their values a
// logarithmic one cannot show.
func spectrumRange(lines []spectrum, log bool) (y latencyAxis, below int) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		for _, v := range l.line {
			if log && v.ns <= 0 {
				below++
				continue
			}
			lo, hi = min(lo, v.ns), max(hi, v.ns)
		}
	}
	switch {
	case math.IsInf(hi, 0) && log:
		return logLatency(1e6, 1e9), below
	case math.IsInf(hi, 0):
		return linearLatency(0, 1e6), below
	case log:
		return logLatency(lo, hi), below
	}
	return linearLatency(lo, hi), below
}

// spectrumLabel tells a distribution from the others.
func spectrumLabel(d analysis.Distribution, all []analysis.Distribution) string {
	label := rateText(d.Rate) + "/s"
	if d.Load.Name != "" {
		label = printable(d.Load.Name)
	}
	for _, o := range all {
		if o.Rate == d.Rate && o.Variant == d.Variant && o.Repeat != d.Repeat {
			label += fmt.Sprintf(" #%d", d.Repeat+1)
			break
		}
	}
	if d.Variant != "" {
		label += ", " + d.Variant
	}
	return label
}

// spectrumTicks are at 0, 50 %, and each nine up to the end.
func spectrumTicks(end float64) []tick {
	ticks := []tick{{0, "0 %"}, {spectrumX(0.5), "50 %"}}
	for nines := 1; float64(nines) <= end && nines < 12; nines++ {
		label := "90 %"
		if nines >= 2 {
			label = "99"
			if nines > 2 {
				label += "." + strings.Repeat("9", nines-2)
			}
			label += " %"
		}
		ticks = append(ticks, tick{float64(nines), label})
	}
	return ticks
}

func drawSpectrum(c draw.Canvas, pal Palette, fc face, kind analysis.Kind, lines []spectrum, y latencyAxis) {
	fr := newFrame(pal, fc, kindName(kind), "percentile", y)
	var labels []string
	last := 2.0
	for _, l := range lines {
		labels = append(labels, l.label)
		if n := len(l.line); n > 0 {
			last = max(last, l.line[n-1].x)
		}
	}
	fr.endRoom = roomFor(fc, labels, c.Size().X)
	fr.X.Min, fr.X.Max = 0, last
	fr.X.Tick.Marker = ticker(uncrowded(latencyAxis{max: last, ticks: spectrumTicks(last)}, c.Size().X-fr.endRoom-70, fc))
	at := func(data draw.Canvas, v vertex) (vg.Point, bool) {
		p, ok := y.pos(v.ns)
		if !ok {
			p = y.min
		}
		return vg.Point{X: data.X(fr.X.Norm(v.x)), Y: data.Y(fr.Y.Norm(p))}, ok
	}
	fr.draw(c, func(data draw.Canvas) {
		drawn := false
		for i := len(lines) - 1; i >= 0; i-- {
			l := lines[i]
			style := lineStyle(pal, l.class)
			thin := style
			thin.Width, thin.Dashes = 0.8, []vg.Length{1.5, 2}
			var solid, weak []vg.Point
			for _, v := range l.line {
				p, ok := at(data, v)
				if !ok {
					continue
				}
				drawn = true
				if v.x <= l.supported {
					solid = append(solid, p)
				} else {
					if len(weak) == 0 && len(solid) > 0 {
						weak = append(weak, solid[len(solid)-1])
					}
					weak = append(weak, p)
				}
			}
			data.StrokeLines(style, solid)
			data.StrokeLines(thin, weak)
			if l.cutOff && len(l.line) > 0 {
				p, _ := at(data, l.line[len(l.line)-1])
				fillMark(data, upMark, vg.Point{X: p.X, Y: data.Max.Y}, 4, style.Color)
			}
		}
		if !drawn {
			data.FillText(fc.style(13, pal.Muted, draw.XCenter, draw.YCenter), data.Center(), "no message was measured")
		}
	}, func(data draw.Canvas) []end {
		return spectrumEnds(lines, data, at, pal)
	})
}

func spectrumEnds(lines []spectrum, data draw.Canvas, at func(draw.Canvas, vertex) (vg.Point, bool), pal Palette) []end {
	var ends []end
	for _, l := range lines {
		if n := len(l.line); n > 0 {
			p, _ := at(data, l.line[n-1])
			ends = append(ends, end{l.label, p.Y, lineStyle(pal, l.class), -1, false})
		}
	}
	return ends
}

func spectrumCaption(ds []analysis.Distribution, lines []spectrum, kind analysis.Kind, left, below int) string {
	var b strings.Builder
	var load analysis.Load
	if len(ds) > 0 {
		load = ds[0].Load
	}
	fmt.Fprintf(&b, "Each line is the %s (%s) that a share of the messages did not exceed; each further nine takes the same room, and the line ends at the slowest message.", kindName(kind), pathOf(kind, load))
	if len(ds) > 0 {
		b.WriteString(cutText(ds[0].Warmup, load) + loadNote(load))
	}
	if len(ds) > 0 {
		b.WriteString(windowText(ds[0].Window, ds[0].Load))
	}
	weak, cutOff := false, false
	for _, l := range lines {
		n := len(l.line)
		weak = weak || n > 0 && l.line[n-1].x > l.supported
		cutOff = cutOff || l.cutOff && n > 0
	}
	if weak {
		b.WriteString(" Thin and dotted: too few messages or blocks support the percentile.")
	}
	if cutOff {
		b.WriteString(" A triangle at the upper edge: beyond this share, messages never came.")
	}
	if below > 0 {
		b.WriteString(" Values of 0 or less cannot be shown on a logarithmic axis.")
	}
	if left > 0 {
		fmt.Fprintf(&b, " %s not drawn.", plural(left, "more step is", "more steps are"))
	}
	return b.String()
}
