// Package drawtex stands in for a TeX typesetter that the page does not use.
package drawtex

import "golang.org/x/image/font/sfnt"

// Canvas never has anything on it.
type Canvas struct{}

// New returns a canvas.
func New() *Canvas { return &Canvas{} }

// Ops returns none.
func (*Canvas) Ops() []Op { return nil }

// Op is a GlyphOp or a RectOp.
type Op interface{ op() }

// GlyphOp draws a glyph.
type GlyphOp struct {
	X, Y  float64
	Glyph Glyph
}

// RectOp draws a rectangle.
type RectOp struct{ X1, Y1, X2, Y2 float64 }

// Glyph is a symbol of a font.
type Glyph struct {
	Font   *sfnt.Font
	Size   float64
	Symbol string
}

func (GlyphOp) op() {}
func (RectOp) op()  {}
