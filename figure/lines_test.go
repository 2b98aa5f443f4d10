package figure

import (
	"strings"
	"testing"
)

func TestJoinLines(t *testing.T) {
	line := func(data, style string) string { return `<path d="` + data + `" style="` + style + `" />` }
	const grid, tick = "fill:none;stroke:#DFE4E8;stroke-width:0.8", "fill:none;stroke:#5B6770;stroke-width:0.8"
	for name, c := range map[string]struct{ in, want []string }{
		"in one style":  {[]string{line("M1,2l3,0", grid), line("M1,4l3,0", grid), line("M1,6l-3,.5", grid)}, []string{line("M1,2l3,0M1,4l3,0M1,6l-3,.5", grid)}},
		"in two styles": {[]string{line("M1,2l3,0", grid), line("M1,4l0,3", tick), line("M2,4l0,3", tick), line("M1,6l3,0", grid)}, []string{line("M1,2l3,0", grid), line("M1,4l0,3M2,4l0,3", tick), line("M1,6l3,0", grid)}},
		"apart":         {[]string{line("M1,2l3,0", grid), "<text>x</text>", line("M1,4l3,0", grid)}, nil},
		"areas":         {[]string{line("M1,2l3,0", "fill:#DFE4E8"), line("M1,4l3,0", "fill:#DFE4E8")}, nil},
		"translucent":   {[]string{line("M1,2l3,0", grid+";stroke-opacity:0.5"), line("M1,4l3,0", grid+";stroke-opacity:0.5")}, nil},
		"bent":          {[]string{line("M1,2l3,0 4,1", grid), line("M1,4l3,0l1,1", grid), line("M1,2l3,0Z", grid)}, nil},
	} {
		want := c.want
		if want == nil {
			want = c.in
		}
		if got := joinLines(strings.Join(c.in, "\n")); got != strings.Join(want, "\n") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
