// Package measures has one face by which texts are measured, and none is drawn.
package measures

import _ "embed"

// TTF is Go Regular without the outlines of its glyphs: the page's figures are SVG,
// whose texts the browser draws. Package figure has the same, and the test that
// holds it against Go Regular.
//
//go:embed goregular-measures.ttf
var TTF []byte
