package rawlog

// LoopTail is the value of Step.Loop where messages were received that others
// sent: there is no table sent, and only the stamps that they carry say how old
// they were. Producer is 0 in the rows of received, and seq the place of a
// message in the order of its partition, from 0 where the tail began: rows
// without an identity cannot be told to be lost or repeated.
const LoopTail = "tail"

// Tail is what a step tailed.
type Tail struct {
	Table  string `json:"table"`  // address, without secrets
	Column string `json:"column"` // of the payload
	// Stamp is the kind of the stamps: "column", "commit", or empty where there
	// are none; StampColumn is the column, StampType its type in the table.
	Stamp       string `json:"stamp,omitempty"`
	StampColumn string `json:"stamp_column,omitempty"`
	StampType   string `json:"stamp_type,omitempty"`
	// ResolutionNs is the step in which stamps count: so much a latency can be
	// too long, since stamps are cut and not rounded.
	ResolutionNs int64  `json:"resolution_ns,omitempty"`
	Start        string `json:"start"` // as it was asked for
	// Present is the newest version when the tail began, −1 for none: rows up to
	// it were there already, and their age is no latency.
	Present int64 `json:"present"`
	// PresentRows and Unstamped were received and have no latency: they were
	// there already, or carry no stamp.
	PresentRows int64 `json:"present_rows"`
	Unstamped   int64 `json:"unstamped"`
	// Retractions are rows that took others back, which are no messages.
	Retractions int64 `json:"retractions"`
	// First and Last are the versions that had messages, −1 for none, and
	// Versions how many these were.
	First    int64 `json:"first"`
	Last     int64 `json:"last"`
	Versions int64 `json:"versions"`
	// EndedBy is duration, idle, count, or empty where it was cut off.
	EndedBy string `json:"ended_by,omitempty"`
}
