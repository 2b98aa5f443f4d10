package texts

import "strconv"

// Around every page.
const (
	Skip       = "Skip to the content"
	Navigation = "Page"
	AllRuns    = "All runs"
	Explore    = "Explore this run"

	ReportBrand     = "Queuebench report"
	ComparisonBrand = "Queuebench comparison"
	SiteFoot        = "Runs are read and computed in this browser; nothing is uploaded."
)

// ReportFoot ends a file that says and computes all by itself.
func ReportFoot(version string) string {
	return "Made by Queuebench " + version + ". This file asks nobody for anything: what it shows and what computes it are inside."
}

// The list of a site.
const (
	SiteTitle      = "Queuebench: runs"
	Runs           = "Runs"
	Progress       = "Progress"
	FindLabel      = "Find and compare runs"
	Find           = "Find"
	AllQueues      = "all"
	CompareButton  = "Compare"
	TickTwo        = "Tick two runs or more to compare them; the oldest is the base."
	ListIncomplete = ", incomplete"
	PlainPage      = "Plain page"
	CompareBefore  = "Compare with the one before"
)

// PickRun names the box of a run in the list, PlainPageOf ends the name of its
// page, and BeforeRun that of its comparison, for those who hear them.
func PickRun(name string) string     { return "Compare " + name }
func PlainPageOf(name string) string { return " of " + name }
func BeforeRun(name string) string   { return ": " + name }

// StepNumbers are those of a step in the list.
func StepNumbers(rate, p50, p99 string) string {
	return MsgPerS(rate) + ": p50 " + p50 + ", p99 " + p99
}

// MoreOfRun are the steps that the list leaves out.
func MoreOfRun(n int) string { return "and " + strconv.Itoa(n) + " more steps" }

// What a reader can open.
const (
	OpenOwn        = "Open your own"
	OpenBeside     = "Open others beside this"
	OtherRuns      = "Other runs"
	ChooseFiles    = "Choose files…"
	ChooseFolder   = "Choose a folder…"
	OrAddress      = "or an address"
	AddressExample = "https://…/run.json"
	OpenAddress    = "Open"
)

// ForeignFiles says of files that are no digests what they are, and what reads
// them: more are how many came with the first, and argument is how the command
// line names them.
func ForeignFiles(first string, more int, log bool, argument string) string {
	what := " is no digest"
	switch {
	case log && more > 0:
		what = " are of a raw log"
	case log:
		what = " is of a raw log"
	case more > 0:
		what = " are no digests"
	}
	if more > 0 {
		what = " and " + strconv.Itoa(more) + " more" + what
	}
	return first + what + ". This file opens digests only, so that it stays small: drop what `analyze digest " + argument +
		" -o run.digest.gz` writes, or open it with `analyze serve " + argument + "`"
}
