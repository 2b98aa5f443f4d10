package texts

import "strconv"

// Comparison is what stands above one.
const Comparison = "Comparison"

// Against is what is held against what.
func Against(new, base string) string { return new + " against " + base }

// LatencyOf names the latency that is compared, from its own name.
func LatencyOf(kind string) string { return UpperFirst(kind) + " latency" }

// PerRate heads the figures of it.
func PerRate(latency string) string { return latency + " per rate" }

// OfRuns is what is compared, and of how many runs.
func OfRuns(latency string, runs int) string { return latency + ", " + plural(runs, "run", "runs") }

// WarningOf is a warning of the comparison.
func WarningOf(text string) string { return "Warning: " + text }

// Badges of a comparison.
const (
	SingleRuns      = "single runs: within-run only"
	SingleRunsMeans = "One run on either side: the intervals have each run's own variation over time, and say nothing of what another run of the same settings would give."
	FloorsMean      = "The queue or its store ran inside the benchmark: a lower bound for that machine, never a result about a product."
)

// FloorOf names the sides that are an in-process floor, IncompleteOf those whose
// runs are incomplete.
func FloorOf(sides []string) string      { return Floor + ": " + And(sides) }
func IncompleteOf(sides []string) string { return Incomplete + ": " + And(sides) }

// Why nothing is compared.
const (
	OneSide      = "All runs carry one label: they are replicates of one side, and there is nothing to hold them against."
	NothingAlike = "Nothing can be compared: the runs have no load in common, neither a rate nor settings of a step."
)

// Verdicts, which are put together from these.
const (
	NothingTested = "Nothing could be tested: the notes below the table say why."
	TooFewRuns    = " So few runs cannot show any: record more of each."
	TwoRecordings = " One run on either side: this tells two recordings apart, and no more."
)

// LostOf is what a side lost.
func LostOf(side, n string) string { return " " + side + " lost " + n + " messages." }

// NoDifference is shown in so many tests.
func NoDifference(tests int) string {
	return "No difference is shown in " + plural(tests, "test", "tests") + " (~)."
}

// Unseen is the rise that would not have been seen.
func Unseen(rise string) string {
	return " That is no proof that there is none: a rise of up to " + rise + " could have gone unseen."
}

// NothingElse is shown in the other tests.
func NothingElse(tests int) string {
	return " Nothing is shown in the other " + plural(tests, "test", "tests") + " (~)."
}

// NotTested are percentiles that could not be compared.
func NotTested(n int) string {
	return " " + plural(n, "percentile", "percentiles") + " could not be compared."
}

// Change is where a comparison differs most.
type Change struct {
	Slower, Faster, Tests int // how many of the tests show what
	// Side is the one that differs; Sides: there is more than one that may.
	Side  string
	Sides bool
	// Load and percentile of the largest change, its values, and what it comes to.
	Load, Percentile, Base, New, Delta string
}

// MostChanged says in how many tests something is shown, and where it is most.
func MostChanged(c Change) string {
	what := ""
	switch {
	case c.Faster == 0:
		what = "Slower in " + strconv.Itoa(c.Slower)
	case c.Slower == 0:
		what = "Faster in " + strconv.Itoa(c.Faster)
	default:
		what = "Slower in " + strconv.Itoa(c.Slower) + " and faster in " + strconv.Itoa(c.Faster)
	}
	if !c.Sides {
		what = c.Side + " is " + lowerFirst(what)
	}
	what += " of " + plural(c.Tests, "test", "tests") + ", most at " + c.Load
	if c.Sides {
		what += " with " + c.Side
	}
	return what + ": p" + c.Percentile + " went from " + c.Base + " to " + c.New + " (" + c.Delta + ")."
}

// Sides stand beside each other.
const (
	Sides       = "What is compared"
	Base        = "base"
	MakeBase    = "Make it the base"
	OpenThis    = "Open this run"
	RunName     = "run"
	Replicates  = "runs, replicates of each other"
	QueueKind   = "queue"
	Store       = "store"
	MachineName = "machine"
	FoundInIt   = "found in it"
	SettingNone = "none"
	UnnamedRun  = "run"
)

// OpenRun is one of several of a side, by its number.
func OpenRun(number string) string { return "Open run " + number }

// EmbeddedStore is the address of a store that ran inside the benchmark.
func EmbeddedStore(address string) string { return address + " (embedded: an in-process floor)" }

// FoundOf counts what was found in a side.
func FoundOf(failures, warnings int) string {
	text := plural(warnings, "warning", "warnings")
	if failures > 0 {
		text = plural(failures, "failure", "failures") + ", " + text
	}
	return text
}

// What changed.
const (
	Changed      = "What changed"
	NoTestShows  = "No test shows a difference."
	Slower       = "Slower"
	Faster       = "Faster"
	NotShown     = "Not shown (~)"
	NotCompared  = "Not compared (–)"
	NothingShown = "so few runs could show nothing"
)

// WouldBeFound is the rise that would have been found.
func WouldBeFound(rise string) string { return "a rise of " + rise + " would have been found" }

// BaseToNew are the values of a change, before what it comes to.
func BaseToNew(base, new string) string { return base + " → " + new + ", " }

// IntervalOf is the interval of a change.
func IntervalOf(interval string) string { return " (95 % interval " + interval + ")" }

// PercentileAt names a row; side is empty where there are two.
func PercentileAt(side, percentile, load string) string {
	text := "p" + percentile + " at " + load
	if side != "" {
		text = side + ", " + text
	}
	return text
}

// Percentiles of a kind, behind a line that opens.
func PercentilesMore(title string, n int) string {
	return title + ": " + plural(n, "percentile", "percentiles")
}

// The table of a pair, with what its columns mean.
const (
	Results      = "Base, new, change"
	Notes        = "notes"
	PMeans       = "adjusted for the number of tests (Holm)"
	ByMeans      = "how it was compared"
	FindMeans    = "the smallest rise that would have been found in 80 of 100 comparisons like this one"
	RangeMeans   = "of the change, 95 % each for itself"
	NothingElseD = "No setting, machine or version differs."
	Footnotes    = "Notes, and in what else they differ"
)

// ResultsOf names the table.
func ResultsOf(pair string) string { return "Results: " + pair }

// OnlyHas are loads of one side.
func OnlyHas(side string, loads []string) string { return "Only " + side + " has: " + And(loads) + "." }

// A load's quantiles.
const (
	Quantiles  = "The quantiles behind these figures"
	Percentile = "percentile"
	New        = "new"
	Ratio      = "ratio"
	Low        = "low"
	High       = "high"
)

// MiddleLine says which of several runs a line is of.
func MiddleLine(percentile string) string {
	return " Of several runs of a side, the line is that of the middle one by " + percentile + "."
}

// NothingAgainst says that a load is the base's alone, or only others'.
func NothingAgainst(base string) string {
	return "At this load nothing can be held against " + base + "."
}

// QuantilesAt names the table of a load's quantiles, QuantilesCaption says what is
// in it.
func QuantilesAt(load string) string { return "Quantiles at " + load }
func QuantilesCaption(load string) string {
	return QuantilesAt(load) + ", and by what ratio they differ, with its 95 % interval"
}

// Messages and throughput of each run.
const (
	Throughput        = "Messages and throughput"
	ThroughputCaption = "Messages and throughput of each run"
	Load              = "load"
	HowToRead         = "How to read this"
)
