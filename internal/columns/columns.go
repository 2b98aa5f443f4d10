// Package columns writes tables of text: aligned for a terminal, or as Markdown.
//
// It knows nothing of what is in them, and lets no cell leave its place: what is
// no printable character is left out.
package columns

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Table is a header and rows of as many cells. The first Left columns stand to
// the left, the others to the right.
type Table struct {
	Header []string
	Rows   [][]string
	Left   int
}

// Clean is text that stays in its line: without control characters and what is
// no UTF-8, and with a space for each line break or tab.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, ""))
}

// Write aligns the columns, with two spaces before each.
func (t *Table) Write(w io.Writer) error {
	width := make([]int, len(t.Header))
	all := append([][]string{t.Header}, t.Rows...)
	for _, row := range all {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(Clean(cell)))
		}
	}
	for _, row := range all {
		var line strings.Builder
		for i, cell := range row {
			cell = Clean(cell)
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			line.WriteString("  ")
			if i < t.Left {
				line.WriteString(cell + pad)
			} else {
				line.WriteString(pad + cell)
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// Escape is text that Markdown shows as it is, in a table too.
func Escape(text string) string {
	var b strings.Builder
	for _, r := range Clean(text) {
		switch r {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '\\', '`', '*', '_', '[', ']', '|', '~', '#', '!', '@':
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// WriteMarkdown writes a table of GitHub's Markdown.
func (t *Table) WriteMarkdown(w io.Writer) error {
	rule := make([]string, len(t.Header))
	for i := range rule {
		rule[i] = "--:"
		if i < t.Left {
			rule[i] = ":--"
		}
	}
	lines := [][]string{escaped(t.Header), rule}
	for _, row := range t.Rows {
		lines = append(lines, escaped(row))
	}
	for _, l := range lines {
		if _, err := fmt.Fprintf(w, "| %s |\n", strings.Join(l, " | ")); err != nil {
			return err
		}
	}
	return nil
}

func escaped(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = Escape(c)
	}
	return out
}
