package figure

import (
	"fmt"
	"strings"
	"time"

	"queuebench/analysis"
)

// text says what stands in a figure beside its percentiles.
func (x extras) text(s analysis.Series, lines []line) string {
	text, far := "", ""
	if s.Cumulative {
		far = " so far"
	}
	if len(lines) > 0 && lines[len(lines)-1].class == MaxClass {
		text += "; the dotted line is the slowest message" + far
		if x.banded {
			text += ", and the band spans from the fastest to the slowest"
		}
	} else if x.banded {
		text += "; the band spans from the fastest message to the slowest" + far
	}
	if x.raster && !s.Cumulative {
		text += "; the darker a cell behind them, the more messages (by the logarithm of their number)"
	}
	text += "."
	if n := len(x.marks); n > 0 {
		text += fmt.Sprintf(" A diamond is one of the %s kept.", plural(n, "slow message", "slowest messages"))
	}
	return text
}

func overTimeCaption(s analysis.Series, lines []line, left []float64, below int, shown extras) string {
	var b strings.Builder
	which := "messages intended"
	switch {
	case s.Load.Closed:
		which = "operations begun"
	case s.Load.Filled:
		which = "messages handed over"
	}
	if s.Cumulative {
		fmt.Fprintf(&b, "Each line is a percentile of the %s (%s) of all %s from the warm-up until then: what a run that ended there would have shown", kindName(s.Kind), pathOf(s.Kind, s.Load), which)
	} else {
		fmt.Fprintf(&b, "Each line is a percentile of the %s (%s) of the %s within %s, drawn at its middle", kindName(s.Kind), pathOf(s.Kind, s.Load), which, widthText(s.Points))
	}
	b.WriteString(shown.text(s, lines))
	if s.Warmup > 0 {
		b.WriteString(warmupText(s.Warmup, s.Load))
	} else {
		b.WriteString(" Nothing was cut as warm-up.")
	}
	b.WriteString(windowText(s.Window, s.Load))
	b.WriteString(loadNote(s.Load))
	if c := columnsIn(lines); c > 0 {
		fmt.Fprintf(&b, " %d intervals are drawn in %d columns, of each line its lowest and its highest value.", len(s.Points), c)
	}
	blanks, inf := 0, 0
	for _, p := range s.Points {
		if p.N == 0 {
			blanks++
		}
	}
	for _, l := range lines {
		inf += len(l.infinite)
	}
	if blanks > 0 {
		fmt.Fprintf(&b, " %s blank.", plural(blanks, "interval has no message and stays", "intervals have no message and stay"))
	}
	if inf > 0 {
		b.WriteString(" A triangle at the upper edge: the percentile falls on a message that never came.")
	}
	if below > 0 {
		fmt.Fprintf(&b, " In %s the fastest message took 0 or less, which a logarithmic axis cannot show.", plural(below, "interval", "intervals"))
	}
	b.WriteString(marksText(s.Marks))
	if len(left) > 0 {
		b.WriteString(" Only in the table: " + list(names(left)) + ".")
	}
	return b.String()
}

// columnsIn is in how many columns the points of lines were gathered; 0 where
// each is drawn.
func columnsIn(lines []line) int {
	if len(lines) == 0 {
		return 0
	}
	return lines[0].columns
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// widthText is the interval that most points have.
func widthText(points []analysis.Point) string {
	count := map[time.Duration]int{}
	var best time.Duration
	for _, p := range points {
		w := p.End - p.Start
		count[w]++
		if count[w] > count[best] || count[w] == count[best] && w > best {
			best = w
		}
	}
	if best == 0 {
		return "an interval"
	}
	return "an interval of " + Duration(best)
}
