package analysis

import (
	"time"

	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/stats"
)

// SummarySchema is the schema of the JSON that a Summary makes.
const SummarySchema = "queuebench.summary/1"

// Summary is a run under a View: what `analyze summary --json` prints.
type Summary struct {
	Schema   string `json:"schema"`
	Run      string `json:"run"`
	Complete bool   `json:"complete"`

	StartedNs int64            `json:"started_ns"`
	Queue     queue.Info       `json:"queue"`
	Store     rawlog.StoreInfo `json:"store"`
	LogStore  rawlog.StoreInfo `json:"log_store"`
	Host      rawlog.Host      `json:"host"`
	Program   rawlog.Program   `json:"program"`
	// Processes recorded the run, where it was more than one.
	Processes []rawlog.Process `json:"processes,omitempty"`
	// Warnings are the runner's own.
	Warnings []string `json:"warnings"`

	Steps []StepSummary `json:"steps"`
	// Scaling is the throughput against each setting that steps have of their own
	// and that is a number, where more than the rate limits it.
	Scaling []Scaling `json:"scaling,omitempty"`
	// Imports say what files of other tools the steps are from.
	Imports []rawlog.Import `json:"imports,omitempty"`
	// References are what others say, to stand beside the steps; nothing in
	// them was computed here.
	References []Reference `json:"references,omitempty"`
	// Findings about the run as a whole, the gravest first.
	Findings []Finding `json:"findings"`
}

// StepSummary is one repeat of one step under a View.
type StepSummary struct {
	Step   int     `json:"step"`
	Rate   float64 `json:"rate"`
	Repeat int     `json:"repeat"`
	// Variant is what sets this step apart from others of the run beside its
	// rate: "consumers 2, partitions 4"; empty where nothing does.
	Variant string `json:"variant,omitempty"`
	// Settings of the run by their flag's name, and of the step where it has
	// its own.
	Settings map[string]string `json:"settings"`
	Complete bool              `json:"complete"`
	Failure  string            `json:"failure,omitempty"`
	// Durability is what an acknowledgement means in this step.
	Durability string `json:"durability,omitempty"`
	// Loop is of a closed loop, Drain of a backlog that was drained; nil of
	// others.
	Loop  *Loop         `json:"closed_loop,omitempty"`
	Drain *rawlog.Drain `json:"drain,omitempty"`
	// Stages say where a message's time went; nil of a queue that tells none.
	Stages *Stages `json:"stages,omitempty"`
	// Tail is of a step that tailed messages of others; nil of others.
	Tail *Tailed `json:"tail,omitempty"`
	// Imported: another tool measured the step.
	Imported bool `json:"imported,omitempty"`
	// WarmupNs was cut; WarmupRule says by which rule.
	WarmupNs   int64  `json:"warmup_ns"`
	WarmupRule string `json:"warmup_rule"`
	// CooldownNs was cut from the end.
	CooldownNs int64 `json:"cooldown_ns,omitempty"`
	// Window is the part of the step that was looked at, where a view has one.
	Window *Window `json:"window,omitempty"`
	// SteadyNs is where the latency had settled, since the step's start, whatever
	// was cut; absent where that cannot be told.
	SteadyNs   *int64                    `json:"steady_ns,omitempty"`
	DurationNs int64                     `json:"duration_ns"`
	IntervalNs int64                     `json:"interval_ns"`
	Accounting Accounting                `json:"accounting"`
	Throughput Throughput                `json:"throughput"`
	Latencies  map[string]LatencySummary `json:"latencies"` // by Kind.String()
	// Untrimmed has the same without any cut.
	Untrimmed map[string]LatencySummary `json:"untrimmed"`
	// Levels and resources after the cut, by their column's name in the table
	// seconds.
	Levels map[string]Level `json:"levels,omitempty"`
	// LevelsEveryNs is over how long a value of Levels is, where a digest has joined
	// the seconds of a long step: the largest count of a second was higher then, and
	// a level is that at the end of each such stretch. Absent where it is a second.
	LevelsEveryNs int64 `json:"levels_every_ns,omitempty"`
	// Breakdown is by producer, consumer, group and partition, where there are
	// several.
	Breakdown *BreakdownSummary `json:"breakdown,omitempty"`
	// Recoveries has one entry for each fault that struck the step.
	Recoveries []Recovery `json:"recoveries,omitempty"`
	Stamps     Stamps     `json:"stamps"`
	Findings   []Finding  `json:"findings"`

	groups int // of consumers; 0 where it is not known
}

// Window is a part of a step, by intended time since its start: what a view's
// window leaves after the warm-up and before the cool-down, at the edges of
// intervals. Latencies, levels, throughput, records used and trimmed are those of
// it; the other counts are of the whole step.
type Window struct {
	FromNs int64 `json:"from_ns"`
	ToNs   int64 `json:"to_ns"`
}

// KeptNs is the part of the step that the numbers are of, in ns since its start.
func (x *StepSummary) KeptNs() (from, to int64) {
	if x.Window != nil {
		return x.Window.FromNs, x.Window.ToNs
	}
	return x.WarmupNs, x.DurationNs - x.CooldownNs
}

