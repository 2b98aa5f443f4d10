package figure

import (
	"math"
	"strconv"
	"strings"
)

// tick is a mark of an axis; without a label it is a minor one.
type tick struct {
	value float64
	label string
}

// unit is a duration's unit.
type unit struct {
	ns   float64
	name string
}

var units = []unit{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}}

// unitOf is the largest unit that is not above ns.
func unitOf(ns float64) unit {
	for _, u := range units {
		if ns >= u.ns {
			return u
		}
	}
	return units[len(units)-1]
}

// number writes v with as few digits as tell it apart at the given step.
func number(v, step float64) string {
	decimals := 0
	if step > 0 && step < 1 {
		decimals = int(math.Ceil(-math.Log10(step) - 1e-9))
	}
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if s == "-0" {
		s = "0"
	}
	return strings.Replace(s, "-", "−", 1)
}

// step125 is the smallest of 1, 2, 5 times a power of ten that is at least v.
func step125(v float64) float64 {
	if v <= 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return 1
	}
	e := math.Floor(math.Log10(v))
	for _, m := range []float64{1, 2, 5, 10} {
		if s := m * math.Pow(10, e); s >= v*(1-1e-9) {
			return s
		}
	}
	return math.Pow(10, e+1)
}

// latencyAxis is the range and the marks of an axis of latencies in ns. On a
// logarithmic one, positions are log10(ns) and value is where they lie.
type latencyAxis struct {
	min, max float64 // in axis coordinates
	ticks    []tick
	log      bool
}

// pos is where a latency lies; false where the axis cannot show it.
func (a latencyAxis) pos(ns float64) (float64, bool) {
	if !a.log {
		return ns, true
	}
	if ns <= 0 {
		return 0, false
	}
	return math.Log10(ns), true
}

// linearLatency is an axis from 0, or below it where there are negative
// latencies, to the first mark at or above hi.
func linearLatency(lo, hi float64) latencyAxis {
	lo = min(lo, 0)
	if hi <= lo {
		hi = lo + 1e6
	}
	step := step125((hi - lo) / 5)
	a := latencyAxis{min: math.Floor(lo/step) * step, max: math.Ceil(hi/step-1e-9) * step}
	u := unitOf(max(math.Abs(a.max), math.Abs(a.min)))
	for i := range int(math.Round((a.max-a.min)/step)) + 1 {
		v := a.min + float64(i)*step
		if math.Abs(v) < step/2 {
			v = 0
		}
		label := "0"
		if v != 0 {
			label = number(v/u.ns, step/u.ns) + " " + u.name
		}
		a.ticks = append(a.ticks, tick{v, label})
	}
	return a
}

// logLatency is an axis over positive latencies, from the mark of 1, 2, 5 at or
// below lo to the one at or above hi, and at least a factor of four wide.
func logLatency(lo, hi float64) latencyAxis {
	if !(lo > 0) {
		lo = 1
	}
	hi = max(hi, lo)
	bottom, top := floor125(lo), step125(hi)
	for top/bottom < 4-1e-9 {
		top = step125(top * 1.5)
		if bottom > 1 && top/bottom < 4-1e-9 {
			bottom = floor125(bottom / 1.5)
		}
	}
	a := latencyAxis{log: true, min: math.Log10(bottom), max: math.Log10(top)}
	dense := top/bottom <= 3000
	for e := int(math.Floor(a.min + 1e-9)); e <= int(math.Ceil(a.max-1e-9)); e++ {
		for _, m := range []float64{1, 2, 5} {
			v := m * math.Pow(10, float64(e))
			if v < bottom*(1-1e-9) || v > top*(1+1e-9) {
				continue
			}
			t := tick{value: math.Log10(v)}
			if m == 1 || dense {
				u := unitOf(v * (1 + 1e-9))
				t.label = number(v/u.ns, 1) + " " + u.name
			}
			a.ticks = append(a.ticks, t)
		}
	}
	return a
}

// floor125 is the largest of 1, 2, 5 times a power of ten that is at most v.
func floor125(v float64) float64 {
	e := math.Floor(math.Log10(v) + 1e-12)
	for _, m := range []float64{5, 2} {
		if s := m * math.Pow(10, e); s <= v*(1+1e-9) {
			return s
		}
	}
	return math.Pow(10, e)
}

// elapsedTicks marks [0, seconds] with at most about n marks, at steps of
// 1-2-5 seconds below a minute and of whole parts of an hour above.
func elapsedTicks(seconds float64, n int) []tick {
	want := seconds / float64(max(n, 1))
	step := 0.0
	for _, s := range []float64{30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600, 43200, 86400} {
		if s >= want*(1-1e-9) {
			step = s
			break
		}
	}
	if want <= 20 {
		step = step125(want)
	}
	if step == 0 {
		step = 86400 * step125(want/86400)
	}
	var ticks []tick
	for i := 0; float64(i)*step <= seconds*(1+1e-9); i++ {
		v := float64(i) * step
		ticks = append(ticks, tick{v, elapsedLabel(v, step, seconds)})
	}
	return ticks
}

func elapsedLabel(v, step, seconds float64) string {
	switch {
	case v == 0:
		return "0"
	case step >= 86400:
		return number(v/86400, 1) + " d"
	case step >= 3600:
		return number(v/3600, 1) + " h"
	case step >= 60:
		if seconds > 7200 {
			return number(v/3600, 0.1) + " h"
		}
		return number(v/60, 1) + " min"
	case step < 1 && seconds < 1:
		return number(v*1e3, step*1e3) + " ms"
	default:
		return number(v, step) + " s"
	}
}

// rateText writes a rate with thousands apart: 10,000 or 0.5.
func rateText(r float64) string {
	s := strconv.FormatFloat(r, 'f', -1, 64)
	whole, frac, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if frac != "" {
		return whole + "." + frac
	}
	return whole
}

// countAxis is an axis of plain numbers from 0 to the first mark at or above hi.
func countAxis(hi float64) latencyAxis {
	if !(hi > 0) {
		hi = 1
	}
	step := step125(hi / 5)
	a := latencyAxis{max: math.Ceil(hi/step-1e-9) * step}
	for i := range int(math.Round(a.max/step)) + 1 {
		v := float64(i) * step
		label := rateText(math.Round(v))
		if step < 1 {
			label = number(v, step)
		}
		a.ticks = append(a.ticks, tick{v, label})
	}
	return a
}
