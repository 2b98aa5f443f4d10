package report

import (
	"strconv"
	"strings"

	"queuebench/analysis"
	"queuebench/report/markup"
)

// writer builds HTML in which foreign text stays text: see package markup.
type writer struct{ markup.Writer }

//go:noinline
func (w *writer) raw(parts ...string) *writer {
	w.Raw(parts...)
	return w
}

//go:noinline
func (w *writer) text(s string) *writer {
	w.Text(s)
	return w
}

//go:noinline
func (w *writer) open(tag string, attributes ...string) *writer {
	w.Open(tag, attributes...)
	return w
}

//go:noinline
func (w *writer) close(tag string) *writer {
	w.Close(tag)
	return w
}

//go:noinline
func (w *writer) el(tag, text string, attributes ...string) *writer {
	w.El(tag, text, attributes...)
	return w
}

func clean(s string) string { return markup.Clean(s) }

// group writes an integer in groups of three: 1,234,567.
func group(n int64) string { return analysis.FormatCount(n) }

// rateText writes messages per second: 10,000 or 0.5.
func rateText(r float64) string {
	whole, frac, _ := strings.Cut(strconv.FormatFloat(r, 'f', -1, 64), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return whole
	}
	if frac != "" {
		return group(n) + "." + frac
	}
	return group(n)
}
