package rawlog

import (
	"encoding/json"
	"strings"

	"queuebench/clock"
	"queuebench/queue"
)

// ManifestName is the name of a run's manifest below its prefix.
const ManifestName = "run.json"

// ManifestNameOf is the name of the manifest of a process below the run's
// prefix: run.json, or run-PROCESS.json where a run has several processes.
func ManifestNameOf(process string) string {
	if process == "" {
		return ManifestName
	}
	return "run-" + process + ".json"
}

// IsManifestName tells whether an object's name is that of a manifest.
func IsManifestName(name string) bool {
	return name == ManifestName || strings.HasPrefix(name, "run-") && strings.HasSuffix(name, ".json") && safeName(name) && !strings.Contains(name, "/")
}

// Name is the manifest's name below the run's prefix.
func (m *Manifest) Name() string { return ManifestNameOf(m.Process) }

// Manifest is run.json. It is written when a run begins (complete false), after
// each step, and when the run ends.
type Manifest struct {
	Schema   string `json:"schema"` // SchemaVersion
	Run      string `json:"run"`    // run id: also the last element of its prefix
	Complete bool   `json:"complete"`
	// Reason says why a run that has ended is not complete: "interrupted", …
	Reason string `json:"reason,omitempty"`

	// Process is the name of the process that recorded this, where a run is
	// recorded by several and each has a manifest and actors of its own;
	// empty where one recorded it all. Role is its part in the run then.
	Process string `json:"process,omitempty"`
	Role    Role   `json:"role,omitempty"`

	Program Program        `json:"program"`
	Host    Host           `json:"host"`
	Clock   clock.Identity `json:"clock"`

	StartedNs int64 `json:"started_ns"`
	EndedNs   int64 `json:"ended_ns,omitempty"`

	Queue queue.Info `json:"queue"`
	// Consumed is the queue that the consumers read, where a pipeline lies
	// between it and Queue; nil where they read Queue.
	Consumed *queue.Info `json:"consumed,omitempty"`
	// Store and LogStore say where the queue's objects and the log lie.
	Store    StoreInfo `json:"store"`
	LogStore StoreInfo `json:"log_store"`

	// Settings are all settings of the run by their flag's name, as text.
	Settings map[string]string `json:"settings"`
	// Calibration is of this run's own instrument; nil where it was left out.
	Calibration *Calibration `json:"calibration,omitempty"`
	// Warnings were found before or while it ran, in words.
	Warnings []string `json:"warnings"`

	Steps []Step `json:"steps"`
	// Capacity is what the run found, where it searched one.
	Capacity *Capacity `json:"capacity,omitempty"`

	// Missing are the processes of the run that had not come when it began.
	Missing []string `json:"missing,omitempty"`
	// Begin is what the producers' begin mark told a consume half.
	Begin json.RawMessage `json:"begin,omitempty"`
	// ClockOffsets are between the process's clock and others, by exchange.
	ClockOffsets []ClockOffset `json:"clock_offsets,omitempty"`
	// Processes are what a run's log was joined from; empty where one process
	// recorded it. It is made by the analysis and stands in digests only.
	Processes []Process `json:"processes,omitempty"`
	// Imports say what files of other tools the numbers are from; empty of runs
	// that bench recorded. They are made by the importer and stand in digests
	// only.
	Imports []Import `json:"imports,omitempty"`
}

// Import is a file of another tool, and what its numbers mean.
type Import struct {
	File   string `json:"file"`
	Format string `json:"format"`
	// Latency says from what to what the tool measures.
	Latency string `json:"latency"`
	// Percentiles says who computed them, and by which definition.
	Percentiles string `json:"percentiles"`
	// Notes are what else a reader of the numbers must know.
	Notes []string `json:"notes,omitempty"`
}

// Role is the part of a process in a run.
type Role string

// The roles.
const (
	RoleAll     Role = ""        // produces and consumes
	RoleProduce Role = "produce" // sends only
	RoleConsume Role = "consume" // receives only
)

