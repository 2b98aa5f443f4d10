package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
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
	f.Caption = perRateCaption(sum, kind, lines, left, below)
	if len(sum.Steps) > 0 {
		f.Caption += windowText(sum.Steps[0].Window)
	}
	if hidden > 0 {
		f.Caption += " " + plural(hidden, "more setting is", "more settings are") + " in the table only."
	}
	f.Caption += referenceCaption(sum.References, theirs, hiddenOfThem, without)
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
	for _, l := range lines {
		for _, m := range l.marks {
			if log && m.value.Ns <= 0 {
				below++
				continue
			}
			lo, hi = min(lo, float64(m.value.Ns)), max(hi, float64(m.value.Ns))
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

func drawPerRate(c draw.Canvas, pal Palette, fc face, kind analysis.Kind, axis string, rates []float64, lines []rateLine, y latencyAxis) {
	var names []string
	for _, l := range lines {
		names = append(names, l.label)
	}
	room := roomFor(fc, names, c.Size().X)
	pos, lo, hi, ticks := rateAxis(rates, c.Size().X-room-86, fc)
	fr := newFrame(pal, fc, kindName(kind), axis, y)
	fr.endRoom = room
	fr.X.Min, fr.X.Max = lo, hi
	fr.X.Tick.Marker = ticker(ticks)
	joined := make([][]rateMark, len(lines))
	for i, l := range lines {
		joined[i] = middles(l.marks)
	}
	body := func(data draw.Canvas) {
		at := func(m rateMark) (vg.Point, bool) {
			p := vg.Point{X: data.X(fr.X.Norm(pos(m.rate)))}
			v, ok := y.pos(float64(m.value.Ns))
			if ok {
				p.Y = data.Y(fr.Y.Norm(v))
			}
			if m.value.Beyond {
				p.Y = data.Max.Y
			}
			return p, ok || m.value.Beyond
		}
		shown := false
		for i := len(lines) - 1; i >= 0; i-- {
			l := lines[i]
			style := l.style(pal)
			var stroke []vg.Point
			for _, m := range joined[i] {
				p, ok := at(m)
				if !ok || m.value.Beyond || !m.value.Supported {
					data.StrokeLines(style, stroke)
					stroke = nil
					continue
				}
				stroke = append(stroke, p)
			}
			data.StrokeLines(style, stroke)
			for _, m := range l.marks {
				p, ok := at(m)
				if !ok {
					continue
				}
				shown = true
				switch {
				case m.value.Beyond:
					p.X += aside(lines, i, m.rate)
					fillMark(data, upMark, p, 4.5, style.Color)
				case m.value.Supported && l.reference == 0:
					fillMark(data, l.shape(), p, 3.4, style.Color)
				default:
					hollowMark(data, l.shape(), p, 3.4, style.Color)
				}
			}
		}
		if !shown {
			data.FillText(fc.style(13, pal.Muted, draw.XCenter, draw.YCenter), data.Center(), "no message was measured")
		}
	}
	fr.draw(c, body, func(data draw.Canvas) []end {
		var ends []end
		for i, l := range lines {
			if len(l.marks) == 0 {
				continue
			}
			last := l.marks[len(l.marks)-1]
			if k := len(joined[i]); k > 0 {
				last = joined[i][k-1]
			}
			e := end{label: l.label, at: data.Min.Y, style: l.style(pal), mark: l.shape()}
			if v, ok := y.pos(float64(last.value.Ns)); ok {
				e.at = data.Y(fr.Y.Norm(v))
			}
			if last.value.Beyond {
				e.at = data.Max.Y
			}
			ends = append(ends, e)
		}
		return ends
	})
}

// aside is how far the triangle of line i moves at a rate: all of them lie on
// the same edge, so those of one rate stand side by side.
func aside(lines []rateLine, i int, rate float64) vg.Length {
	n, at := 0, 0
	for j, l := range lines {
		if slices.ContainsFunc(l.marks, func(m rateMark) bool { return m.rate == rate && m.value.Beyond }) {
			if j == i {
				at = n
			}
			n++
		}
	}
	return vg.Length(2*at-n+1) * 5
}

// markOf is the shape of a class; the triangle that points up is kept for what
// lies beyond the figure.
func markOf(class int) int {
	return [7]int{0, 1, 2, 4, 5, 6, 0}[class]
}

// middles is the middle repeat of each rate, the lower of two.
func middles(marks []rateMark) []rateMark {
	var out []rateMark
	for i := 0; i < len(marks); {
		j := i
		for j < len(marks) && marks[j].rate == marks[i].rate {
			j++
		}
		same := slices.Clone(marks[i:j])
		slices.SortStableFunc(same, func(a, b rateMark) int {
			if a.value.Beyond != b.value.Beyond {
				if b.value.Beyond {
					return -1
				}
				return 1
			}
			return cmp.Compare(a.value.Ns, b.value.Ns)
		})
		out = append(out, same[(len(same)-1)/2])
		i = j
	}
	return out
}

func perRateCaption(sum analysis.Summary, kind analysis.Kind, lines []rateLine, left []float64, below int) string {
	var b strings.Builder
	at := "the rate that its schedule asked for"
	if len(sum.Steps) > 0 && sum.Steps[0].Loop != nil {
		at = "the operations per second that the closed loop reached"
	}
	if len(sum.Steps) == 0 && len(sum.References) > 0 {
		return "Nothing was measured here."
	}
	fmt.Fprintf(&b, "Each mark is a percentile of the %s (%s) of all messages of one step after its warm-up, at %s.", kindName(kind), KindPath(kind), at)
	b.WriteString(marksCaption(lines, below))
	empty := []string{}
	for _, s := range sum.Steps {
		if s.Latencies[kind.String()].N == 0 {
			empty = append(empty, rateText(s.Rate))
		}
	}
	if len(empty) > 0 {
		fmt.Fprintf(&b, " Nothing was measured at %s msg/s.", list(slices.Compact(empty)))
	}
	if len(left) > 0 {
		b.WriteString(" Only in the table: " + list(names(left)) + ".")
	}
	if sum.Queue.Durability != "" { // no number without it
		fmt.Fprintf(&b, " Queue: %s. %s", printable(sum.Queue.Kind), printable(sum.Queue.Durability))
	}
	return b.String()
}

// marksCaption says what repeats, hollow marks and triangles are, where there are
// any.
func marksCaption(lines []rateLine, below int) string {
	var b strings.Builder
	repeats, hollow, beyond := false, false, false
	for _, l := range lines {
		if l.reference > 0 {
			continue
		}
		for i, m := range l.marks {
			repeats = repeats || i > 0 && l.marks[i-1].rate == m.rate
			hollow = hollow || !m.value.Supported && !m.value.Beyond
			beyond = beyond || m.value.Beyond
		}
	}
	if repeats {
		b.WriteString(" Each repeat has its own mark; the line joins the middle one of each rate.")
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
