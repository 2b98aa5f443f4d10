package importer

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"queuebench/analysis"
)

var errRange = errors.New("beyond the range of times, 1678 to 2262")

// number parses a finite number.
func number(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%.40q is not a number", text)
	}
	return v, nil
}

// scaled is a number of units in ns, to the nearest one. A sum beyond int64 is
// an error.
func scaled(text string, unit time.Duration) (int64, error) {
	text = strings.TrimSpace(text)
	// Whole numbers, and those with few decimals, stay exact.
	whole, frac, _ := strings.Cut(text, ".")
	if n, err := strconv.ParseInt(whole, 10, 64); err == nil && len(frac) <= 9 && n < math.MaxInt64/int64(unit)-1 && n > -math.MaxInt64/int64(unit)+1 && strings.Trim(frac, "0123456789") == "" {
		part := int64(0)
		if frac != "" {
			f, _ := strconv.ParseInt((frac + "000000000")[:9], 10, 64)
			switch hi := int64(unit); {
			case hi <= int64(time.Second):
				part = (f*hi + 5e8) / 1e9
			default:
				part = int64(math.Round(float64(f) / 1e9 * float64(hi)))
			}
			if strings.HasPrefix(whole, "-") {
				part = -part
			}
		}
		return n*int64(unit) + part, nil
	}
	v, err := number(text)
	if err != nil {
		return 0, err
	}
	ns := math.Round(v * float64(unit))
	if math.Abs(ns) > math.MaxInt64/2 {
		return 0, fmt.Errorf("%.40s: %w", text, errRange)
	}
	return int64(ns), nil
}

// stamp parses a time in any of the shapes that tools write: whole seconds,
// seconds with a fraction (also as 1.7e9), ms, µs or ns since the epoch, told by
// their size, or RFC 3339. It returns the resolution that the text has.
func stamp(text string) (ns int64, resolution time.Duration, err error) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		unit := time.Second
		switch digits := len(strings.TrimLeft(text, "+-0")); {
		case digits >= 18:
			unit = time.Nanosecond
		case digits >= 15:
			unit = time.Microsecond
		case digits >= 12:
			unit = time.Millisecond
		}
		if n > math.MaxInt64/int64(unit) || n < math.MinInt64/int64(unit) {
			return 0, 0, fmt.Errorf("%.40q: %w", text, errRange)
		}
		return n * int64(unit), unit, nil
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		ns, err := scaled(text, time.Second)
		resolution := time.Microsecond // about what a float64 of seconds tells
		if ns%1e9 == 0 {
			resolution = time.Second
		}
		return ns, resolution, err
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		if t, err = time.ParseInLocation("2006-01-02 15:04:05.999999999", text, time.UTC); err != nil {
			return 0, 0, fmt.Errorf("%.40q is no time: neither RFC 3339 nor a number since the epoch", text)
		}
	}
	if t.Year() < 1679 || t.Year() > 2261 {
		return 0, 0, fmt.Errorf("%.40q: %w", text, errRange)
	}
	resolution = time.Nanosecond
	if t.Nanosecond() == 0 {
		resolution = time.Second
	}
	return t.UnixNano(), resolution, nil
}

// latency parses a duration that stands for a latency, in units. Its range is
// that of int64; what a histogram does not take is counted where it is recorded.
func latency(text string, unit time.Duration) (int64, error) { return scaled(text, unit) }

func ptr[T any](v T) *T { return &v }

// value parses a carried value in units.
func value(text string, unit time.Duration) (analysis.ReferenceValue, error) {
	ns, err := scaled(text, unit)
	return analysis.ReferenceValue{Ns: ns}, err
}

// carried is a float of units as ns.
func carried(v float64, unit time.Duration) (int64, error) {
	ns := math.Round(v * float64(unit))
	if !(math.Abs(ns) < math.MaxInt64/2) {
		return 0, fmt.Errorf("%g is no latency", v)
	}
	return int64(ns), nil
}

// percentKey is the text of a percent: "99.9" of "99.90".
func percentKey(text string) (string, error) {
	p, err := number(text)
	if err != nil || p < 0 || p > 100 {
		return "", fmt.Errorf("%.40q is no percentile", text)
	}
	return analysis.FormatPercent(p), nil
}

// unitNames are the units that a header or a flag may name.
var unitNames = map[string]time.Duration{
	"ns": 1, "us": time.Microsecond, "µs": time.Microsecond, "μs": time.Microsecond, "ms": time.Millisecond, "s": time.Second,
}

// ParseUnit reads the name of a unit: ns, us, ms or s.
func ParseUnit(text string) (time.Duration, error) {
	if u, ok := unitNames[strings.TrimSpace(text)]; ok {
		return u, nil
	}
	return 0, fmt.Errorf("unit %.20q: say ns, us, ms or s", text)
}
