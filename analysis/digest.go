// Package analysis reads raw logs, joins what was sent with what was received,
// cuts the warm-up, counts, and says what the numbers mean.
//
// Everything goes one way: raw log → Digest (histograms per interval) →
// Summary and Series under a View. A digest is all that a page needs, and a
// summary from the raw log is computed through a digest too, so that the two
// cannot disagree. The package runs natively and in WebAssembly; it refuses to
// know stores, files and drawing. Percentiles are never averaged, negative
// latencies never repaired, and lost messages rank as infinite.
package analysis

import (
	"time"

	"queuebench/rawlog"
	"queuebench/stats"
)

// Digest is a run at interval resolution.
type Digest struct {
	// Manifest is the run's own, with Parts left out.
	Manifest rawlog.Manifest
	Steps    []StepDigest
	// References are what others say of a latency, to stand beside the steps.
	References []Reference
}

// StepDigest is one repeat of one step.
type StepDigest struct {
	Step     int
	Repeat   int
	Rate     float64
	Settings map[string]string
	Complete bool
	Failure  string

	// NoEndToEnd says why received and intended times could not be subtracted:
	// clocks of two hosts with no offset between them. Empty where they could.
	NoEndToEnd string

	// EndToEndOnly: no other latency was read, see Options. Such a step is no part
	// of a digest that is written.
	EndToEndOnly bool

	// ClockOffsets are what was added to stamps of clocks of other hosts.
	ClockOffsets []ClockOffset

	StartNs  int64         // the schedule's start, ns since the epoch
	Duration time.Duration // of the schedule
	Interval time.Duration // of the regular grid

	// Accounting is counted from the rows, not copied from the manifest.
	Accounting Accounting

	// Own is the manifest's entry of the step where it says more than a schedule:
	// a closed loop, a drain, a warm-up of its own. nil of others.
	Own *rawlog.Step

	// commitInterval is that of the step, see commitIntervalOf.
	commitInterval time.Duration
	// batches are kept of a step that was read as a span.
	batches *batchSums

	// Fine is what was kept when intervals were added up; nil of a digest that has
	// all of them.
	Fine *Fine

	// Intervals lie on the regular grid from StartNs, cut further at the edges
	// that were asked for, in order, without gaps. A message belongs to the
	// interval of its intended time.
	Intervals []Interval

	// ReceivedPerSecond counts first deliveries by received time, a second
	// each from StartNs on, of all groups together.
	ReceivedPerSecond []int64

	// Breakdown has the latencies of the step by producer, consumer, group and
	// partition.
	Breakdown Breakdown
	// Stamps tell how many messages share one.
	Stamps Stamps

	// Batches of producers and consumers in the step: medians for findings.
	Commits CommitStats
	// Stages of these batches; empty of a queue that tells none.
	Stages []StageStats
	// CommitsPerSecond are the commits of a second each, from StartNs on.
	CommitsPerSecond []CommitSecond
	// Seconds are the series of loads, levels and resources of the step. Told has
	// the names of the columns that any process told; the others are 0.
	Seconds []Second
	Told    []string
	// Events of the step.
	Events []Event
	// Slowest are messages that took long, at most MaxSlowest, the slowest first:
	// see SlowMessage. None of digests that were made before they were kept.
	Slowest []SlowMessage
}

// Interval holds the messages intended in [Start, End) after the step's start.
type Interval struct {
	Start, End time.Duration
	// Latency by Kind. An empty one has no message.
	Latency [NumKinds]stats.Compact
	// Infinite counts the messages that rank as infinite, by Kind: lost and
	// overrun ones for the end-to-end kinds, overrun, failed and unconfirmed
	// ones for publish.
	Infinite [NumKinds]int64
	// Scheduled messages of this interval, of all fates.
	Scheduled int64
	// Parts is of how many intervals with a message this one was added up; 0 is
	// one that was not.
	Parts int64
	// Unknown messages: beyond the watermark of a log that is incomplete.
	Unknown int64
	// OwnLag is the part of the send lag that is the runner's own: how long a
	// message was due and the client free to take it.
	OwnLag stats.Compact
	// Blocked is the sum of the time that the client made the sender wait.
	Blocked time.Duration
}

