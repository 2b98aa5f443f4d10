package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"queuebench/analysis"
)

// ChangeText is a ratio as a change: "+10.2 %", "−3.1 %", "×12.3", "∞".
func ChangeText(ratio float64) string {
	change := (ratio - 1) * 100
	switch {
	case math.IsNaN(ratio):
		return analysis.Dash
	case math.IsInf(ratio, 1):
		return "∞"
	case ratio >= 9.995:
		return "×" + digits(ratio)
	case change < 0:
		if text := digits(-change); strings.Trim(text, "0.") != "" {
			return "−" + text + " %"
		}
		return "+0.0 %"
	}
	return "+" + digits(change) + " %"
}

// digits has one decimal, and none where there are three digits before it.
func digits(v float64) string {
	if v < 99.95 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// pText is a probability with two digits.
func pText(p float64) string {
	switch {
	case math.IsNaN(p):
		return analysis.Dash
	case p < 0.0001:
		return "< 0.0001"
	case p < 0.001:
		return strconv.FormatFloat(p, 'f', 5, 64)
	case p < 0.0995:
		return strconv.FormatFloat(p, 'f', 3, 64)
	}
	return strconv.FormatFloat(p, 'f', 2, 64)
}

func levelText(alpha float64) string {
	return strconv.FormatFloat(math.Round((1-alpha)*1e4)/100, 'f', -1, 64) + " %"
}

func nsText(ns float64) string {
	switch {
	case math.IsNaN(ns):
		return analysis.Dash
	case math.IsInf(ns, 1):
		return "> deadline"
	}
	return analysis.FormatLatency(int64(ns))
}

// sideText is a value with the spread of its runs: "64.2 ms ± 2.1 %"; a dash
// where too few messages of one of them support it.
func sideText(runs []analysis.Percentile, ns, spread Number) string {
	if slices.ContainsFunc(runs, func(p analysis.Percentile) bool { return p.Text() == analysis.Dash }) {
		return analysis.Dash
	}
	text := nsText(float64(ns))
	if !math.IsNaN(float64(spread)) {
		text += " ± " + digits(float64(spread)*100) + " %"
	}
	return text
}

// Delta is the change where one is shown, and else "~", or a dash where nothing
// was compared.
func (r *Row) Delta() string {
	switch r.Verdict {
	case Changed, WithinOnly:
		return ChangeText(float64(r.Ratio))
	}
	return string(r.Verdict)
}

// Interval is the interval of the change as text.
func (r *Row) Interval() string {
	low, high := float64(r.Low), float64(r.High)
	if math.IsNaN(low) || low == 0 && math.IsInf(high, 1) {
		return analysis.Dash
	}
	from := "−100 %"
	if low > 0 {
		from = ChangeText(low)
	}
	return from + " … " + ChangeText(high)
}

// By is how it was compared.
func (r *Row) By() string {
	if r.Method == "" {
		return analysis.Dash
	}
	if r.Method == Within {
		return string(Within)
	}
	return fmt.Sprintf("%d+%d runs", len(r.Base), len(r.New))
}

// Smallest is the smallest change that would have been found.
func (r *Row) Smallest() string {
	switch d := float64(r.Detectable); {
	case math.IsNaN(d):
		return analysis.Dash
	case math.IsInf(d, 1):
		return "none"
	default:
		return ChangeText(d)
	}
}
