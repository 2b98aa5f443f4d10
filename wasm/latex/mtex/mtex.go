// Package mtex stands in for a TeX typesetter that the page does not use.
package mtex

import (
	"errors"

	"codeberg.org/go-latex/latex/drawtex"
	"codeberg.org/go-latex/latex/font/ttf"
	"codeberg.org/go-latex/latex/tex"
)

// Renderer renders a canvas.
type Renderer interface {
	Render(width, height, dpi float64, c *drawtex.Canvas) error
}

// Parse fails: there is no TeX in the page.
func Parse(string, float64, float64, *ttf.Backend) (tex.Node, error) {
	return nil, errors.New("TeX is not part of the page's figures")
}
