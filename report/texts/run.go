package texts

import "strconv"

// What a queue is called above a run.
const (
	DeltaQueue  = "Delta table as a message queue"
	MemoryQueue = "Queue in memory"
	AnyQueue    = "Message queue"
)

// Badges: what a reader must know before any number, each with what it means.
const (
	Floor           = "in-process floor"
	FloorMeans      = "The queue or its store ran inside the benchmark: a lower bound for this machine, never a result about a product."
	ClosedLoop      = "closed loop: intended = sent"
	ClosedLoopMeans = "Coordinated omission is possible: each operation began when the one before it was done, so what a slow queue was not asked meanwhile is missing."
	Tail            = "tail of a table of others"
	TailMeans       = "Latency is from the stamp that a message carries to its receipt; nothing is known of what was sent."
	Drain           = "drain of a backlog"
	DrainMeans      = "Consumers were held and then released: latencies say how long messages lay, not how quick the queue is."
	Imported        = "imported"
	ImportedMeans   = "Another tool measured this, by definitions of its own: see how it was measured."
	Incomplete      = "incomplete"
	IncompleteMeans = "The run did not end by itself; it is analysed up to where its log is known to be whole."
)

// IncompleteSince is an incomplete run whose reason is known.
func IncompleteSince(reason string) string { return reason + ". " + IncompleteMeans }

// Verdicts.
const (
	OnlySummaries   = "Summaries of another tool, carried as they are."
	NoStep          = "The run has no step: there is nothing to measure."
	NothingReceived = "No message was received."
)

// ImportedLatencies is the verdict on what another tool measured.
func ImportedLatencies(n string) string { return n + " latencies that another tool measured." }

// Arrived is the verdict on what came; lost and duplicates are empty where there
// are none, and warnings say how far the numbers can be trusted.
func Arrived(received, lost, duplicates string, warnings int) string {
	text := received + " messages received, "
	if lost == "" {
		text += "none lost"
	} else {
		text += lost + " lost"
	}
	if duplicates != "" {
		text += ", " + duplicates + " delivered more than once"
	}
	text += "."
	if warnings > 0 {
		text += " " + plural(warnings, "warning says", "warnings say") + " how far the numbers can be trusted."
	}
	return text
}

// NothingMeasured stands in the tile of a rate without a latency.
const NothingMeasured = "nothing measured"

// MiddleOf says that a number is that of the middle one of some repeats.
func MiddleOf(load string, repeats int) string { return load + ", middle of " + strconv.Itoa(repeats) }

// MoreRates are those that have no tile.
func MoreRates(n int) string {
	return plural(n, "more rate is", "more rates are") + " in the table below."
}

// Variant is a load with the settings that set it apart.
func Variant(load, variant string) string { return load + ", " + variant }

// RepeatOf is a load's repeat, from 1.
func RepeatOf(load string, repeat int) string { return load + ", repeat " + strconv.Itoa(repeat) }

// AllRepeats are those of a load.
func AllRepeats(load string) string { return load + ", all repeats" }

// Findings: their head, their severities, and where they are found.
const (
	Found        = "What was found"
	NothingFound = "Nothing stands out: the schedule was kept, the counts add up, and no rule of the analysis was broken."
	Failure      = "Failure"
	Warning      = "Warning"
	Note         = "Note"
	EveryStep    = "Every step"
)

// MoreSteps are those that show the same finding with other numbers.
func MoreSteps(n int) string { return "and " + plural(n, "more step", "more steps") }

// AndOthers ends a list of steps that is too long to be told.
func AndOthers(all int) string { return " and others, " + plural(all, "step", "steps") + " in all" }

// The accounting: each count with what it means.
const (
	Accounting        = "Where every message went"
	AccountingLabel   = "Accounting"
	AccountingCaption = "Messages of each step, by what became of them"
	OfWholeSteps      = "Of whole steps, but for the records used and trimmed, which are those of the part that is looked at."

	Scheduled            = "scheduled"
	ScheduledMeans       = "attempted + overrun + unknown"
	Attempted            = "attempted"
	AttemptedMeans       = "acked + failed + unconfirmed"
	Acked                = "acked"
	AckedMeans           = "the queue said that it has them"
	Failed               = "failed"
	FailedMeans          = "the queue refused them"
	Unconfirmed          = "unconfirmed"
	UnconfirmedMeans     = "no answer by the deadline"
	Overrun              = "overrun"
	OverrunMeans         = "due, but not sent before the step ended"
	ReceivedMeans        = "distinct messages"
	Lost                 = "lost"
	LostMeans            = "acked and not received by the deadline"
	Duplicates           = "duplicates"
	DuplicatesMeans      = "deliveries beyond the first"
	OutOfOrder           = "out of order"
	OutOfOrderMeans      = "below the highest number seen of their producer and partition"
	ReceivedUnacked      = "received unacked"
	ReceivedUnackedMeans = "failed or unconfirmed, yet received"
	Negative             = "negative"
	NegativeMeans        = "received before they were intended"
	Foreign              = "foreign"
	ForeignMeans         = "deliveries that are no message of the step"
	Unknown              = "unknown"
	UnknownMeans         = "beyond what is known of an incomplete log"
	Used                 = "records used"
	UsedMeans            = "behind the latencies shown"
	Trimmed              = "records trimmed"
	TrimmedMeans         = "cut as warm-up, or not looked at"
	Rejected             = "records rejected"
	RejectedMeans        = "could not be read"
)

// Latency per rate.
const (
	RatesLabel    = "Latency per rate, as a table"
	MsgPerSUnit   = "msg/s"
	OperationsPer = "operations/s"
	RatesNote     = "Percentiles are nearest-rank, to within 0.2 %, and shown with three digits. CoV: how much the received rate varies from second to second. A dash: too few messages behind the value, or too few commits."
	IntervalsNote = "Below a percentile: its 95 % interval, of what another stretch of the same run would give, not another run; a dash: too few stretches to tell."
	IntervalLater = "…"
	RankBeyond    = "The rank falls on a message that never came."
	TooFew        = "Too few messages or blocks for this percentile."
)

// InNumbers is the caption of the table that says what a figure shows.
func InNumbers(figure string) string { return figure + ", in numbers" }

// References: what other tools only summed up.
const (
	References      = "Imported references"
	ReferencesLabel = "Imported references, as a table"
	ReferencesNote  = "Carried as they are, by definitions of their own; never merged with anything."
)

// MoreRows are references that the table leaves out.
func MoreRows(n int) string { return strconv.Itoa(n) + " more rows are in the JSON of the summary." }

// Reference says where numbers are from, and what they are by definition.
func Reference(format, source, latency, percentiles string) string {
	return format + ", from " + source + ". Latency: " + latency + ". Percentiles: " + percentiles + "."
}