// Process is one of the processes that recorded a run.
type Process struct {
	Name      string         `json:"name"`
	Role      Role           `json:"role"`
	Host      Host           `json:"host"`
	Clock     clock.Identity `json:"clock"`
	StartedNs int64          `json:"started_ns"`
	EndedNs   int64          `json:"ended_ns,omitempty"`
	Complete  bool           `json:"complete"`
	Reason    string         `json:"reason,omitempty"`
}

// ClockOffset is what exchanges with a peer said of its clock.
type ClockOffset struct {
	Own    clock.Identity `json:"own"`
	Peer   clock.Identity `json:"peer"`
	Points []OffsetPoint  `json:"points"` // in order of their time
}

// OffsetPoint is one measurement: at AtNs of the own clock the peer's showed
// OffsetNs more, give or take ErrorNs, which is a bound and no deviation.
type OffsetPoint struct {
	AtNs     int64 `json:"at_ns"`
	OffsetNs int64 `json:"offset_ns"`
	ErrorNs  int64 `json:"error_ns"`
}

// Program says what recorded the run.
type Program struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Go      string `json:"go"`
}

// Host says where.
type Host struct {
	Name        string `json:"name"`
	OS          string `json:"os"`
	Arch        string `json:"arch"`
	Kernel      string `json:"kernel,omitempty"`
	CPUs        int    `json:"cpus"`
	CPUModel    string `json:"cpu_model,omitempty"`
	MemoryBytes int64  `json:"memory_bytes,omitempty"`
}

// StoreInfo describes a store without any secret.
type StoreInfo struct {
	Address    string `json:"address"`    // folder, or s3://bucket/prefix?endpoint=…&region=…
	Durability string `json:"durability"` // one sentence
	Embedded   bool   `json:"embedded"`   // the embedded server: an in-process floor
}

// Step is one repeat of one rate step.
type Step struct {
	Step     int               `json:"step"`
	Repeat   int               `json:"repeat"`
	Rate     float64           `json:"rate"` // messages per second, all producers together
	Settings map[string]string `json:"settings"`
	// Arrivals is how the messages of the schedule lie: constant, poisson,
	// jitter, burst or pathway-burst; empty in logs that are older than it.
	Arrivals string `json:"arrivals,omitempty"`
	// RateProfile is the rate over time where it changes, as --rate-profile
	// reads it: the rate above is its mean.
	RateProfile string `json:"rate_profile,omitempty"`

	// Loop is LoopClosed where operations followed each other, LoopTail where
	// messages of others were received, and empty where a schedule was followed.
	// In a closed loop Mode, Workers and Concurrency say who operated,
	// and Rate is what they reached: operations per second after the warm-up.
	Loop             string `json:"loop,omitempty"`
	Mode             string `json:"mode,omitempty"`
	Workers          int    `json:"workers,omitempty"`
	Concurrency      int    `json:"concurrency,omitempty"` // operations under way, of each worker
	Operations       int64  `json:"operations,omitempty"`  // asked for, after those of the warm-up
	WarmupOperations int64  `json:"warmup_operations,omitempty"`
	// WarmupNs is where the warm-up ends that was asked for, since StartedNs: in
	// a closed loop the first operation that counts. It is what the analysis
	// cuts by default.
	WarmupNs int64 `json:"warmup_ns,omitempty"`
	// Tail says what was tailed, where Loop is LoopTail.
	Tail *Tail `json:"tail,omitempty"`
	// Imported says that another tool measured the step: its latency is the
	// tool's own, and no schedule is known.
	Imported bool `json:"imported,omitempty"`
	// Drain is how a backlog was drained, of a step that measured that.
	Drain *Drain `json:"drain,omitempty"`

	StartedNs  int64 `json:"started_ns"`  // index 0 of the schedule
	DurationNs int64 `json:"duration_ns"` // of the schedule
	DeadlineNs int64 `json:"deadline_ns"` // when the drain ends at the latest
	EndedNs    int64 `json:"ended_ns,omitempty"`
	// CutOffNs is when the step was cut off before its drain had ended, by an
	// interrupt or by an actor that could not go on; 0 where it was not. What
	// lies beyond the watermarks of its parts is unknown then, although each
	// actor has a last part.
	CutOffNs int64 `json:"cut_off_ns,omitempty"`

	Producers int      `json:"producers"`
	Groups    []string `json:"groups"`
	// SharedGroups: consumers of several processes are members of these groups, so
	// that what one of them received is none of its own that another lacks.
	SharedGroups bool `json:"shared_groups,omitempty"`
	// Durability is what an acknowledgement means in this step, as in Manifest.Queue;
	// empty in logs that are older than it.
	Durability string `json:"durability,omitempty"`

	Complete   bool       `json:"complete"`
	Failure    string     `json:"failure,omitempty"` // why it failed, in words
	Accounting Accounting `json:"accounting"`
	// Requests to the queue's store by kind, over the step.
	Requests map[string]int64 `json:"requests,omitempty"`
	// Cost is what they cost; nil where there is no store, or no message was
	// acknowledged.
	Cost  *Cost      `json:"cost,omitempty"`
	Parts []PartInfo `json:"parts"`
}