// Accounting counts the messages of a step, after method.md. Received, lost,
// duplicates and the like are summed over groups.
//
//	scheduled = attempted + overrun + unknown
//	attempted = acked + failed + unconfirmed
type Accounting struct {
	Scheduled       int64 `json:"scheduled"`
	Attempted       int64 `json:"attempted"`
	Acked           int64 `json:"acked"`
	Failed          int64 `json:"failed"`
	Unconfirmed     int64 `json:"unconfirmed"`
	Overrun         int64 `json:"overrun"`
	Received        int64 `json:"received"` // distinct
	Lost            int64 `json:"lost"`     // acked and not received by the deadline
	Duplicates      int64 `json:"duplicates"`
	OutOfOrder      int64 `json:"out_of_order"`
	Negative        int64 `json:"negative"` // negative end-to-end latencies
	Foreign         int64 `json:"foreign"`  // deliveries with no row in sent, and what the runner counted
	Unknown         int64 `json:"unknown"`  // beyond the watermark
	ReceivedUnacked int64 `json:"received_unacked"`
	RecordsUsed     int64 `json:"records_used"`
	RecordsTrimmed  int64 `json:"records_trimmed"`
	RecordsRejected int64 `json:"records_rejected"`
}

// CommitStats describe the commits of a step.
type CommitStats struct {
	Commits      int64 `json:"commits"`
	MedianBytes  int64 `json:"median_bytes"`
	MedianPutNs  int64 `json:"median_data_put_ns"`
	MedianCommit int64 `json:"median_commit_put_ns"`
	// MedianFetchNs is what a reader takes to get a commit and its data.
	MedianFetchNs int64 `json:"median_fetch_ns"`
	Retried       int64 `json:"retried"` // commits that took more than one try
}

// CommitSecond are the commits that were done in one second.
type CommitSecond struct {
	Commits  int64
	Messages int64
	Bytes    int64
	Retried  int64 // took more than one try
	MaxNs    int64 // the longest: PUT of data and commit, retries included
}

// Stamps count how many stamps the deliveries of a step have: a run of
// deliveries of one consumer with the same stamp has one.
type Stamps struct {
	Deliveries int64 `json:"deliveries"`
	Received   int64 `json:"received"` // stamps of the consumer
	// ReceivedUnitNs is the unit in which they count, ns: 1, 1,000, 1,000,000 or
	// 1,000,000,000.
	ReceivedUnitNs int64 `json:"received_unit_ns,omitempty"`
	// Of the broker's stamps, where there are any: deliveries that have one, how
	// many stamps these are, and the unit in which they count, ns: 1, 1,000,
	// 1,000,000 or 1,000,000,000.
	BrokerDeliveries int64 `json:"broker_deliveries,omitempty"`
	Broker           int64 `json:"broker,omitempty"`
	BrokerUnitNs     int64 `json:"broker_unit_ns,omitempty"`
}

// brokerStamp takes a stamp of the broker that differs from the one before.
func (s *Stamps) brokerStamp(ns int64) {
	s.Broker++
	coarsest(&s.BrokerUnitNs, ns)
}

// receivedStamp takes a stamp of the consumer that differs from the one before.
func (s *Stamps) receivedStamp(ns int64) {
	s.Received++
	if s.ReceivedUnitNs != 1 {
		coarsest(&s.ReceivedUnitNs, ns)
	}
}

// coarsest lowers a unit, 0 at first, until a time is a whole number of it.
func coarsest(unit *int64, ns int64) {
	if *unit == 0 {
		*unit = int64(time.Second)
	}
	for *unit > 1 && ns%*unit != 0 {
		*unit /= 1000
	}
}

// Event is a row of the table events.
type Event struct {
	At       time.Duration
	Actor    string
	Kind     string
	Text     string
	Duration time.Duration
}
