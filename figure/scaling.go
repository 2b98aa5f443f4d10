package figure

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"queuebench/analysis"
)

// Scaling draws the throughput against a setting, beside the line that it would
// follow if it grew as the setting does from its first value.
func Scaling(s analysis.Scaling, st Style) Figure {
	setting := printable(s.Setting)
	f := Figure{
		Name: "scaling-" + fileName(setting), Title: "Throughput against " + setting, style: st,
		Legend:  []LegendEntry{{"received", 0}, {"linear", MaxClass}},
		Caption: fmt.Sprintf("Each mark is the median run's messages received per second at a value of %s. The dotted line grows in proportion to it from the first one: what lies below is lost to scaling.", setting),
	}
	if s.Rate > 0 {
		f.Name += "-" + fileName(rateText(s.Rate))
		f.Title += " at " + rateText(s.Rate) + " msg/s"
	}
	if s.Beside != "" {
		f.Name += "-" + fileName(s.Beside)
		f.Title += ", " + printable(s.Beside)
	}
	bound := false
	for _, r := range s.Rows {
		bound = bound || r.RateBound
	}
	if bound {
		f.Caption += " Hollow: as much came as was due, so that the rate limits the throughput, not the setting."
	}
	f.draw = func(c draw.Canvas, pal Palette, fc face) { drawScaling(c, pal, fc, s, setting) }
	return f
}

func drawScaling(c draw.Canvas, pal Palette, fc face, s analysis.Scaling, setting string) {
	var xs []float64
	top := 0.0
	for _, r := range s.Rows {
		xs = append(xs, r.Resource)
		top = max(top, r.ReceivedPerS)
	}
	y := countAxis(top * 1.05)
	fr := newFrame(pal, fc, "messages per second", setting, y)
	fr.endRoom = roomFor(fc, []string{"linear", "received"}, c.Size().X)
	pos, lo, hi, ticks := rateAxis(xs, c.Size().X-fr.endRoom-86, fc)
	fr.X.Min, fr.X.Max = lo, hi
	fr.X.Tick.Marker = ticker(ticks)
	at := func(data draw.Canvas, x, v float64) vg.Point {
		return vg.Point{X: data.X(fr.X.Norm(pos(x))), Y: data.Y(fr.Y.Norm(v))}
	}
	ideal := func(data draw.Canvas) []vg.Point {
		var out []vg.Point
		for _, r := range s.Rows {
			if v := s.Rows[0].ReceivedPerS * r.Resource / s.Rows[0].Resource; v <= y.max {
				out = append(out, at(data, r.Resource, v))
			} else { // to the edge of the figure
				if x := s.Rows[0].Resource * y.max / s.Rows[0].ReceivedPerS; s.Rows[0].ReceivedPerS > 0 {
					out = append(out, at(data, x, y.max))
				}
				break
			}
		}
		return out
	}
	fr.draw(c, func(data draw.Canvas) {
		if len(s.Rows) == 0 {
			data.FillText(fc.style(13, pal.Muted, draw.XCenter, draw.YCenter), data.Center(), "nothing scales here")
			return
		}
		data.StrokeLines(lineStyle(pal, MaxClass), ideal(data))
		var line []vg.Point
		for _, r := range s.Rows {
			line = append(line, at(data, r.Resource, r.ReceivedPerS))
		}
		data.StrokeLines(lineStyle(pal, 0), line)
		for i, r := range s.Rows {
			if r.RateBound {
				hollowMark(data, 0, line[i], 3.4, pal.Series[0])
			} else {
				fillMark(data, 0, line[i], 3.4, pal.Series[0])
			}
		}
	}, func(data draw.Canvas) []end {
		if len(s.Rows) == 0 {
			return nil
		}
		last := s.Rows[len(s.Rows)-1]
		return []end{
			{"received", at(data, last.Resource, last.ReceivedPerS).Y, lineStyle(pal, 0), 0, false},
			{"linear", ideal(data)[len(ideal(data))-1].Y, lineStyle(pal, MaxClass), -1, false},
		}
	})
}

// fileName makes a name safe for a file: letters, digits, dots and dashes.
func fileName(s string) string {
	out := []byte{}
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.':
			out = append(out, byte(r))
		case r == ',':
		default:
			if len(out) > 0 && out[len(out)-1] != '-' {
				out = append(out, '-')
			}
		}
	}
	return string(out[:min(len(out), 80)])
}
