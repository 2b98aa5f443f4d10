package figure

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ticker hands ready marks to a gonum axis.
type ticker []tick

func (t ticker) Ticks(_, _ float64) []plot.Tick {
	out := make([]plot.Tick, len(t))
	for i, k := range t {
		out[i] = plot.Tick{Value: k.value, Label: k.label}
	}
	return out
}

// frame is a plot with its axes set and nothing in it.
type frame struct {
	*plot.Plot
	pal  Palette
	face face
	y    latencyAxis
	// yName stands above the vertical axis, written level.
	yName string
	// endRoom is the room on the right for the names of the lines.
	endRoom vg.Length
	// logX: positions along the horizontal axis are log10 of what they stand for.
	logX bool
}

const (
	labelSize = 11.5
	nameSize  = 12
	// endSample is the width of a line's sample beside its name.
	endSample = vg.Length(34)
	// otherFace is how much wider a name is in the face that a browser takes where
	// it has not ours.
	otherFace = 1.15
	// minEndRoom fits the name of any percentile.
	minEndRoom = vg.Length(74)
)

// roomFor is the room that names take at the ends of lines, at most a third of
// the figure.
func roomFor(f face, names []string, width vg.Length) vg.Length {
	room := minEndRoom
	for _, n := range names {
		room = max(room, endSample+otherFace*f.width(labelSize, n))
	}
	return min(room, width/3)
}

// fitting cuts a name to a width, out of its middle: names of runs and of
// settings mostly differ at their ends.
func (f face) fitting(name string, width vg.Length) string {
	runes := []rune(name)
	for n := len(runes) - 1; f.width(labelSize, name) > width && n > 1; n-- {
		front := n / 3
		name = string(runes[:front]) + "…" + string(runes[len(runes)-n+front:])
	}
	return name
}

func newFrame(pal Palette, f face, yName, xName string, y latencyAxis) frame {
	p := plot.New()
	p.BackgroundColor = nil
	p.TextHandler = f
	p.Title.TextStyle = f.style(nameSize, pal.Ink, draw.XLeft, draw.YTop)
	p.Legend.TextStyle = f.style(labelSize, pal.Ink, draw.XLeft, draw.YTop)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Color, a.Width, a.Padding = pal.Muted, 0.8, 0
		a.Tick.Color, a.Tick.Width, a.Tick.Length = pal.Muted, 0.8, 4
	}
	p.X.Label.Text, p.X.Label.Padding = xName, 4
	p.X.Label.TextStyle = f.style(nameSize, pal.Muted, draw.XCenter, draw.YBottom)
	p.Y.Label.TextStyle = f.style(nameSize, pal.Muted, draw.XCenter, draw.YBottom)
	p.X.Tick.Label = f.style(labelSize, pal.Muted, draw.XCenter, draw.YTop)
	p.Y.Tick.Label = f.style(labelSize, pal.Muted, draw.XRight, draw.YCenter)
	// The grid says where the marks are: the vertical axis has no line.
	p.Y.Width, p.Y.Tick.Width, p.Y.Tick.Length = 0, 0, 0
	p.Y.Min, p.Y.Max = y.min, y.max
	p.Y.Tick.Marker = ticker(y.ticks)
	return frame{Plot: p, pal: pal, face: f, y: y, yName: yName, endRoom: minEndRoom}
}

// draw draws the frame, what body adds to its data area, and the names of the
// lines at their ends.
func (fr frame) draw(c draw.Canvas, body func(data draw.Canvas), ends func(data draw.Canvas) []end) {
	c.Min.X += 8
	c.Max.X -= 6
	c.Min.Y += 8
	c.FillText(fr.face.style(nameSize, fr.pal.Muted, draw.XLeft, draw.YTop), vg.Point{X: c.Min.X, Y: c.Max.Y - 4}, fr.yName)
	c.Max.Y -= 30
	inner := draw.Crop(c, 0, -fr.endRoom, 0, 0)
	data := fr.DataCanvas(inner)
	if l := fr.face.layout; l != nil {
		l.Left, l.Right, l.Top, l.Bottom = data.Min.X.Points(), data.Max.X.Points(), data.Max.Y.Points(), data.Min.Y.Points()
		l.X, l.Y = Scale{fr.X.Min, fr.X.Max, fr.logX}, Scale{fr.y.min, fr.y.max, fr.y.log}
	}
	grid := draw.LineStyle{Color: fr.pal.Grid, Width: 0.8}
	for _, t := range fr.y.ticks {
		y := data.Y(fr.Y.Norm(t.value))
		if t.label != "" && data.ContainsY(y) {
			data.StrokeLine2(grid, data.Min.X, y, data.Max.X, y)
		}
	}
	if zero, ok := fr.y.pos(0); ok && fr.y.min < 0 {
		y := data.Y(fr.Y.Norm(zero))
		data.StrokeLine2(draw.LineStyle{Color: fr.pal.Muted, Width: 0.8}, data.Min.X, y, data.Max.X, y)
	}
	body(data)
	fr.Draw(inner)
	fr.names(data, ends(data))
}

