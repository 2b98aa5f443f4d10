package figure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"queuebench/analysis"
)

// maxReferenceLines is how many lines of others a figure takes beside its own.
const maxReferenceLines = 6

// referenceLines are the percentiles of references that have rates: the median
// and the tail of those that the figure draws. hidden counts lines that are left
// out, without is how many references have no rate.
func referenceLines(refs []analysis.Reference, percentiles []float64, classes map[float64]int) (lines []rateLine, hidden, without int) {
	want := percentiles
	if len(want) > 2 {
		want = []float64{want[0], headline(percentiles)}
		if slices.Contains(percentiles, 50) {
			want[0] = 50
		}
		want = slices.Compact(want)
	}
	for i := range refs {
		r := &refs[i]
		rates := 0
		for _, p := range want {
			l := rateLine{label: PercentileName(p) + " " + r.Name, class: classes[p], reference: i + 1}
			for _, point := range r.Points {
				v, ok := point.Percentiles[Number(p)]
				if ok && point.Rate > 0 && !v.AtMost {
					l.marks = append(l.marks, rateMark{point.Rate, analysis.Percentile{Ns: v.Ns, Supported: true}})
				}
			}
			if rates += len(l.marks); len(l.marks) == 0 {
				continue
			}
			slices.SortStableFunc(l.marks, func(a, b rateMark) int { return cmp.Compare(a.rate, b.rate) })
			if len(lines) == maxReferenceLines {
				hidden++
				continue
			}
			lines = append(lines, l)
		}
		if rates == 0 {
			without++
		}
	}
	return lines, hidden, without
}

// carriedPercentiles are the usual ones that references with a rate carry, where
// a figure has no step of its own.
func carriedPercentiles(refs []analysis.Reference) []float64 {
	var out []float64
	for _, p := range append(slices.Clone(analysis.DefaultPercentiles), 90) {
		for _, r := range refs {
			if slices.ContainsFunc(r.Points, func(x analysis.ReferencePoint) bool { _, ok := x.Percentiles[Number(p)]; return ok && x.Rate > 0 }) {
				out = append(out, p)
				break
			}
		}
	}
	slices.Sort(out)
	return out
}

// style is how a line is drawn: those of others are thin and dotted.
func (l rateLine) style(p Palette) draw.LineStyle {
	st := lineStyle(p, l.class)
	if l.reference > 0 {
		st.Width = 1
		st.Dashes = [3][]vg.Length{{1, 2}, {1, 2, 1, 5}, {1, 5}}[(l.reference-1)%3]
	}
	return st
}

// shape is the mark of a line: of others by who said it.
func (l rateLine) shape() int {
	if l.reference > 0 {
		return [4]int{2, 1, 5, 6}[(l.reference-1)%4]
	}
	return markOf(l.class)
}

// referenceCaption says what the lines of others are.
func referenceCaption(refs []analysis.Reference, lines []rateLine, hidden, without int) string {
	var b strings.Builder
	var names []string
	for i := range refs {
		if slices.ContainsFunc(lines, func(l rateLine) bool { return l.reference == i+1 }) {
			names = append(names, fmt.Sprintf("%s (%s)", refs[i].Name, refs[i].Source))
		}
	}
	if len(names) > 0 {
		b.WriteString(" Dotted, with hollow marks: imported references, as they were published and by definitions of their own: " + list(names) + ".")
	}
	if hidden > 0 {
		b.WriteString(" " + plural(hidden, "more line of them is", "more lines of them are") + " in the table only.")
	}
	if without > 0 {
		b.WriteString(" " + plural(without, "reference has", "references have") + " no rate with such a percentile, and stand in the table only.")
	}
	return b.String()
}
