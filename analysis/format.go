package analysis

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Dash stands for what cannot be told.
const Dash = "–"

// units of FormatLatency: from is where each begins.
var units = []struct {
	name string
	ns   float64
	upTo float64 // the next unit is taken from this many on
}{
	{"ns", 1, 1000},
	{"µs", 1e3, 1000},
	{"ms", 1e6, 1000},
	{"s", 1e9, 1000},
	{"min", 60e9, 100},
	{"h", 3600e9, 100},
	{"d", 24 * 3600e9, math.Inf(1)},
}

// FormatLatency is a duration with 3 significant digits and its unit: "850 µs",
// "64.2 ms", "1.20 s", "−5.00 s".
func FormatLatency(ns int64) string { return formatNs(float64(ns)) }

func formatNs(ns float64) string {
	if ns == 0 {
		return "0 ns"
	}
	sign := ""
	if ns < 0 {
		sign, ns = "−", -ns
	}
	for _, u := range units {
		v := ns / u.ns
		// Rounded first, so that 999.6 ms is 1.00 s and not 1000 ms.
		text := significant(v)
		if r, _ := strconv.ParseFloat(text, 64); r < u.upTo {
			if u.ns == 1 {
				text = strconv.FormatFloat(v, 'f', 0, 64)
			}
			return sign + text + " " + u.name
		}
	}
	return sign + "∞"
}

// significant is v ≥ 0 with 3 significant digits, without an exponent.
func significant(v float64) string {
	decimals := 2
	for limit := 9.995; v >= limit && decimals > 0; limit *= 10 {
		decimals--
	}
	for limit := 0.9995; v < limit && v > 0 && decimals < 9; limit /= 10 {
		decimals++
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// FormatRate is a rate or a count with 3 significant digits at least: whole
// from 100 on, with commas.
func FormatRate(v float64) string {
	if v >= 99.95 || v == math.Trunc(v) {
		return FormatCount(int64(math.Round(v)))
	}
	return significant(v)
}

// FormatCount is a whole number with commas: "1,000,000".
func FormatCount(n int64) string {
	s := strconv.FormatInt(n, 10)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// formatDuration is an exact duration of a setting: "1.5 s", "100 ms", "2 min".
func formatDuration(d time.Duration) string {
	switch {
	case d == 0:
		return "0 s"
	case d >= 2*time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d >= time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s"
	case d >= time.Millisecond:
		return strconv.FormatFloat(float64(d)/1e6, 'f', -1, 64) + " ms"
	}
	return FormatLatency(int64(d))
}

func formatShare(part, whole int64) string {
	if whole == 0 {
		return Dash
	}
	p := float64(part) / float64(whole) * 100
	if p > 0 && p < 0.001 {
		return "less than 0.001 %"
	}
	return significant(p) + " %"
}

// Text is the percentile as a table shows it: a dash where too few messages
// stand behind it, "> 30.0 s" where it falls on one that never came.
func (p Percentile) Text() string {
	switch {
	case p.Beyond:
		return "> " + FormatLatency(p.Ns)
	case !p.Supported && !p.Imported:
		return Dash
	}
	return FormatLatency(p.Ns)
}
