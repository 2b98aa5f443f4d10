package figure

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"

	"queuebench/analysis"
)

// percentilesOf are the percentiles that a summary has for a latency, ascending.
func percentilesOf(sum analysis.Summary, kind analysis.Kind) []float64 {
	set := map[float64]bool{}
	for _, s := range sum.Steps {
		for name := range s.Latencies[kind.String()].Percentiles {
			if p, err := strconv.ParseFloat(name, 64); err == nil {
				set[p] = true
			}
		}
	}
	out := make([]float64, 0, len(set))
	for p := range set {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

func ratesOf(sum analysis.Summary) []float64 {
	var out []float64
	for _, s := range sum.Steps {
		out = append(out, s.Rate)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func rateRange(lines []rateLine, log bool) (latencyAxis, int) {
	lo, hi := math.Inf(1), math.Inf(-1)
	below := 0
	finite := slices.ContainsFunc(lines, func(l rateLine) bool {
		return slices.ContainsFunc(l.marks, func(m rateMark) bool { return !m.value.Beyond })
	})
	for _, l := range lines {
		for _, m := range l.marks {
			if m.value.Beyond && finite {
				continue // at the upper edge, wherever that is: a deadline would press all else flat
			}
			if log && m.value.Ns <= 0 {
				below++
				continue
			}
			lo, hi = min(lo, float64(m.value.Ns)), max(hi, float64(m.value.Ns), float64(m.value.HighNs))
			if m.value.LowNs > 0 {
				lo = min(lo, float64(m.value.LowNs))
			}
		}
	}
	switch {
	case log && math.IsInf(hi, 0):
		return logLatency(1e6, 1e9), below
	case log:
		return logLatency(lo, hi), below
	case math.IsInf(hi, 0):
		return linearLatency(0, 1e6), 0
	}
	return linearLatency(lo, hi), 0
}

// rateAxis places the rates: evenly by value, or by their logarithm where the
// highest is more than ten times the lowest.
func rateAxis(rates []float64, width vg.Length, fc face) (pos func(float64) float64, lo, hi float64, ticks []tick) {
	pos = func(r float64) float64 { return r }
	if len(rates) == 0 {
		return pos, 0, 1, nil
	}
	first, last := rates[0], rates[len(rates)-1]
	if first > 0 && last > 10*first {
		pos = math.Log10
	}
	lo, hi = pos(first), pos(last)
	span := hi - lo
	if span == 0 {
		span = max(math.Abs(hi), 1)
	}
	lo, hi = lo-0.06*span, hi+0.06*span
	edge := vg.Length(math.Inf(-1))
	for _, r := range rates {
		label := rateText(r)
		half := fc.width(labelSize, label) / 2
		x := vg.Length((pos(r)-lo)/(hi-lo)) * width
		t := tick{value: pos(r), label: label}
		// A label that would touch the one before stays away, its mark does not.
		if x-half < edge+10 {
			t.label = ""
		} else {
			edge = x + half
		}
		ticks = append(ticks, t)
	}
	return pos, lo, hi, ticks
}

// rateAxisName is what lies along the axis: a closed loop has the rate that it
// reached.
func rateAxisName(sum analysis.Summary) string {
	if len(sum.Steps) > 0 && sum.Steps[0].Loop != nil {
		return "operations per second, closed loop"
	}
	return "messages per second"
}
