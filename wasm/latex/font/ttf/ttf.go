// Package ttf stands in for a TeX typesetter that the page does not use.
package ttf

import (
	"codeberg.org/go-latex/latex/drawtex"
	"golang.org/x/image/font/sfnt"
)

// Fonts are the faces of a typesetter.
type Fonts struct{ Default, Rm, It, Bf, BfIt *sfnt.Font }

// Backend is nothing.
type Backend struct{}

// NewFrom returns a backend.
func NewFrom(*drawtex.Canvas, *Fonts) *Backend { return &Backend{} }
