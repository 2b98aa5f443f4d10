package texts

import "strings"

// The controls above a run.
const (
	Controls      = "What is shown"
	WarmupCut     = "Warm-up cut"
	WarmupSeconds = "Warm-up in seconds"
	Step          = "Step"
	Percentiles   = "Percentiles"
	LatencyKind   = "Latency"
	Interval      = "Interval"
	Axis          = "Axis"
	Linear        = "linear"
	Log           = "log"
	Cancel        = "Cancel"
	WholeStep     = "Whole step"
	Reset         = "Reset"
)

// ByDefault is a cut that nobody chose.
func ByDefault(cut string) string { return cut + " (default)" }

// From is a part of a step that reaches to its end.
func From(from string) string { return "from " + from + " on" }

// FromTo is a part of a step.
func FromTo(from, to string) string { return "from " + from + " to " + to }

// Cut says what is cut, and by which rule, if any did.
func Cut(cut, rule string) string {
	if rule != "" {
		cut += " (" + rule + ")"
	}
	return "Cut of the longest step: " + cut + "."
}

// LookedAt says which part is looked at: From or FromTo.
func LookedAt(window string) string { return " Looked at: " + window + " of each step." }

// Tested says what the percentiles of a comparison are.
const Tested = " Percentiles are those that are tested."

// What is told of a change to those who hear the page.
const LogAxis = "logarithmic axis"

// InDepth tells which step is shown.
func InDepth(step string) string { return "in depth at " + step }

// IntervalsOf tells how long the intervals of the time line are.
func IntervalsOf(interval string) string { return "intervals of " + interval }

// Drawn tells which lines a time line has.
func Drawn(lines []string) string { return "drawn: " + strings.Join(lines, " ") }

// Shown joins what is told of the view: one sentence and a space, or nothing.
func Shown(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return UpperFirst(strings.Join(parts, ", ")) + ". "
}

// WarmupWas tells what is cut.
func WarmupWas(cut string) string { return "Warm-up " + cut + " cut." }

// LookedAtFrom tells which part is looked at.
func LookedAtFrom(from, to string) string { return " Looked at from " + from + " to " + to + "." }

// AtIs tells a percentile of a load.
func AtIs(load, percentile, value string) string {
	return " At " + load + " " + percentile + " is " + value + "."
}
