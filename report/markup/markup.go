// Package markup builds HTML in which foreign text stays text.
//
// Text and attribute values are escaped by the only methods that take what is
// not a literal of the program, so a run's name or a label can never become
// markup. It is plain code on purpose: the template packages of the standard
// library call methods by name, and the linker then keeps every method of every
// type in the WASM module. It knows nothing of what it writes.
package markup

import (
	"html"
	"strings"
)

// Writer gathers HTML. The zero value is ready.
type Writer struct{ b strings.Builder }

// Raw writes literals of the program, and what it or package figure built.
//
//go:noinline
func (w *Writer) Raw(parts ...string) *Writer {
	for _, p := range parts {
		w.b.WriteString(p)
	}
	return w
}

// Text writes text.
//
//go:noinline
func (w *Writer) Text(s string) *Writer {
	w.b.WriteString(html.EscapeString(Clean(s)))
	return w
}

// Open writes a start tag with attributes in pairs of name and value.
//
//go:noinline
func (w *Writer) Open(tag string, attributes ...string) *Writer {
	w.b.WriteByte('<')
	w.b.WriteString(tag)
	for i := 0; i+1 < len(attributes); i += 2 {
		w.b.WriteByte(' ')
		w.b.WriteString(attributes[i])
		w.b.WriteString(`="`)
		w.b.WriteString(html.EscapeString(Clean(attributes[i+1])))
		w.b.WriteByte('"')
	}
	w.b.WriteByte('>')
	return w
}

// Close writes an end tag.
//
//go:noinline
func (w *Writer) Close(tag string) *Writer {
	w.b.WriteString("</")
	w.b.WriteString(tag)
	w.b.WriteByte('>')
	return w
}

// El writes an element that holds text.
//
//go:noinline
func (w *Writer) El(tag, text string, attributes ...string) *Writer {
	return w.Open(tag, attributes...).Text(text).Close(tag)
}

// String is what was written so far.
//
//go:noinline
func (w *Writer) String() string { return w.b.String() }

// Clean replaces control characters, which no reader can see and HTML forbids,
// and what is not UTF-8.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
