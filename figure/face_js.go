package figure

import _ "embed"

// In the page a text is only measured: the browser draws it. So its face is Go
// Regular without the outlines of its glyphs, a tenth of the bytes; a test holds
// one against the other.
//
//go:embed goregular-measures.ttf
var faceBytes []byte