// Throughput is of the first deliveries in the whole seconds after the cut,
// all consumer groups together.
type Throughput struct {
	ReceivedPerS float64 `json:"received_per_s"`
	SD           float64 `json:"sd"`
	CoV          float64 `json:"cov"`     // sd / mean
	Seconds      int     `json:"seconds"` // so many; 0: the mean of the whole step
}

// Level is a column of the table seconds after the cut: of what is counted, per
// second.
type Level struct {
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
	CoV  float64 `json:"cov"` // sd / mean
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
	Last float64 `json:"last"`
	// PerSecond: a count of a second; else a level at its end, or the largest
	// value in it.
	PerSecond bool `json:"per_second"`
}

// BreakdownSummary has the latencies of a step by what a message passed
// through.
type BreakdownSummary struct {
	// FromNs and ToNs are the part of the schedule that it covers, since the
	// step's start: the cut under which the raw log was read.
	FromNs int64          `json:"from_ns"`
	ToNs   int64          `json:"to_ns"`
	Shares []ShareSummary `json:"shares"`
	// Left counts latencies that no share has.
	Left int64 `json:"left,omitempty"`
}

// ShareSummary is what has one key of a dimension.
type ShareSummary struct {
	By     string `json:"by"` // producer, consumer, group or partition
	Key    string `json:"key"`
	Folded int    `json:"folded,omitempty"` // number of keys that "others" gathers
	// Latencies by Kind.String(). Those by consumer and partition have no
	// infinite ones: of a message that never came neither is known.
	Latencies map[string]LatencySummary `json:"latencies"`
}

// Recovery is how a step recovered from a fault.
type Recovery struct {
	AtNs int64  `json:"at_ns"` // since the step's start
	Text string `json:"text"`
	// LevelNs is the p99 of a second before the fault; 0 where there were too few
	// whole seconds before it to tell. Nothing else is told then.
	LevelNs   int64 `json:"level_p99_ns"`
	Recovered bool  `json:"recovered"`
	// AfterNs is the time to recover, or the least that it can be where the step
	// ended before, or with NextFault another fault struck.
	AfterNs   int64 `json:"after_ns"`
	NextFault bool  `json:"next_fault,omitempty"`
	// Consistent: nothing was lost in the step and nothing came twice.
	Consistent bool `json:"consistent"`
}

// LatencySummary is one latency after the cut. With N = 0 the rest means
// nothing and is printed as a dash.
type LatencySummary struct {
	N        int64 `json:"n"` // finite and infinite
	Infinite int64 `json:"infinite"`
	MinNs    int64 `json:"min_ns"`
	MeanNs   int64 `json:"mean_ns"`
	MaxNs    int64 `json:"max_ns"`
	// Percentiles by their percent as text: "50", "99.9".
	Percentiles map[string]Percentile `json:"percentiles"`
}

// Percentile is a nearest-rank percentile.
type Percentile struct {
	Ns int64 `json:"ns"`
	// Supported: enough messages and blocks stand behind it. Text shows a
	// dash where they do not.
	Supported bool `json:"supported"`
	// Beyond: the rank falls on a message that never came; Ns is then the
	// drain deadline, a lower bound, printed as "> deadline".
	Beyond bool `json:"beyond,omitempty"`
	// Imported: of data that another tool measured, which is shown whatever
	// stands behind it.
	Imported bool `json:"imported,omitempty"`
	// LowNs and HighNs are the 95 % interval of what another stretch of the same run
	// would have given; both 0 where there is none: see docs/method.md.
	LowNs  int64 `json:"low_ns,omitempty"`
	HighNs int64 `json:"high_ns,omitempty"`
}

// Severity grades a finding.
type Severity string

// The severities, the gravest first.
const (
	Failure Severity = "failure" // the queue broke a promise, or the run failed
	Warning Severity = "warning" // the numbers do not mean what they seem to
	Note    Severity = "note"    // good to know
)

// Finding is something that the numbers mean.
type Finding struct {
	ID       string   `json:"id"` // kebab-case, also the anchor in docs/tuning.md
	Severity Severity `json:"severity"`
	Text     string   `json:"text"`   // one sentence with the numbers in it
	Advice   string   `json:"advice"` // what to do
	// Numbers behind it, by name; their unit ends the name (_ns, _per_s).
	Numbers map[string]float64 `json:"numbers,omitempty"`
	// Tuning is the section that says what to turn.
	Tuning string `json:"tuning"`
}

// Series is a step over time under a View, at the digest's resolution.
type Series struct {
	Step, Repeat int
	Rate         float64
	Load         Load
	Kind         Kind
	Warmup       time.Duration
	Duration     time.Duration
	Window       *Window `json:",omitempty"` // that the numbers of the view are of; nil for all after the cut
	// Cumulative: each point is of all that was intended from the warm-up until
	// its end.
	Cumulative  bool
	Percentiles []float64
	Points      []Point
	Marks       []Mark
	// Slowest are messages of the end-to-end latency that took long.
	Slowest []SlowMessage `json:",omitempty"`
}

// Point is an interval of a Series. With N = 0 it is a blank, never a zero.
type Point struct {
	Start, End time.Duration
	N          int64
	// Ns is one value for each of Series.Percentiles; −1 where the rank falls
	// on a message that never came.
	Ns           []int64
	MinNs, MaxNs int64 // of the messages that came
	// Latency is the histogram of these, which shares the digest's memory; none
	// in a cumulative series.
	Latency stats.Compact `json:"-"`
}
