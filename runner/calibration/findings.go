package calibration

import (
	"fmt"
	"time"

	"queuebench/rawlog"
	"queuebench/runner/pace"
)

// Limits above which what was found is told to the user.
const (
	// stealLimit: of half a second on two processors one tick of the kernel's
	// accounting (10 ms) is 1 %.
	stealLimit = 3.0
	// waitLimit is the lag of a waiter whose queue has a latency of 10 ms, a
	// fast one over a network, by the rule below.
	waitLimit       = time.Millisecond
	readLimit       = time.Microsecond
	resolutionLimit = time.Microsecond
)

// limitedBy is the rule of runner-limited runs: a send lag whose p99 is above a
// tenth of the median latency.
const limitedBy = 10

// Findings are what is wrong with an instrument, a sentence each, with what to
// do.
func Findings(c *rawlog.Calibration) (texts []string) {
	return findings(c, pace.Precise.Exact())
}

// findings are those on a system that has an exact sleep, or none.
func findings(c *rawlog.Calibration, exact bool) (texts []string) {
	add := func(format string, a ...any) { texts = append(texts, "calibration: "+fmt.Sprintf(format, a...)) }
	if p := c.StealPercent; p != nil && *p > stealLimit {
		add("the hypervisor withheld %.1f %% of the processors' time in %v: pauses of the machine stand in the latencies; use a machine with processors of its own, or repeat at a quieter time", *p, time.Duration(c.TookNs).Round(time.Millisecond))
	}
	if ns := c.ThrottledNs; ns != nil && *ns > 0 {
		add("the control group's processor quota held this process up for %v in %v: raise the container's CPU limit or take it away", time.Duration(*ns).Round(time.Microsecond), time.Duration(c.TookNs).Round(time.Millisecond))
	}
	if lag := time.Duration(c.Wait.P99Ns); lag > waitLimit {
		advice := "give the runner processors of its own or quieten the machine"
		if !exact {
			advice = "this system has no exact sleep that bench knows: run it on Linux"
		}
		add("this machine wakes up late, by %v at the 99th percentile of %.0f waits a second without any load: a median latency below %v cannot be told from it; %s",
			round(lag), c.Wait.Rate, round(limitedBy*lag), advice)
	}
	if ns := c.ClockReadNs; ns > float64(readLimit) {
		add("reading the clock takes %v%s: it limits the rate and makes stamps late; on a virtual machine choose a clock source that needs no call into the kernel, such as tsc", time.Duration(ns), sourceText(c))
	}
	switch step := time.Duration(c.ClockResolutionNs); {
	case step == 0:
		add("the clock%s did not move in 20 million readings: no latency can be measured by it", sourceText(c))
	case step > resolutionLimit:
		add("the clock moves in steps of %v%s: no latency is more exact than that", step, sourceText(c))
	}
	return texts
}

func sourceText(c *rawlog.Calibration) string {
	if c.ClockSource == "" {
		return ""
	}
	return " (clock source " + c.ClockSource + ")"
}

// round leaves three digits, or nearly so.
func round(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