// end is the end of a line, where its name goes.
type end struct {
	label string
	at    vg.Length // where the line ends, on the canvas
	style draw.LineStyle
	mark  int // shape of the sample's mark, −1 for none
	// hollow is how the mark is drawn of what others said.
	hollow bool
}

// names writes the names of the lines in the right margin, each at the height
// of its end or as near as the others let it, with a sample of its dashes.
func (fr frame) names(data draw.Canvas, ends []end) {
	const apart = 15
	if len(ends) == 0 {
		return
	}
	slices.SortStableFunc(ends, func(a, b end) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	at := spread(ends, data.Min.Y+2, data.Max.Y, apart)
	for i, e := range ends {
		x := data.Max.X + 7
		st := e.style
		st.Width = max(st.Width, 1.6)
		data.StrokeLine2(st, x, at[i], x+22, at[i])
		if p := (vg.Point{X: x + 11, Y: at[i]}); e.mark >= 0 && e.hollow {
			hollowMark(data, e.mark, p, 3.4, st.Color)
		} else if e.mark >= 0 {
			fillMark(data, e.mark, p, 3.4, st.Color)
		}
		data.FillText(fr.face.style(labelSize, fr.pal.Ink, draw.XLeft, draw.YCenter), vg.Point{X: x + 27, Y: at[i] + 2.2}, fr.face.fitting(e.label, fr.endRoom-endSample))
	}
}

// spread moves ascending heights apart, by as little as it takes.
func spread(ends []end, lo, hi, apart vg.Length) []vg.Length {
	at := make([]vg.Length, len(ends))
	for i, e := range ends {
		at[i] = min(max(e.at, lo), hi)
		if i > 0 {
			at[i] = max(at[i], at[i-1]+apart)
		}
	}
	if over := at[len(at)-1] - hi; over > 0 {
		at[len(at)-1] -= over
		for i := len(at) - 2; i >= 0; i-- {
			at[i] = min(at[i], at[i+1]-apart)
		}
	}
	return at
}

// lineStyle is the colour and the dashes of a class.
func lineStyle(p Palette, class int) draw.LineStyle {
	if class == MaxClass {
		return draw.LineStyle{Color: p.Max, Width: 1.1, Dashes: []vg.Length{1.2, 2.4}}
	}
	dashes := [7][]vg.Length{
		nil,
		{7, 2.5},
		{2.5, 2},
		{9, 2, 2, 2},
		{14, 2},
		{4, 2},
		{9, 2, 2, 2, 2, 2},
	}
	return draw.LineStyle{Color: p.Series[class], Width: 1.6, Dashes: dashes[class]}
}

// fillMark draws a filled mark of one of seven shapes.
func fillMark(c draw.Canvas, shape int, at vg.Point, r vg.Length, clr interface{ RGBA() (r, g, b, a uint32) }) {
	c.SetColor(clr)
	c.Fill(markPath(shape, at, r))
}

// hollowMark draws the outline only.
func hollowMark(c draw.Canvas, shape int, at vg.Point, r vg.Length, clr interface{ RGBA() (r, g, b, a uint32) }) {
	c.SetLineStyle(draw.LineStyle{Color: clr, Width: 1.3})
	c.Stroke(markPath(shape, at, r))
}

// upMark is the shape for what lies beyond the top of a figure.
const upMark = 3

func markPath(shape int, at vg.Point, r vg.Length) vg.Path {
	var p vg.Path
	polygon := func(n int, turn, radius float64) {
		for i := range n {
			a := turn + 2*math.Pi*float64(i)/float64(n)
			q := vg.Point{X: at.X + r*vg.Length(radius*math.Cos(a)), Y: at.Y + r*vg.Length(radius*math.Sin(a))}
			if i == 0 {
				p.Move(q)
			} else {
				p.Line(q)
			}
		}
		p.Close()
	}
	switch shape {
	case 1:
		polygon(4, math.Pi/4, 1.2)
	case 2:
		polygon(4, 0, 1.3)
	case upMark:
		polygon(3, math.Pi/2, 1.35)
	case 4:
		polygon(3, -math.Pi/2, 1.35)
	case 5:
		polygon(6, 0, 1.15)
	case 6:
		polygon(5, math.Pi/2, 1.2)
	default:
		p.Move(vg.Point{X: at.X + r, Y: at.Y})
		p.Arc(at, r, 0, 2*math.Pi)
		p.Close()
	}
	return p
}
