package figure

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"queuebench/analysis"
)

func drawPerRate(c draw.Canvas, pal Palette, fc face, kind analysis.Kind, axis string, rates []float64, lines []rateLine, y latencyAxis) {
	var names []string
	for _, l := range lines {
		names = append(names, l.label)
	}
	room := roomFor(fc, names, c.Size().X)
	pos, lo, hi, ticks := rateAxis(rates, c.Size().X-room-86, fc)
	fr := newFrame(pal, fc, kindName(kind), axis, y)
	fr.endRoom = room
	fr.X.Min, fr.X.Max = lo, hi
	fr.logX = len(rates) > 0 && pos(rates[0]) != rates[0]
	fr.X.Tick.Marker = ticker(ticks)
	joined := make([][]rateMark, len(lines))
	for i, l := range lines {
		joined[i] = middles(l.marks)
	}
	body := func(data draw.Canvas) {
		at := func(m rateMark) (vg.Point, bool) {
			p := vg.Point{X: data.X(fr.X.Norm(pos(m.rate)))}
			v, ok := y.pos(float64(m.value.Ns))
			if ok {
				p.Y = data.Y(fr.Y.Norm(v))
			}
			if m.value.Beyond {
				p.Y = data.Max.Y
			}
			return p, ok || m.value.Beyond
		}
		shown := false
		for i := len(lines) - 1; i >= 0; i-- {
			l := lines[i]
			style := l.style(pal)
			var stroke []vg.Point
			for _, m := range joined[i] {
				p, ok := at(m)
				if !ok || m.value.Beyond || !m.value.Supported {
					data.StrokeLines(style, stroke)
					stroke = nil
					continue
				}
				stroke = append(stroke, p)
			}
			data.StrokeLines(style, stroke)
			drawWhiskers(data, l.marks, style, func(m rateMark) (x, low, high vg.Length, ok bool) {
				p, shown := at(m)
				lo, above := y.pos(float64(m.value.LowNs))
				hi, _ := y.pos(float64(m.value.HighNs))
				return p.X, data.Y(fr.Y.Norm(lo)), data.Y(fr.Y.Norm(hi)), shown && above
			})
			for _, m := range l.marks {
				p, ok := at(m)
				if !ok {
					continue
				}
				shown = true
				switch {
				case m.value.Beyond:
					p.X += aside(lines, i, m.rate)
					fillMark(data, upMark, p, 4.5, style.Color)
				case m.value.Supported && l.reference == 0:
					fillMark(data, l.shape(), p, 3.4, style.Color)
				default:
					hollowMark(data, l.shape(), p, 3.4, style.Color)
				}
			}
		}
		if !shown {
			data.FillText(fc.style(13, pal.Muted, draw.XCenter, draw.YCenter), data.Center(), "no message was measured")
		}
	}
	fr.draw(c, body, func(data draw.Canvas) []end {
		var ends []end
		for i, l := range lines {
			if len(l.marks) == 0 {
				continue
			}
			last := l.marks[len(l.marks)-1]
			if k := len(joined[i]); k > 0 {
				last = joined[i][k-1]
			}
			e := end{label: l.label, at: data.Min.Y, style: l.style(pal), mark: l.shape(), hollow: l.reference > 0}
			if v, ok := y.pos(float64(last.value.Ns)); ok {
				e.at = data.Y(fr.Y.Norm(v))
			}
			if last.value.Beyond {
				e.at = data.Max.Y
			}
			ends = append(ends, e)
		}
		return ends
	})
}

// drawWhiskers draws the intervals of the marks that have one, all of them as one
// path.
func drawWhiskers(data draw.Canvas, marks []rateMark, style draw.LineStyle, at func(rateMark) (x, low, high vg.Length, ok bool)) {
	const half = 2.5
	var p vg.Path
	line := func(x1, y1, x2, y2 vg.Length) {
		p.Move(vg.Point{X: x1, Y: y1})
		p.Line(vg.Point{X: x2, Y: y2})
	}
	for _, m := range marks {
		if m.value.HighNs <= 0 {
			continue
		}
		x, low, high, ok := at(m)
		if !ok {
			continue
		}
		low, high = max(low, data.Min.Y), min(high, data.Max.Y)
		line(x, low, x, high)
		line(x-half, low, x+half, low)
		line(x-half, high, x+half, high)
	}
	if len(p) == 0 {
		return
	}
	style.Dashes, style.Width = nil, 0.9
	data.SetLineStyle(style)
	data.Stroke(p)
}

// aside is how far the triangle of line i moves at a rate: all of them lie on
// the same edge, so those of one rate stand side by side.
func aside(lines []rateLine, i int, rate float64) vg.Length {
	n, at := 0, 0
	for j, l := range lines {
		if slices.ContainsFunc(l.marks, func(m rateMark) bool { return m.rate == rate && m.value.Beyond }) {
			if j == i {
				at = n
			}
			n++
		}
	}
	return vg.Length(2*at-n+1) * 5
}

// markOf is the shape of a class; the triangle that points up is kept for what
// lies beyond the figure.
func markOf(class int) int {
	return [7]int{0, 1, 2, 4, 5, 6, 0}[class]
}

// middles is the middle repeat of each rate, the lower of two.
func middles(marks []rateMark) []rateMark {
	var out []rateMark
	for i := 0; i < len(marks); {
		j := i
		for j < len(marks) && marks[j].rate == marks[i].rate {
			j++
		}
		same := slices.Clone(marks[i:j])
		slices.SortStableFunc(same, func(a, b rateMark) int {
			if a.value.Beyond != b.value.Beyond {
				if b.value.Beyond {
					return -1
				}
				return 1
			}
			return cmp.Compare(a.value.Ns, b.value.Ns)
		})
		out = append(out, same[(len(same)-1)/2])
		i = j
	}
	return out
}
