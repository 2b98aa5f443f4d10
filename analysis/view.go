package analysis

import "time"

// View is what to look at: the same type is the command line's flags, the
// page's address and the WASM module's argument.
type View struct {
	// Warmup is cut from the start of each step, by intended time. Automatic
	// (the default rule) when nil: 30 s for steps of two minutes and more, a
	// tenth of the step below that.
	Warmup *time.Duration
	// Percentiles in percent, (0,100), ascending.
	Percentiles []float64
	// Kind is the latency drawn in the figures.
	Kind Kind
	// LogScale draws latencies on a logarithmic axis.
	LogScale bool
}

// DefaultPercentiles are shown when none are named.
var DefaultPercentiles = []float64{50, 75, 85, 95, 99, 99.9}

// Kind is one of the latencies.
type Kind int

// The latencies: from → to.
const (
	EndToEnd         Kind = iota // intended → received
	EndToEndFromSend             // sent → received
	Publish                      // intended → acked
	SendLag                      // intended → sent
	BrokerToConsumer             // broker → received, only where the broker stamps
	NumKinds
)

var kindNames = [NumKinds]string{"end_to_end", "end_to_end_from_send", "publish", "send_lag", "broker_to_consumer"}
var kindTitles = [NumKinds]string{"end-to-end", "end-to-end from send", "publish", "send lag", "broker to consumer"}

// String is the kind's name in JSON, digests and addresses.
func (k Kind) String() string { return kindNames[k] }

// Title is the kind's name for people.
func (k Kind) Title() string { return kindTitles[k] }