// Cost is what the requests of a step cost. The requests of opening and closing
// the queue are in it.
type Cost struct {
	Prices string `json:"prices"` // the name of the table
	// Both are per million acknowledged messages.
	RequestsPerMillion float64 `json:"requests_per_million"`
	DollarsPerMillion  float64 `json:"dollars_per_million"`
}

// Accounting is the runner's own count of a step. The analysis counts again
// from the rows, and a difference between the two is an error of ours.
type Accounting struct {
	Scheduled   int64 `json:"scheduled"`
	Attempted   int64 `json:"attempted"`
	Acked       int64 `json:"acked"`
	Failed      int64 `json:"failed"`
	Unconfirmed int64 `json:"unconfirmed"`
	Overrun     int64 `json:"overrun"`
	Received    int64 `json:"received"` // distinct messages of the worst group
	Lost        int64 `json:"lost"`     // summed over groups, as are the rest
	// Unknown messages were acknowledged and not received when the step was cut
	// off: nobody waited for them until the deadline. Lost is 0 then.
	Unknown    int64 `json:"unknown,omitempty"`
	Duplicates int64 `json:"duplicates"`
	OutOfOrder int64 `json:"out_of_order"`
	Foreign    int64 `json:"foreign"` // deliveries that are no message of this step
}

// PartInfo names a closed part.
type PartInfo struct {
	Name  string `json:"name"` // relative to run.json
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"`
	Part
}

// Part is the identity of a part, stored in its Parquet metadata as JSON under
// the key PartKey.
type Part struct {
	Schema string         `json:"schema"` // SchemaVersion
	Run    string         `json:"run"`
	Table  string         `json:"table"`
	Step   int            `json:"step"`
	Repeat int            `json:"repeat"`
	Actor  string         `json:"actor"` // producer-N, consumer-N, or the process
	Index  int            `json:"index"` // of this actor's parts of this table, from 0
	Clock  clock.Identity `json:"clock"`
	// WatermarkNs: every row of this actor and table that lies before it (by
	// intended_ns in sent, by its time elsewhere) is in this part or in one
	// with a lower index.
	WatermarkNs int64 `json:"watermark_ns"`
	// Last marks the actor's last part of this table in this step.
	Last bool `json:"last"`
}

// PartKey is the key of a part's identity in its Parquet metadata.
const PartKey = "queuebench.part"

// FooterKey is the key of the footer's checksum in a part's Parquet metadata: CRC-32
// (IEEE) of the footer's bytes in which the checksum itself is FooterNone, in
// hexadecimal. Parquet has one for pages only.
const (
	FooterKey  = "queuebench.footer_crc32"
	FooterNone = "00000000"
)
