package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"queuebench/analysis"
)

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
	if r.Family == 0 {
		out = []string{"Nothing could be tested: the footnote of each row says why."}
	}
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
	if r.Family == 0 {
		return out
	}
	return append(out, fmt.Sprintf("could find: the smallest rise that would have been called so in %g of 100 comparisons like this one.", Power*100))
}
