package texts

// What stands in this file is markup: <b> and <code> are tags, and &, < and > are
// written as entities.

// Models of a measurement.
const (
	OpenModel     = `<b>Open loop.</b> Messages follow a schedule, whatever the queue does. A late one keeps its intended time, and end-to-end latency counts from there: no coordinated omission.`
	ClosedModel   = `<b>Closed loop.</b> An operation begins when the one before it is done: intended = sent. A slow queue is asked less, and what would have waited meanwhile is missing: coordinated omission is possible.`
	BacklogModel  = `<b>Backlog.</b> The queue was filled while its consumers were held, and drained when they were released. End-to-end latency counts from when a message was due or handed over: it says how long messages lay.`
	TailModel     = `<b>Tail.</b> Messages of others were received. Nothing is known of a schedule: latency counts from the stamp that a message carries, by its writer's clock, and losses cannot be told.`
	ImportedModel = `<b>Imported.</b> Another tool measured this, by the definitions below. No schedule is known here: what a busy sender began late may be missing.`

	NothingLeftOut = `<b>Nothing is left out.</b> Lost and overrun messages rank as infinite; a percentile that reaches them prints “&gt; deadline”. Negative latencies are counted, not repaired.`
	WarmupModel    = `<b>Warm-up</b> is cut by intended time, after the run, and can be moved without running again.`
)

// PercentilesModel says what percentiles are, and how long the shortest and the
// longest of the intervals are that a time line has; empty where there is none.
func PercentilesModel(shortest, longest string) string {
	text := `<b>Percentiles</b> are nearest-rank over added histograms, never averaged, to within 0.2 %, and shown with three digits. Over time they are those of each interval`
	if shortest != "" {
		text += ", " + shortest
		if longest != shortest {
			text += " to " + longest + " long by step"
		} else {
			text += " long"
		}
		text += " here: what is shorter cannot be seen, and a cut moves to the next of their edges"
	}
	return text + "."
}

// How to read a comparison.
const (
	UnitIsTheRun     = `<b>The unit is the run.</b> Messages of one run share its weather: thousands of them are one observation of what another start would give.`
	ColoursAreKept   = `<b>Each run keeps its colour and its dashes</b> in all figures of this page.`
	ComparedQuantile = `<b>Percentiles</b> are nearest-rank over added histograms, from the schedule’s time unless another latency is chosen; lost and overrun messages rank as infinite. A dash: too few messages behind it.`
)

// Pages without scripts, and what can be opened.
const (
	ScriptsOff     = `Scripts are off, so nothing here can be changed; all of it can be read. To move the warm-up, look at a part of the time or choose other percentiles, switch scripts on for this file, or use <code>analyze summary</code> on the command line.`
	ListScriptsOff = `Each run has a plain page, with its tables and figures. To change what they show, and to compare runs, this page needs scripts and WebAssembly.`
	NoRuns         = `No run has been added yet: <code>analyze site RUN --out DIR</code> adds one.`

	DropAnything = `<b>Drop files or folders anywhere on this page:</b> the folder of a run or parts of it, digests, and what vegeta, k6, warp, wrk2, the OpenMessaging Benchmark, Kafka’s or NATS’ own tests or a histogram log recorded.`
	NoUpload     = `Nothing is uploaded: this browser reads and computes everything itself, and asks only the addresses that you give. What a reload would need again (files) is not part of a link; addresses are.`
	DropDigests  = `<b>Drop digests anywhere on this page</b>, to look at them here and to compare them with this: what <code>analyze digest RUN</code> wrote, or the files below <code>runs/</code> of a site.`
	NoUploadHere = `Nothing is uploaded: this browser reads and computes everything itself. Raw logs and what other tools recorded are opened by the page of a site: <code>analyze serve RUN</code>. Files that were dropped are not part of a link.`
)
