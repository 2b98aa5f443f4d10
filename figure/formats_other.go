//go:build !js

package figure

import (
	"fmt"
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
)

var otherFormats = []string{"png", "pdf"}

func (f Figure) writeOther(w io.Writer, format string) error {
	width, height := f.style.size()
	var c interface {
		vg.CanvasSizer
		io.WriterTo
	}
	switch format {
	case "png":
		c = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(144))}
	case "pdf":
		pdf := vgpdf.New(width, height)
		pdf.EmbedFonts(true)
		c = pdf
	default:
		return fmt.Errorf("figure %s: no format %q, choose svg, png or pdf", f.Name, format)
	}
	f.paint(c, width, height, false)
	if _, err := c.WriteTo(w); err != nil {
		return fmt.Errorf("figure %s: writing %s: %w", f.Name, format, err)
	}
	return nil
}
