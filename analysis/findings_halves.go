package analysis

import (
	"fmt"
	"strings"
)

// halfMissing tells that one half of the run was not found.
func halfMissing(c *cut) *Finding {
	missing := missingHalf(&c.digest.Manifest)
	if missing == "" {
		return nil
	}
	return finding("half-missing", Warning, "Only one half of this run is here: %s, so no message can be followed from one end to the other.",
		"Give the addresses of both, `analyze summary RUN RUN`, where they were recorded to different places. Send lag and publish latency are the producers' alone and hold.", missing)
}

// offsetShare is the part of the median end-to-end latency that the error of a
// clock's offset may reach before it is a warning.
const offsetShare = 0.1

// clockOffset tells what was added to the stamps of other hosts.
func clockOffset(c *cut) *Finding {
	if len(c.step.ClockOffsets) == 0 {
		return nil
	}
	severity, more := Note, ""
	var worst int64
	var texts []string
	for i, o := range c.step.ClockOffsets {
		worst = max(worst, o.ErrorNs)
		if i >= 4 {
			continue
		}
		texts = append(texts, fmt.Sprintf("%s to those of %s (%s, drift %.1f ± %.1f ppm)", FormatOffset(o.OffsetNs, o.ErrorNs), o.Actor, plural(int64(o.Exchanges), "exchange"), o.DriftPPM, o.DriftErrorPPM))
	}
	if n := len(c.step.ClockOffsets) - len(texts); n > 0 {
		texts = append(texts, fmt.Sprintf("and to those of %s", plural(int64(n), "other")))
	}
	advice := "End-to-end latencies are uncertain by this error, up and down, whatever their percentile."
	if p50, beyond := c.total[EndToEnd].Quantile(0.5, c.never[EndToEnd]); c.total[EndToEnd].N > 0 && !beyond && float64(worst) > offsetShare*float64(max(0, p50)) {
		severity = Warning
		more = fmt.Sprintf(" That error is more than a tenth of the median of %s.", FormatLatency(p50))
		advice = "Read the latencies as give or take that error. A peer that is nearer, or both halves on one host, make it smaller."
	}
	return finding("clock-offset", severity, "Clocks of several hosts: to the producers' time (%s) was added %s.%s", advice,
		c.step.ClockOffsets[0].To, strings.Join(texts, "; "), more)
}

// FormatOffset is an offset with its error, a bound, in the error's unit:
// "1.234 ± 0.056 ms".
func FormatOffset(offsetNs, errorNs int64) string {
	unit, name, digits := 1e6, "ms", 3
	switch {
	case errorNs >= 1e9:
		unit, name = 1e9, "s"
	case errorNs < 1e4:
		unit, name = 1e3, "µs"
	}
	return fmt.Sprintf("%.*f ± %.*f %s", digits, float64(offsetNs)/unit, digits, float64(errorNs)/unit, name)
}
