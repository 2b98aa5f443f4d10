package figure

import (
	"fmt"
	"image/color"
)

// Theme chooses the colours.
type Theme int

// The themes.
const (
	Light Theme = iota
	Dark
	// Page takes its colours from the CSS variables --fig-* of the page around
	// it and has no background of its own. Without them it looks as Light.
	Page
)

// Palette is the colours of a theme by their role. The series are chosen from
// those that remain apart for colour-blind eyes (after Okabe and Ito 2008,
// darkened to a contrast of 3:1 on white), and each has its own dashes too.
type Palette struct {
	Background color.Color // nil for none
	Ink        color.NRGBA // labels
	Muted      color.NRGBA // axis and captions
	Grid       color.NRGBA
	Warmup     color.NRGBA // shade over what was cut
	Band       color.NRGBA // between minimum and maximum
	Max        color.NRGBA
	// Density is the darkest of the raster of message counts. A raster is an
	// image, which no CSS variable reaches: the theme Page has one that shows on
	// both backgrounds.
	Density color.NRGBA
	Series  [Classes]color.NRGBA
}

// Classes is the number of colours with dashes of their own.
const Classes = 7

// MaxClass is the class of the maximum in a legend.
const MaxClass = -1

func hex(v uint32) color.NRGBA {
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255}
}

func fade(v uint32, alpha uint8) color.NRGBA {
	c := hex(v)
	c.A = alpha
	return c
}

func lightPalette() Palette {
	return Palette{
		Background: hex(0xffffff),
		Ink:        hex(0x1f2933),
		Muted:      hex(0x5b6770),
		Grid:       hex(0xdfe4e8),
		Warmup:     fade(0x8a97a2, 46),
		Band:       fade(0x7d8b99, 40),
		Max:        hex(0x6b7884),
		Density:    hex(0x6d8296),
		Series: [7]color.NRGBA{
			hex(0x0072b2), // blue
			hex(0x00866a), // bluish green
			hex(0x9a7400), // dark yellow
			hex(0xb8508f), // reddish purple
			hex(0xd55e00), // vermilion
			hex(0x5d3a9b), // violet
			hex(0x8c1c13), // dark red
		},
	}
}

func darkPalette() Palette {
	return Palette{
		Background: hex(0x14191f),
		Ink:        hex(0xe6ebef),
		Muted:      hex(0x9aa7b2),
		Grid:       hex(0x2c353e),
		Warmup:     fade(0x93a1ad, 46),
		Band:       fade(0x8fa0b0, 44),
		Max:        hex(0xa3afba),
		Density:    hex(0x8fa3b5),
		Series: [7]color.NRGBA{
			hex(0x56b4e9),
			hex(0x2fc79d),
			hex(0xe0b830),
			hex(0xe38bc0),
			hex(0xff8a3d),
			hex(0xb59aea),
			hex(0xff7d72),
		},
	}
}

func (t Theme) palette() Palette {
	switch t {
	case Dark:
		return darkPalette()
	case Page:
		p := lightPalette()
		p.Background = nil
		return p
	default:
		return lightPalette()
	}
}

// role is a colour with the name of its CSS variable.
type role struct {
	name  string
	color color.NRGBA
}

func (p Palette) roles() []role {
	r := []role{
		{"ink", p.Ink}, {"muted", p.Muted}, {"grid", p.Grid},
		{"warmup", p.Warmup}, {"band", p.Band}, {"max", p.Max},
	}
	for i, c := range p.Series {
		r = append(r, role{fmt.Sprintf("s%d", i), c})
	}
	return r
}

// hexText is the colour as vgsvg writes it, which for a translucent one is a
// bit off from the way through premultiplied values.
func hexText(c color.NRGBA) string {
	r, g, b, alpha := c.RGBA()
	a := 255 / float64(alpha)
	return fmt.Sprintf("#%02X%02X%02X", int(float64(r)*a), int(float64(g)*a), int(float64(b)*a))
}

// Variables are the CSS custom properties that a figure of the theme Page
// reads, as declarations for a rule of the theme t.
func Variables(t Theme) string {
	s := ""
	for _, r := range t.palette().roles() {
		s += fmt.Sprintf("--fig-%s:#%02x%02x%02x;", r.name, r.color.R, r.color.G, r.color.B)
	}
	return s
}

// classOf puts each percentile, in percent and ascending, into a class of its
// own: colour and dashes. The usual ones always get the same, whatever else is
// asked for, as long as no two fall together.
func classOf(percentiles []float64) map[float64]int {
	bounds := []float64{50, 75, 85, 95, 99, 99.9, 100}
	classes := make(map[float64]int, len(percentiles))
	var taken [7]bool
	var later []float64
	for _, p := range percentiles {
		exact := -1
		for i, b := range bounds[:6] {
			if p == b {
				exact = i
			}
		}
		if exact < 0 || taken[exact] {
			later = append(later, p)
			continue
		}
		classes[p], taken[exact] = exact, true
	}
	for _, p := range later {
		if _, ok := classes[p]; ok {
			continue
		}
		want := 0
		for want < 6 && p > bounds[want] {
			want++
		}
		c := want
		for d := range 7 {
			if up := want + d; up < 7 && !taken[up] {
				c = up
				break
			}
			if down := want - d; down >= 0 && !taken[down] {
				c = down
				break
			}
		}
		classes[p], taken[c] = c, true
	}
	return classes
}
