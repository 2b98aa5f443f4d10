package compare

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"queuebench/analysis"
	"queuebench/internal/columns"
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

// side is a value with the spread of its runs: "64.2 ms ± 2.1 %".
func sideText(ns, spread Number) string {
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
				name, "p" + r.Percentile, sideText(r.BaseNs, r.SpreadBase), sideText(r.NewNs, r.SpreadNew),
				r.Delta(), r.Interval(), pText(float64(r.AdjustedP)), r.By(), r.Smallest(), marks[mark{i, k}],
			})
			name = ""
		}
		rate := []string{"", "received/s", analysis.FormatRate(c.Base.ReceivedPerS), analysis.FormatRate(c.New.ReceivedPerS)}
		t.Rows = append(t.Rows, append(rate, "", "", "", "", "", marks[mark{i, -1}]))
	}
	return t
}

// mark is a place in a pair's table: the row of a cell, −1 for the cell itself.
type mark struct{ cell, row int }

// remarks are the footnotes of a pair: first those of rows and loads, then the
// differences that hold for all.
func (p *Pair) remarks() (texts []string, at map[mark][]int) {
	at = map[mark][]int{}
	add := func(m mark, text string) {
		i := slices.Index(texts, text)
		if i < 0 {
			i = len(texts)
			texts = append(texts, text)
		}
		at[m] = append(at[m], i+1)
	}
	for i := range p.Cells {
		c := &p.Cells[i]
		for k := range c.Rows {
			if why := c.Rows[k].Why; why != "" {
				add(mark{i, k}, why)
			}
		}
		for _, n := range c.Notes {
			add(mark{i, -1}, n)
		}
		if text := p.counts(c, "lost", func(r *Replicate) int64 { return r.Lost }); text != "" {
			add(mark{i, -1}, text)
		}
		if text := p.counts(c, "delivered again", func(r *Replicate) int64 { return r.Duplicates }); text != "" {
			add(mark{i, -1}, text)
		}
	}
	for i := range p.Differences {
		d := &p.Differences[i]
		if len(d.Loads) == 0 {
			texts = append(texts, d.Text())
			continue
		}
		for k := range p.Cells {
			if slices.Contains(d.Loads, p.Cells[k].Name) {
				add(mark{k, -1}, d.Text())
			}
		}
	}
	return texts, at
}

// counts tells a count of messages on both sides, where there are any.
func (p *Pair) counts(c *Cell, what string, of func(*Replicate) int64) string {
	sum := func(g *Group) (n int64) {
		for i := range g.Replicates {
			n += of(&g.Replicates[i])
		}
		return n
	}
	a, b := sum(&c.Base), sum(&c.New)
	if a == 0 && b == 0 {
		return ""
	}
	return fmt.Sprintf("messages %s at %s: %s in %s, %s in %s", what, c.Name, analysis.FormatCount(a), p.Base, analysis.FormatCount(b), p.New)
}

func (p *Pair) marks() map[mark]string {
	_, at := p.remarks()
	out := map[mark]string{}
	for m, numbers := range at {
		var texts []string
		for _, n := range numbers {
			texts = append(texts, strconv.Itoa(n))
		}
		out[m] = "[" + strings.Join(texts, ",") + "]"
	}
	return out
}

// legend says how to read the tables, with the numbers of this comparison.
func (r *Result) legend() []string {
	if len(r.rows()) == 0 {
		return nil
	}
	out := []string{fmt.Sprintf("~ nothing is shown: all %d tests together call something changed by chance in at most %g %% of comparisons (Holm; p is adjusted). interval is of the change, %s each for itself.",
		r.Family, r.Level*100, levelText(r.Level))}
	rank, within, cannot := false, false, false
	smallest := map[string]float64{}
	for _, row := range r.rows() {
		switch row.Method {
		case RankTest:
			rank = true
			p := float64(row.SmallestP)
			smallest[row.By()] = p
			cannot = cannot || p*float64(r.Family) > r.Level*(1+1e-9)
		case Within:
			within = true
		}
	}
	if rank {
		var parts []string
		for by, p := range smallest {
			parts = append(parts, fmt.Sprintf("%s reach p = %s at best, %s after Holm's correction", by, pText(p), pText(min(1, p*float64(r.Family)))))
		}
		slices.Sort(parts)
		out = append(out, "Rank test of runs (Mann-Whitney): "+strings.Join(parts, "; ")+". A side's value is its median run's, ± the standard deviation between its runs.")
	}
	if cannot {
		n := r.RunsNeeded()
		out = append(out, fmt.Sprintf("So few runs cannot show a change that all these tests would stand: record %d+%d runs, or name fewer percentiles and rates.", n, n))
	}
	if within {
		out = append(out, "within run: one run on either side, so the interval has each run's own variation over time (block bootstrap) and says nothing of what another run would give. A difference is one between these two recordings; record several of each to speak of the settings.")
	}
	return append(out, fmt.Sprintf("could find: the smallest rise that would have been called so in %g of 100 comparisons like this one.", Power*100))
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
