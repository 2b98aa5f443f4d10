package figure

import (
	"fmt"
	"image/color"
	"math"
	"strings"
	"sync"

	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// One face, Go Regular, measures all text, natively and in WASM, from a cache
// of our own: gonum's default cache and default face are left alone.
const typeface = "Go"

var parseFace = sync.OnceValue(func() *font.Cache {
	f, err := opentype.Parse(faceBytes)
	if err != nil {
		// The bytes are compiled in: this is a broken build, not an input.
		panic(fmt.Sprintf("figure: the built-in face Go Regular does not parse: %v", err))
	}
	return font.NewCache(font.Collection{{Font: font.Font{Typeface: typeface}, Face: f}})
})

// Marks at the head of a text that say how it hangs on its point; finishSVG
// turns them into text-anchor, so that a text keeps its edge or its middle when
// a browser draws it in another face than it was measured in. They are from
// Unicode's private use area and no text of ours has them.
const (
	markMiddle = '\uE0A1'
	markEnd    = '\uE0A2'
)

// face is a text.Handler over the one face.
type face struct {
	text.Plain
	anchors bool
	layout  *Layout // is told where the data lie
}

func newFace(anchors bool) face {
	return face{Plain: text.Plain{Fonts: parseFace()}, anchors: anchors}
}

func (f face) style(size float64, c color.Color, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{
		Color: c, XAlign: x, YAlign: y, Handler: f,
		Font: font.Font{Typeface: typeface, Size: vg.Points(size)},
	}
}

// Draw is Plain.Draw, but that it hands over the anchor and not the left edge
// where the canvas knows anchors. Texts are one line.
func (f face) Draw(c vg.Canvas, txt string, sty text.Style, pt vg.Point) {
	mark := rune(0)
	switch sty.XAlign {
	case draw.XCenter:
		mark = markMiddle
	case draw.XRight:
		mark = markEnd
	}
	if !f.anchors || mark == 0 {
		f.Plain.Draw(c, txt, sty, pt)
		return
	}
	fnt := f.Fonts.Lookup(sty.Font, sty.Font.Size)
	c.SetColor(sty.Color)
	if sty.Rotation != 0 {
		c.Push()
		defer c.Pop()
		c.Rotate(sty.Rotation)
	}
	sin64, cos64 := math.Sincos(sty.Rotation)
	sin, cos := vg.Length(sin64), vg.Length(cos64)
	pt.X, pt.Y = pt.Y*sin+pt.X*cos, pt.Y*cos-pt.X*sin
	pt.Y += sty.Height(txt)*vg.Length(sty.YAlign) - fnt.Extents().Ascent
	c.FillString(fnt, pt.Add(vg.Point{Y: sty.Font.Size}), string(mark)+txt)
}

func (f face) width(size float64, s string) vg.Length {
	fnt := f.Fonts.Lookup(font.Font{Typeface: typeface}, vg.Points(size))
	return fnt.Width(strings.TrimFunc(s, func(r rune) bool { return r == markMiddle || r == markEnd }))
}
