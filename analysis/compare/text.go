package compare

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"queuebench/analysis"
	"queuebench/internal/columns"
)

// Table is a pair's table: a row per load and percentile, the notes of each by
// their number.
func (p *Pair) Table() columns.Table {
	t := columns.Table{Left: 2, Header: []string{"load", "latency", p.Base, p.New, "delta", "interval", "p", "by", "could find", ""}}
	marks := p.marks()
	for i := range p.Cells {
		c := &p.Cells[i]
		name := c.Name
		for k := range c.Rows {
			r := &c.Rows[k]
			t.Rows = append(t.Rows, []string{
				name, "p" + r.Percentile, sideText(r.Base, r.BaseNs, r.SpreadBase), sideText(r.New, r.NewNs, r.SpreadNew),
				r.Delta(), r.Interval(), pText(float64(r.AdjustedP)), r.By(), r.Smallest(), marks[mark{i, k}],
			})
			name = ""
		}
		rate := []string{"", c.Throughput, analysis.FormatRate(c.Base.ReceivedPerS), analysis.FormatRate(c.New.ReceivedPerS)}
		t.Rows = append(t.Rows, append(rate, "", "", "", "", "", marks[mark{i, -1}]))
	}
	return t
}

// head names the sides and what is compared.
func (r *Result) head() []string {
	var out []string
	for _, s := range r.Sides {
		var ids []string
		for _, x := range s.Runs {
			if !slices.Contains(ids, x.Run) {
				ids = append(ids, x.Run)
			}
		}
		out = append(out, fmt.Sprintf("%s: %s", s.Label, strings.Join(ids, ", ")))
	}
	return out
}

func (r *Result) latencyTitle() string {
	k, err := analysis.ParseKind(r.Latency)
	if err != nil {
		return r.Latency
	}
	return k.Title()
}

// WriteText writes a comparison for a terminal.
func WriteText(w io.Writer, r *Result) error {
	b := bufio.NewWriter(w)
	line := func(format string, a ...any) { fmt.Fprintln(b, columns.Clean(fmt.Sprintf(format, a...))) }
	for _, text := range r.head() {
		line("%s", text)
	}
	for _, text := range r.Warnings {
		line("warning  %s", text)
	}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		fmt.Fprintln(b)
		line("%s latency, %s against %s", r.latencyTitle(), p.New, p.Base)
		t := p.Table()
		if err := t.Write(b); err != nil {
			return err
		}
		texts, _ := p.remarks()
		for k, text := range texts {
			line("  [%d] %s", k+1, text)
		}
		p.unmatched(func(text string) { line("  %s", text) })
	}
	for i := range r.Scaling {
		fmt.Fprintln(b)
		t := r.Scaling[i].Table()
		line("%s", r.Scaling[i].Title())
		if err := t.Write(b); err != nil {
			return err
		}
	}
	for i, text := range r.legend() {
		if i == 0 {
			fmt.Fprintln(b)
		}
		line("%s", text)
	}
	return b.Flush()
}

func (p *Pair) unmatched(line func(string)) {
	if len(p.OnlyBase) > 0 {
		line(fmt.Sprintf("only %s has: %s", p.Base, strings.Join(p.OnlyBase, "; ")))
	}
	if len(p.OnlyNew) > 0 {
		line(fmt.Sprintf("only %s has: %s", p.New, strings.Join(p.OnlyNew, "; ")))
	}
}

// WriteMarkdown writes a comparison for a pull request or an issue.
func WriteMarkdown(w io.Writer, r *Result) error {
	b := bufio.NewWriter(w)
	for _, text := range r.head() {
		fmt.Fprintf(b, "- %s\n", columns.Escape(text))
	}
	for _, text := range r.Warnings {
		fmt.Fprintf(b, "- **Warning:** %s\n", columns.Escape(text))
	}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		fmt.Fprintf(b, "\n### %s latency, %s against %s\n\n", columns.Escape(upperFirst(r.latencyTitle())), columns.Escape(p.New), columns.Escape(p.Base))
		t := p.Table()
		if err := t.WriteMarkdown(b); err != nil {
			return err
		}
		texts, _ := p.remarks()
		if len(texts) > 0 {
			fmt.Fprintln(b)
		}
		for k, text := range texts {
			fmt.Fprintf(b, "- \\[%d\\] %s\n", k+1, columns.Escape(text))
		}
		p.unmatched(func(text string) { fmt.Fprintf(b, "\n%s\n", columns.Escape(text)) })
	}
	for i := range r.Scaling {
		t := r.Scaling[i].Table()
		fmt.Fprintf(b, "\n### %s\n\n", columns.Escape(r.Scaling[i].Title()))
		if err := t.WriteMarkdown(b); err != nil {
			return err
		}
	}
	if legend := r.legend(); len(legend) > 0 {
		fmt.Fprintf(b, "\n<details><summary>How to read this</summary>\n\n")
		for _, text := range legend {
			fmt.Fprintf(b, "%s\n\n", columns.Escape(text))
		}
		fmt.Fprintln(b, "</details>")
	}
	return b.Flush()
}

// upperFirst begins a title.
func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
