package report

import (
	"html"
	"strconv"
	"strings"

	"queuebench/analysis"
)

// writer builds HTML. Text and attribute values are escaped by the only two
// methods that take what is not a literal of this package, so a run's name or a
// label can never become markup. It is plain code on purpose: the template
// packages of the standard library call methods by name, and the linker then
// keeps every method of every type in the WASM module.
type writer struct{ b strings.Builder }

// raw writes literals of this package, and what it or package figure built.
func (w *writer) raw(parts ...string) *writer {
	for _, p := range parts {
		w.b.WriteString(p)
	}
	return w
}

// text writes text.
func (w *writer) text(s string) *writer {
	w.b.WriteString(html.EscapeString(clean(s)))
	return w
}

// open writes a start tag with attributes in pairs of name and value.
func (w *writer) open(tag string, attributes ...string) *writer {
	w.b.WriteByte('<')
	w.b.WriteString(tag)
	for i := 0; i+1 < len(attributes); i += 2 {
		w.b.WriteByte(' ')
		w.b.WriteString(attributes[i])
		w.b.WriteString(`="`)
		w.b.WriteString(html.EscapeString(clean(attributes[i+1])))
		w.b.WriteByte('"')
	}
	w.b.WriteByte('>')
	return w
}

// close writes an end tag.
func (w *writer) close(tag string) *writer {
	w.b.WriteString("</")
	w.b.WriteString(tag)
	w.b.WriteByte('>')
	return w
}

// el writes an element that holds text.
func (w *writer) el(tag, text string, attributes ...string) *writer {
	return w.open(tag, attributes...).text(text).close(tag)
}

func (w *writer) String() string { return w.b.String() }

// clean replaces control characters, which no reader can see and HTML forbids,
// and what is not UTF-8.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

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
