package figure

import (
	"fmt"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"queuebench/analysis"
)

// shadeCut shades what was cut as warm-up and says so, and where a view has a
// window, what lies outside of it.
func (fr frame) shadeCut(data draw.Canvas, warmup time.Duration, window *analysis.Window) {
	shade := func(from, to float64, label string) {
		left, right := data.X(max(0, fr.X.Norm(from))), data.X(min(1, fr.X.Norm(to)))
		if right <= left {
			return
		}
		data.FillPolygon(fr.pal.Warmup, []vg.Point{{X: left, Y: data.Min.Y}, {X: right, Y: data.Min.Y}, {X: right, Y: data.Max.Y}, {X: left, Y: data.Max.Y}})
		if label != "" && right-left > fr.face.width(labelSize, label)+10 {
			data.FillText(fr.face.style(labelSize, fr.pal.Muted, draw.XLeft, draw.YTop), vg.Point{X: left + 5, Y: data.Max.Y - 1}, label)
		}
	}
	if warmup > 0 {
		shade(0, warmup.Seconds(), "warm-up")
	}
	if window == nil {
		return
	}
	from, to := time.Duration(window.FromNs).Seconds(), time.Duration(window.ToNs).Seconds()
	shade(warmup.Seconds(), from, "not looked at")
	shade(to, fr.X.Max, "not looked at")
	for _, at := range []float64{from, to} {
		if n := fr.X.Norm(at); n > 0 && n < 1 {
			data.StrokeLine2(draw.LineStyle{Color: fr.pal.Muted, Width: 1}, data.X(n), data.Min.Y, data.X(n), data.Max.Y)
		}
	}
}

// maxMarks is how many events a figure points at.
const maxMarks = 40

// drawMarks draws a dashed vertical line where an event begins, a shade over
// its length, and numbers it at the top: the caption has the texts.
func (fr frame) drawMarks(data draw.Canvas, marks []analysis.Mark) {
	style := draw.LineStyle{Color: fr.pal.Ink, Width: 0.9, Dashes: []vg.Length{3, 2}}
	edge := data.Min.X - 100
	for i, m := range marks[:min(len(marks), maxMarks)] {
		n := fr.X.Norm(m.At.Seconds())
		if n < 0 || n > 1 {
			continue
		}
		x := data.X(n)
		if end := data.X(min(1, fr.X.Norm((m.At + m.Duration).Seconds()))); end > x {
			data.FillPolygon(fr.pal.Band, []vg.Point{{X: x, Y: data.Min.Y}, {X: end, Y: data.Min.Y}, {X: end, Y: data.Max.Y}, {X: x, Y: data.Max.Y}})
		}
		data.StrokeLine2(style, x, data.Min.Y, x, data.Max.Y)
		if label := fmt.Sprint(i + 1); x > edge {
			data.FillText(fr.face.style(labelSize, fr.pal.Ink, draw.XCenter, draw.YBottom), vg.Point{X: x, Y: data.Max.Y + 1}, label)
			edge = x + fr.face.width(labelSize, label) + 4
		}
	}
}

// marksText names the events that are marked.
func marksText(marks []analysis.Mark) string {
	const named = 3
	if len(marks) == 0 {
		return ""
	}
	text := " Dashed lines: "
	for i, m := range marks[:min(len(marks), named)] {
		if i > 0 {
			text += "; "
		}
		text += fmt.Sprintf("%d %s at %s", i+1, m.Kind, Duration(m.At.Round(time.Millisecond)))
		if m.Text != "" {
			text += " (" + printable(m.Text) + ")"
		}
	}
	if more := len(marks) - named; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	if len(marks) > maxMarks {
		text += fmt.Sprintf(", of which the first %d in all are drawn", maxMarks)
	}
	return text + "."
}

// secondLine is a line over time whose values are no latencies.
type secondLine struct {
	label string
	class int
	runs  [][]vertex // ns holds the value
}

// secondsFigure draws such lines from 0 on.
type secondsFigure struct {
	yName    string
	lines    []secondLine
	warmup   time.Duration
	window   *analysis.Window
	duration time.Duration
	marks    []analysis.Mark
	least    float64 // the axis reaches at least so far
	empty    string  // what is said where there is nothing
}

func (s *secondsFigure) top() (v float64) {
	v = s.least
	for _, l := range s.lines {
		for _, run := range l.runs {
			for _, p := range run {
				v = max(v, p.ns)
			}
		}
	}
	return v
}

// end is the last second that is drawn.
func (s *secondsFigure) end() float64 {
	v := s.duration.Seconds()
	for _, l := range s.lines {
		for _, run := range l.runs {
			v = max(v, run[len(run)-1].x)
		}
	}
	if v <= 0 {
		return 1
	}
	return v
}

func (s *secondsFigure) draw(c draw.Canvas, pal Palette, fc face) {
	y := countAxis(s.top())
	fr := newFrame(pal, fc, s.yName, "time since the start of the step", y)
	var labels []string
	for _, l := range s.lines {
		labels = append(labels, l.label)
	}
	fr.endRoom = roomFor(fc, labels, c.Size().X)
	fr.X.Min, fr.X.Max = 0, s.end()
	fr.X.Tick.Marker = ticker(elapsedTicks(fr.X.Max, max(3, int(c.Size().X/90))))
	at := func(data draw.Canvas, v vertex) vg.Point {
		return vg.Point{X: data.X(fr.X.Norm(v.x)), Y: data.Y(fr.Y.Norm(v.ns))}
	}
	fr.draw(c, func(data draw.Canvas) {
		fr.shadeCut(data, s.warmup, s.window)
		drawn := false
		for i := len(s.lines) - 1; i >= 0; i-- {
			for _, run := range s.lines[i].runs {
				stroke := make([]vg.Point, len(run))
				for k, v := range run {
					stroke[k] = at(data, v)
				}
				data.StrokeLines(lineStyle(pal, s.lines[i].class), stroke)
				drawn = true
			}
		}
		fr.drawMarks(data, s.marks)
		if !drawn {
			data.FillText(fc.style(13, pal.Muted, draw.XCenter, draw.YCenter), data.Center(), s.empty)
		}
	}, func(data draw.Canvas) []end {
		var ends []end
		for _, l := range s.lines {
			if len(l.runs) > 0 {
				run := l.runs[len(l.runs)-1]
				ends = append(ends, end{l.label, at(data, run[len(run)-1]).Y, lineStyle(pal, l.class), -1, false})
			}
		}
		return ends
	})
}
