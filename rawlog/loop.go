package rawlog

// LoopClosed is the value of Step.Loop where there was no schedule: each worker
// began an operation when the one before it was done. The intended time of an
// operation is when it began, and coordinated omission is possible.
const LoopClosed = "closed"

// The modes of a closed loop. The latency of each is that of an operation.
const (
	ModeProduce  = "produce"    // send → acknowledgement
	ModeConsume  = "consume"    // the call of a poll → its return, of a queue that was filled before
	ModeEndToEnd = "end-to-end" // send → receipt by each group
)

// Drain is how a backlog was drained.
type Drain struct {
	ReleasedNs int64 `json:"released_ns"`          // the consumers, which had been held, began to receive
	DrainedNs  int64 `json:"drained_ns,omitempty"` // the backlog was gone; 0 where it was not before the deadline
	// Backlog is what was acknowledged and not received at the release, Gone
	// what could be so when the backlog was called gone, and Left what was where
	// it was not.
	Backlog int64 `json:"backlog"`
	Gone    int64 `json:"gone_at"`
	Left    int64 `json:"left,omitempty"`
	// Received is by the slowest group, from the release on, and PerSecond its
	// rate.
	Received  int64   `json:"received"`
	PerSecond float64 `json:"per_second"`
	// Continued says that the load went on.
	Continued bool `json:"continued"`
}
