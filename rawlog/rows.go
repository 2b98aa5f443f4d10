package rawlog

import (
	"math"

	"queuebench/queue"
)

// Null is the null of a column that may hold any other number: the times and
// counts of SecondRow, BatchRow and EventRow, and what a reader returns in the
// place of a null.
const Null int64 = math.MinInt64

// Status is the fate of a message. The zero value is the one that claims
// nothing.
type Status uint8

// The fates. Their names in the log are StatusUnconfirmed and so on.
const (
	Unconfirmed Status = iota
	Acked
	Failed
	Overrun
	numStatus
)

var statusNames = [numStatus]string{StatusUnconfirmed, StatusAcked, StatusFailed, StatusOverrun}

// String is the value of the column status.
func (s Status) String() string {
	if s >= numStatus {
		return "invalid"
	}
	return statusNames[s]
}

// StatusOf returns the status that the column names, and whether it is one.
func StatusOf(name string) (Status, bool) {
	for s, n := range statusNames {
		if n == name {
			return Status(s), true
		}
	}
	return 0, false
}

// SentRow is a row of the table sent. Times are ns since the epoch.
type SentRow struct {
	Producer   int32
	Seq        int64
	IntendedNs int64
	SentNs     int64 // 0 is null
	AckedNs    int64 // 0 is null
	Status     Status
	BlockedNs  int64
	Partition  int32  // −1 is null
	Offset     int64  // −1 is null
	BrokerNs   int64  // 0 is null
	BrokerKind string // "" is null
}

// ReceivedRow is a row of the table received. Times are ns since the epoch.
type ReceivedRow struct {
	Consumer   int32
	Group      string
	Producer   int32
	Seq        int64
	ReceivedNs int64
	BrokerNs   int64  // 0 is null
	BrokerKind string // "" is null
	Partition  int32  // −1 is null
	Offset     int64  // −1 is null
	PolledNs   int64  // 0 is null
}

// SecondRow is a row of the table seconds. In all columns but the first two,
// Null is null: begin with NewSecondRow.
type SecondRow struct {
	Actor               string
	TimeNs              int64
	Scheduled           int64
	Attempted           int64
	Acked               int64
	Failed              int64
	Received            int64
	ScheduleLagNs       int64
	Backlog             int64
	InFlight            int64
	QueueDepth          int64
	CPUNs               int64
	StealNs             int64
	MemoryBytes         int64
	GCPauseNs           int64
	NetworkInBytes      int64
	NetworkOutBytes     int64
	DiskReadBytes       int64
	DiskWrittenBytes    int64
	DiskUsedBytes       int64
	Connections         int64
	RequestsPut         int64
	RequestsPutIfAbsent int64
	RequestsGet         int64
	RequestsMiss        int64
	RequestsList        int64
	RequestsHead        int64
	RequestsDelete      int64
	RequestsFailed      int64
}

// NewSecondRow returns a row in which everything is null that may be.
func NewSecondRow(actor string, timeNs int64) SecondRow {
	return SecondRow{
		Actor: actor, TimeNs: timeNs,
		Scheduled: Null, Attempted: Null, Acked: Null, Failed: Null, Received: Null,
		ScheduleLagNs: Null, Backlog: Null, InFlight: Null, QueueDepth: Null,
		CPUNs: Null, StealNs: Null, MemoryBytes: Null, GCPauseNs: Null,
		NetworkInBytes: Null, NetworkOutBytes: Null,
		DiskReadBytes: Null, DiskWrittenBytes: Null, DiskUsedBytes: Null, Connections: Null,
		RequestsPut: Null, RequestsPutIfAbsent: Null, RequestsGet: Null, RequestsMiss: Null,
		RequestsList: Null, RequestsHead: Null, RequestsDelete: Null, RequestsFailed: Null,
	}
}

// BatchRow is a row of the table batches. In the stage times Null is null:
// begin with NewBatchRow.
type BatchRow struct {
	Actor       string
	TimeNs      int64
	Partition   int32 // −1 is null
	Offset      int64 // −1 is null
	Messages    int64
	Bytes       int64
	Tries       int64
	WaitNs      int64
	EncodeNs    int64
	DataPutNs   int64
	CommitPutNs int64
	DiscoverNs  int64
	CommitGetNs int64
	DataGetNs   int64
	DecodeNs    int64
	DeliverNs   int64
}

// NewBatchRow is the row of a commit or fetch that a queue reported. Stages
// that it did not measure are null.
func NewBatchRow(actor string, timeNs int64, t queue.Trace) BatchRow {
	row := BatchRow{
		Actor: actor, TimeNs: timeNs, Partition: t.Partition, Offset: t.Offset,
		Messages: int64(t.Messages), Bytes: t.Bytes, Tries: int64(t.Tries),
	}
	for s, column := range [queue.NumStages]*int64{
		queue.StageWait: &row.WaitNs, queue.StageEncode: &row.EncodeNs,
		queue.StageDataPut: &row.DataPutNs, queue.StageCommitPut: &row.CommitPutNs,
		queue.StageDiscover: &row.DiscoverNs, queue.StageCommitGet: &row.CommitGetNs,
		queue.StageDataGet: &row.DataGetNs, queue.StageDecode: &row.DecodeNs,
		queue.StageDeliver: &row.DeliverNs,
	} {
		*column = Null
		if t.Has[s] {
			*column = int64(t.Took[s])
		}
	}
	return row
}

// EventRow is a row of the table events.
type EventRow struct {
	TimeNs     int64
	Actor      string
	Kind       string
	Text       string
	DurationNs int64 // Null is null
}
