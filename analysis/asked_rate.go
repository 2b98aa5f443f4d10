package analysis

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"queuebench/rawlog"
)

// askedRate is the rate of a step by the settings of its run: one that was killed
// names its steps no other way, and a rate that is counted up to a watermark is
// never quite the one of another run. 0 where the settings do not tell.
func askedRate(m *rawlog.Manifest, step int) float64 {
	s := m.Settings
	if s["rate-profile"] != "" || step < 0 || strings.Contains(s["vary"], "rate") || strings.Contains(s["vary"], "range-") {
		return 0
	}
	var rates []float64
	switch s["command"] {
	case "run":
		rates = milli(s["rate"])
	case "sweep":
		rates = sweptRates(s)
	}
	if len(rates) == 0 {
		return 0
	}
	// Steps go through the rates, ascending, once for each setting that varies;
	// in what order they ran is no matter.
	return rates[step%len(rates)]
}

// maxAskedRates bounds a range, as the runner does.
const maxAskedRates = 1000

// sweptRates are the rates of a sweep, ascending: those of its list or its range.
func sweptRates(s map[string]string) []float64 {
	if rates := milli(s["rates"]); len(rates) > 0 {
		slices.Sort(rates)
		return rates
	}
	ends := milli(s["range-start"] + "," + s["range-end"] + "," + s["range-step"])
	if len(ends) != 3 || ends[1] < ends[0] || (ends[1]-ends[0])/ends[2] >= maxAskedRates {
		return nil
	}
	var rates []float64
	for i := range maxAskedRates {
		// In thousandths, in which the runner counts.
		r := math.Round(ends[0]*1000) + float64(i)*math.Round(ends[2]*1000)
		if r > math.Round(ends[1]*1000) {
			break
		}
		rates = append(rates, r/1000)
	}
	return rates
}

// milli reads rates in messages per second with commas between; nil where one is
// none.
func milli(text string) (rates []float64) {
	for item := range strings.SplitSeq(text, ",") {
		r, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(item), "_", ""), 64)
		if err != nil || !(r > 0) || math.IsInf(r, 0) {
			return nil
		}
		rates = append(rates, r)
	}
	return rates
}
