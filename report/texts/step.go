package texts

import "strconv"

// A step in depth.
const (
	StepIncomplete = "Incomplete."
	NothingHere    = "Nothing was measured here."
	More           = "Distribution, throughput and backlog"
	Crowded        = "The tables behind these figures are left out of a page with so many steps in depth: analyze export RUN --format csv writes them, and a page with scripts has those of the step that it shows."
	StepSettings   = "Settings of this step"

	Lines       = "Lines"
	LineMax     = "maximum"
	LineBand    = "band"
	LineDensity = "density"
	LineSlowest = "slowest messages"
)

// Lasted says how long a step was, and what is cut of it by which rule. scheduled:
// the length is that of a schedule.
func Lasted(scheduled bool, length, cut, rule string) string {
	text := "Schedule of "
	if !scheduled {
		text = "No schedule; it lasted "
	}
	return text + length + "; " + cut + " cut as warm-up (" + rule + ")."
}

// StepFailed says why a step failed.
func StepFailed(reason string) string { return "This step failed: " + reason }

// StepDurability is what an acknowledgement is worth in a step.
func StepDurability(durability string) string {
	return "An acknowledgement means in this step: " + durability
}

// WindowOf heads what is of a part of a step.
func WindowOf(from, to string) string { return "Of what was intended from " + from + " to " + to + ":" }

// Slowest are how many slow messages a digest has of a step.
func Slowest(kept int) string {
	return "The " + plural(kept, "slowest message", "slowest messages") + " kept, and where their time went"
}

// SlowestOf names their table.
func SlowestOf(step string) string { return "Slowest messages of step " + step }

// SlowestSome is a note on a table that has some of them only.
func SlowestSome(some, all int, note string) string {
	return strconv.Itoa(some) + " of " + strconv.Itoa(all) + ". " + note + " analyze slowest RUN lists all."
}

// AllLatencies names the table of every latency of a step.
func AllLatencies(load string) string { return "All latencies at " + load }

// Behind is the line that opens the table behind a figure: what a row is, one of
// them and several.
func Behind(n int, row, rows string) string {
	return "The " + plural(n, row, rows) + " behind this figure"
}

// TableOf names that table.
func TableOf(figure string) string { return "Table of: " + figure }

// Stages of a message's way.
const (
	Stages     = "Where a message's time goes"
	Stage      = "stage"
	Batches    = "batches"
	StagesNote = "Per batch, over the whole step. Waiting counts from the first message of a batch, the finding of a commit from the one before it."
)

// StagesAt names their table.
func StagesAt(load string) string { return "Stages at " + load }

// StagesSum is what the requests alone add up to.
func StagesSum(sum string) string { return " By the requests alone the median comes to " + sum + "." }
