package figure

import (
	"fmt"
	"math"
	"strings"
)

// Sparkline is two lines as small as a word: median and tail, a point for each
// step, latencies in ns on one logarithmic axis. A value that is not positive is
// a gap.
type Sparkline struct{ Low, High []int64 }

// The size of a sparkline in CSS pixels, and its margin: half of a mark.
const (
	sparkWidth, sparkHeight = 132, 36
	sparkMargin             = 3
)

// SVG is the drawing, for a page that has the variables --fig-*; empty where no
// value can be drawn.
func (s Sparkline) SVG() string {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, line := range [][]int64{s.Low, s.High} {
		for _, v := range line {
			if v > 0 {
				lo, hi = min(lo, math.Log(float64(v))), max(hi, math.Log(float64(v)))
			}
		}
	}
	if lo > hi {
		return ""
	}
	// A flat line lies in the middle; a span below a factor of 1.5 is not blown up.
	if spare := math.Log(1.5) - (hi - lo); spare > 0 {
		lo, hi = lo-spare/2, hi+spare/2
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="spark" viewBox="0 0 %d %d" width="%d" height="%d" aria-hidden="true">`, sparkWidth, sparkHeight, sparkWidth, sparkHeight)
	for i, line := range [][]int64{s.Low, s.High} {
		class := [2]int{0, 4}[i]
		var path, marks strings.Builder
		pen := "M"
		for k, v := range line {
			if v <= 0 {
				pen = "M"
				continue
			}
			x := float64(sparkMargin)
			if len(line) > 1 {
				x += float64(k) / float64(len(line)-1) * (sparkWidth - 2*sparkMargin)
			}
			y := sparkMargin + (hi-math.Log(float64(v)))/(hi-lo)*(sparkHeight-2*sparkMargin)
			fmt.Fprintf(&path, "%s%.1f %.1f", pen, x, y)
			fmt.Fprintf(&marks, `<circle cx="%.1f" cy="%.1f" r="1.8" fill="var(--fig-s%d)"/>`, x, y, class)
			pen = "L"
		}
		dashes := ""
		if i == 1 {
			dashes = ` stroke-dasharray="4 2"`
		}
		fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="var(--fig-s%d)" stroke-width="1.4"%s/>%s`, path.String(), class, dashes, marks.String())
	}
	b.WriteString("</svg>")
	return b.String()
}
