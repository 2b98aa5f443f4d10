package analysis

import (
	"bufio"
	"fmt"
	"io"

	"queuebench/internal/columns"
)

// WriteMarkdown writes a summary for a pull request or an issue: what was found
// first, the latency per step, and the accounting folded away. link is the address
// of a page that shows the same view; empty for none.
func WriteMarkdown(w io.Writer, s Summary, link string) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "### Run %s\n\n", columns.Escape(s.Run))
	if !s.Complete {
		fmt.Fprintf(b, "**Incomplete:** analysed up to where its log is known to be whole.\n\n")
	}
	for _, fact := range s.Facts() {
		fmt.Fprintf(b, "- %s: %s\n", columns.Escape(fact[0]), columns.Escape(fact[1]))
	}
	fmt.Fprintln(b)
	table := func(header []string, rows [][]string) error {
		t := columns.Table{Header: header, Rows: rows}
		if s.Variants() {
			t.Left = 1
		}
		return t.WriteMarkdown(b)
	}
	if len(s.Steps) > 0 {
		if err := table(Table(s)); err != nil {
			return err
		}
		fmt.Fprintf(b, "\n%s latency, from the schedule's time; %s: too few messages behind it. Warm-up cut: %s.\n",
			columns.Escape(upperFirst(s.Steps[0].MainKind().Title())), Dash, columns.Escape(s.Steps[0].Warmup()))
	}
	writeFound(b, "", s.Findings)
	for i := range s.Steps {
		writeFound(b, s.StepName(i), s.Steps[i].Findings)
	}
	if link != "" {
		fmt.Fprintf(b, "\n[Explore this view](<%s>)\n", link)
	}
	if len(s.Steps) > 0 {
		fmt.Fprintf(b, "\n<details><summary>Where every message went</summary>\n\n")
		if err := table(AccountingTable(s)); err != nil {
			return err
		}
		fmt.Fprintf(b, "\n</details>\n")
	}
	return b.Flush()
}

// writeFound lists failures and warnings; notes are in the page.
func writeFound(w io.Writer, where string, findings []Finding) {
	for _, f := range findings {
		if f.Severity == Note {
			continue
		}
		if where != "" {
			fmt.Fprintf(w, "\n- **%s, %s:** %s", upperFirst(string(f.Severity)), columns.Escape(where), columns.Escape(f.Text))
		} else {
			fmt.Fprintf(w, "\n- **%s:** %s", upperFirst(string(f.Severity)), columns.Escape(f.Text))
		}
	}
	if len(findings) > 0 {
		fmt.Fprintln(w)
	}
}
