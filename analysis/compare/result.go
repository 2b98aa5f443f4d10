package compare

import "queuebench/analysis"

// Method is how two sides were compared.
type Method string

// The methods.
const (
	RankTest Method = "rank test"  // of runs
	Within   Method = "within run" // of one run each, by block bootstrap
)

// Verdict is what a comparison came to.
type Verdict string

// The verdicts.
const (
	Changed     Verdict = "changed"        // shown by runs
	WithinOnly  Verdict = "differs within" // shown for these two runs, not for others
	NotShown    Verdict = "~"              // nothing is shown
	NotCompared Verdict = analysis.Dash    // see Why
)

// Result is a comparison of the first side with each other.
type Result struct {
	Schema      string   `json:"schema"`
	Latency     string   `json:"latency"`
	Percentiles []string `json:"percentiles"`
	// Level is the chance of a false alarm over all Family tests together.
	Level  float64 `json:"level"`
	Family int     `json:"family"`
	Sides  []Info  `json:"sides"`
	Pairs  []Pair  `json:"pairs"`
	// Scaling is there where a setting was named for it.
	Scaling  []analysis.Scaling `json:"scaling,omitempty"`
	Warnings []string           `json:"warnings"`
}

// Info is a side by its runs.
type Info struct {
	Label string `json:"label"`
	Runs  []Run  `json:"runs"`
}

// Run is a run by its name.
type Run struct {
	Run       string `json:"run"`
	StartedNs int64  `json:"started_ns"`
	Version   string `json:"version,omitempty"`
	Complete  bool   `json:"complete"`
}

// Pair is the base and one other side.
type Pair struct {
	Base  string `json:"base"`
	New   string `json:"new"`
	Cells []Cell `json:"cells"`
	// Differences are the footnotes: in what the sides differ beside what was
	// measured.
	Differences []Difference `json:"differences"`
	// OnlyBase and OnlyNew are the loads that one side has alone.
	OnlyBase []string `json:"only_base"`
	OnlyNew  []string `json:"only_new"`
}

// Cell is one load: a rate, with the settings that set steps apart.
type Cell struct {
	Name    string  `json:"name"`
	Rate    float64 `json:"rate"`
	Variant string  `json:"variant,omitempty"`
	Base    Group   `json:"base"`
	New     Group   `json:"new"`
	Rows    []Row   `json:"rows"`
	// Curve is the quantile ratio: by how much each quantile differs. Its
	// intervals hold for each point alone.
	Curve []Point `json:"curve"`
	// Notes say what the numbers of this load do not mean.
	Notes []string `json:"notes"`
	// Throughput names what received_per_s of both sides is: "received/s",
	// "operations/s" of a closed loop, "drained/s" of a backlog.
	Throughput string `json:"throughput"`
}

// Group are the replicates of a load on one side.
type Group struct {
	Replicates []Replicate `json:"replicates"`
	// ReceivedPerS is the median replicate's, by nearest rank.
	ReceivedPerS float64 `json:"received_per_s"`
}

// Replicate is one repeat of a step of one run.
type Replicate struct {
	Run          string   `json:"run"`
	Step         int      `json:"step"`
	Repeat       int      `json:"repeat"`
	N            int64    `json:"n"`
	ReceivedPerS float64  `json:"received_per_s"`
	Lost         int64    `json:"lost"`
	Duplicates   int64    `json:"duplicates"`
	Findings     []string `json:"findings"` // their IDs
}

// Row is one percentile of a load on both sides.
type Row struct {
	Percentile string `json:"percentile"`
	// Base and New have a value for each replicate, in the order of Group.
	Base []analysis.Percentile `json:"base"`
	New  []analysis.Percentile `json:"new"`
	// BaseNs and NewNs are the median replicate's, by nearest rank, +Inf where
	// that falls on a message that never came.
	BaseNs Number `json:"base_ns"`
	NewNs  Number `json:"new_ns"`
	Contrast
	// AdjustedP is P after Holm, over all tests of the Result.
	AdjustedP Number  `json:"adjusted_p"`
	Verdict   Verdict `json:"verdict"`
	// Detectable is the smallest ratio above 1 that would have been found four
	// times of five, where runs vary as these did; +Inf where none would.
	Detectable Number `json:"detectable"`
}

// Contrast is by how much two sides differ. NaN is what is not known.
type Contrast struct {
	Method Method `json:"method,omitempty"`
	// Ratio is new to base, with its interval: an end that is open is 0 or +Inf.
	Ratio Number `json:"ratio"`
	Low   Number `json:"low"`
	High  Number `json:"high"`
	P     Number `json:"p"`
	// SmallestP is the smallest P that so many runs can reach; 0 within a run.
	SmallestP Number `json:"smallest_p"`
	// SpreadBase and SpreadNew are standard deviations of the logarithm between
	// the runs of a side, which is about a share of the value.
	SpreadBase Number `json:"spread_base"`
	SpreadNew  Number `json:"spread_new"`
	// Why says what stands in the way of a verdict, or of the interval.
	Why string `json:"why,omitempty"`

	error float64 // of the ratio's logarithm, within a run
	df    int
}

// Point is one quantile of the quantile-ratio curve.
type Point struct {
	Percent float64 `json:"percent"`
	BaseNs  Number  `json:"base_ns"`
	NewNs   Number  `json:"new_ns"`
	Ratio   Number  `json:"ratio"`
	Low     Number  `json:"low"`
	High    Number  `json:"high"`
}
