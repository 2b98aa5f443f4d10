package figure

import (
	"cmp"
	"slices"

	"queuebench/analysis"
)

// maxVariants is the number of lines that can be told apart.
const maxVariants = 6

// variantsOf are the variants that are drawn, in their order, and how many are
// not; one that is empty where steps differ by their rate alone.
func variantsOf(sum analysis.Summary) (shown []string, hidden int) {
	shown = []string{}
	for _, s := range sum.Steps {
		if !slices.Contains(shown, s.Variant) {
			shown = append(shown, s.Variant)
		}
	}
	if len(shown) == 0 {
		shown = append(shown, "")
	}
	n := min(len(shown), maxVariants)
	return shown[:n], len(shown) - n
}

// headline is the percentile that stands for a step: p99, or the highest there
// is.
func headline(all []float64) float64 {
	switch {
	case len(all) == 0:
		return 99
	case slices.Contains(all, 99):
		return 99
	}
	return all[len(all)-1]
}

// rateLineOf gathers a percentile of one variant's steps.
func rateLineOf(sum analysis.Summary, kind analysis.Kind, p float64, variant, label string, class int) rateLine {
	l := rateLine{label: label, class: class}
	for _, step := range sum.Steps {
		lat := step.Latencies[kind.String()]
		if v, ok := lat.Percentiles[PercentileName(p)[1:]]; ok && lat.N > 0 && step.Variant == variant {
			l.marks = append(l.marks, rateMark{step.Rate, v})
		}
	}
	slices.SortStableFunc(l.marks, func(a, b rateMark) int { return cmp.Compare(a.rate, b.rate) })
	return l
}
