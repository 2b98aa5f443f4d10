// Package figure draws what the analysis computed: latency over time and
// latency per rate, with gonum/plot, the same natively and in WebAssembly.
//
// It refuses to compute: no percentile, no merge, no smoothing. A figure has
// at most MaxVertices vertices a series, never a mark per message, and says in
// its caption what a line is, which clock and which cut it shows, and what it
// could not draw. A blank interval is a gap, never a zero.
package figure

import (
	"bytes"
	"fmt"
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// MaxVertices is the most that one line of a figure is made of.
const MaxVertices = 3000

// Style is how a figure looks. The zero value is usable: light, 760 by 320.
type Style struct {
	// Width and Height in CSS pixels, or points in a PDF. 0: 760 by 320.
	Width, Height int
	Theme         Theme
	// LogScale draws latencies on a logarithmic axis.
	LogScale bool
	// Titled draws the title into the figure. A page has it in its HTML.
	Titled bool
	// Percentiles asked for, when the figure draws fewer: a percentile then
	// keeps its colour and dashes over all figures of a view. Nil: those drawn.
	Percentiles []float64
	// Draws tells which lines latency over time has, as analysis.View does; nil
	// for the usual ones.
	Draws func(line string, usual bool) bool

	axis *latencyAxis // of the latencies, which several panels share
}

func (s Style) draws(line string, usual bool) bool {
	if s.Draws == nil {
		return usual
	}
	return s.Draws(line, usual)
}

func (s Style) size() (w, h vg.Length) {
	w, h = vg.Length(s.Width), vg.Length(s.Height)
	if w <= 0 {
		w = 760
	}
	if h <= 0 {
		h = 320
	}
	return w, h
}

// Figure is a drawing that is ready to be written.
type Figure struct {
	Name    string // safe as a file's name, without a suffix
	Title   string
	Caption string // plain text
	// Legend names what is drawn, in the order from low to high.
	Legend []LegendEntry
	// Data is what is drawn as a table; without columns where there is none.
	Data Data

	style Style
	draw  func(c draw.Canvas, p Palette, f face)
}

// LegendEntry is one line of a figure.
type LegendEntry struct {
	Label string
	Class int // index into Palette.Series, or MaxClass
}

// Formats that WriteTo knows here: svg, and natively png and pdf.
func Formats() []string { return append([]string{"svg"}, otherFormats...) }

// WriteTo writes the figure as format: "svg", and natively "png" (at 2 pixels
// a point) and "pdf".
func (f Figure) WriteTo(w io.Writer, format string) error {
	if format == "svg" {
		s, err := f.svg()
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, s)
		return err
	}
	return f.writeOther(w, format)
}

// SVG is the figure as an SVG element.
func (f Figure) SVG() (string, error) { return f.svg() }

func (f Figure) svg() (string, error) {
	s, _, err := f.Drawn()
	return s, err
}

// Drawn is the figure as an SVG element, and where its data lie in it.
func (f Figure) Drawn() (string, Layout, error) {
	width, height := f.style.size()
	c := vgsvg.New(width, height)
	l := f.paint(c, width, height, true)
	s, err := f.written(c)
	return s, l, err
}

func (f Figure) written(c *vgsvg.Canvas) (string, error) {
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", fmt.Errorf("figure %s: %w", f.Name, err)
	}
	return finishSVG(b.String(), f)
}

// paint draws onto a canvas of any kind. Anchors asks for the marks that
// finishSVG turns into text-anchor.
func (f Figure) paint(c vg.CanvasSizer, width, height vg.Length, anchors bool) Layout {
	p := f.style.Theme.palette()
	dc := draw.NewCanvas(c, width, height)
	if p.Background != nil {
		dc.SetColor(p.Background)
		dc.Fill(dc.Rectangle.Path())
	}
	fc := newFace(anchors)
	layout := Layout{}
	fc.layout = &layout
	if f.style.Titled {
		st := fc.style(15, p.Ink, draw.XLeft, draw.YTop)
		dc.FillText(st, vg.Point{X: dc.Min.X + 10, Y: dc.Max.Y - 8}, f.Title)
		dc.Max.Y -= 26
	}
	f.draw(dc, p, fc)
	layout.Top, layout.Bottom = height.Points()-layout.Top, height.Points()-layout.Bottom
	return layout
}
