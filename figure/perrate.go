package figure

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg/draw"

	"queuebench/analysis"
)

// rateMark is a percentile of one repeat at one rate.
type rateMark struct {
	rate  float64
	value analysis.Percentile
}

// rateLine is a percentile over the rates.
type rateLine struct {
	label string
	class int
	marks []rateMark // ascending by rate
	// reference is the number of the reference that the line is of, from 1; 0 of
	// what was measured.
	reference int
}

// LatencyPerRate draws each percentile of a latency against the rate. Each
// repeat is a mark; the line joins the middle repeat of each rate (the lower of
// two). Values that too few messages support are hollow and not joined.
func LatencyPerRate(sum analysis.Summary, kind analysis.Kind, st Style) Figure {
	all := percentilesOf(sum, kind)
	if st.Percentiles != nil {
		all = st.Percentiles
	}
	others := len(sum.Steps) == 0 && len(sum.References) > 0
	if others {
		kind = analysis.Imported
		all = carriedPercentiles(sum.References)
	}
	chosen, left := drawn(all, 6, analysis.DefaultPercentiles)
	classes := classOf(all)
	var lines []rateLine
	variants, hidden := variantsOf(sum)
	compared := all
	if len(variants) > 1 { // a line for each, of one percentile
		p := headline(all)
		compared = []float64{p}
		left = slices.DeleteFunc(slices.Clone(all), func(q float64) bool { return q == p })
		for i, v := range variants {
			lines = append(lines, rateLineOf(sum, kind, p, v, PercentileName(p)+", "+v, i))
		}
	} else {
		for _, i := range chosen {
			lines = append(lines, rateLineOf(sum, kind, all[i], variants[0], PercentileName(all[i]), classes[all[i]]))
		}
	}
	if others {
		lines, left = nil, nil
	} else if len(variants) == 1 {
		compared = nil
		for _, i := range chosen {
			compared = append(compared, all[i])
		}
	}
	theirs, hiddenOfThem, without := referenceLines(sum.References, compared, classes)
	lines = append(lines, theirs...)
	f := Figure{
		Name:  "latency-per-rate",
		Title: upperFirst(kindName(kind)) + " per rate",
		style: st,
	}
	for _, l := range lines {
		f.Legend = append(f.Legend, LegendEntry{l.label, l.class})
	}
	y, below := rateRange(lines, st.LogScale)
	if st.axis != nil {
		y = *st.axis
	}
	f.Caption = perRateCaption(sum, kind, lines, left, below)
	if len(sum.Steps) > 0 {
		f.Caption += windowText(sum.Steps[0].Window, analysis.Load{Closed: sum.Steps[0].Loop != nil})
	}
	if hidden > 0 {
		f.Caption += " " + plural(hidden, "more setting is", "more settings are") + " in the table only."
	}
	f.Caption += referenceCaption(sum.References, theirs, hiddenOfThem, without)
	f.Data = perRateData(sum, kind, all)
	rates := ratesOf(sum)
	for _, l := range theirs {
		for _, m := range l.marks {
			rates = append(rates, m.rate)
		}
	}
	slices.Sort(rates)
	rates = slices.Compact(rates)
	f.draw = func(c draw.Canvas, pal Palette, fc face) {
		drawPerRate(c, pal, fc, kind, rateAxisName(sum), rates, lines, y)
	}
	return f
}

func perRateCaption(sum analysis.Summary, kind analysis.Kind, lines []rateLine, left []float64, below int) string {
	var b strings.Builder
	at, load := "the rate that its schedule asked for", analysis.Load{}
	if len(sum.Steps) > 0 && sum.Steps[0].Loop != nil {
		at, load.Closed = "the operations per second that the closed loop reached", true
	} else if len(sum.Steps) > 0 && sum.Steps[0].Drain != nil {
		at = "the rate that went on beside the backlog"
	}
	if len(sum.Steps) == 0 && len(sum.References) > 0 {
		return "Nothing was measured here."
	}
	fmt.Fprintf(&b, "Each mark is a percentile of the %s (%s) of all messages of one step after its warm-up, at %s.", kindName(kind), pathOf(kind, load), at)
	b.WriteString(marksCaption(lines, below))
	empty := []string{}
	for _, s := range sum.Steps {
		if text := rateText(s.Rate); s.Latencies[kind.String()].N == 0 && !slices.Contains(empty, text) {
			empty = append(empty, text)
		}
	}
	if len(empty) > 0 {
		fmt.Fprintf(&b, " Nothing was measured at %s msg/s.", list(empty))
	}
	if len(left) > 0 {
		b.WriteString(" Only in the table: " + list(names(left)) + ".")
	}
	if sum.Queue.Durability != "" { // no number without it
		fmt.Fprintf(&b, " Queue: %s. %s", printable(sum.Queue.Kind), printable(sum.DurabilityText()))
	}
	return b.String()
}

// marksCaption says what repeats, hollow marks and triangles are, where there are
// any.
func marksCaption(lines []rateLine, below int) string {
	var b strings.Builder
	repeats, hollow, beyond, interval := false, false, false, false
	for _, l := range lines {
		if l.reference > 0 {
			continue
		}
		for i, m := range l.marks {
			repeats = repeats || i > 0 && l.marks[i-1].rate == m.rate
			hollow = hollow || !m.value.Supported && !m.value.Beyond
			beyond = beyond || m.value.Beyond
			interval = interval || m.value.HighNs > 0
		}
	}
	if repeats {
		b.WriteString(" Each repeat has its own mark; the line joins the middle one of each rate.")
	}
	if interval {
		b.WriteString(" A whisker is the 95 % interval of what another stretch of the same run would give, not another run.")
	}
	if hollow {
		b.WriteString(" Hollow: too few messages or blocks support the value; the table shows a dash.")
	}
	if beyond {
		b.WriteString(" A triangle at the upper edge: the percentile falls on messages that never came.")
	}
	if below > 0 {
		fmt.Fprintf(&b, " %s 0 or less, which a logarithmic axis cannot show.", plural(below, "value is", "values are"))
	}
	return b.String()
}
