package rawlog

// Calibration is what a run found out about its own instrument, on its machine,
// before the first step. Durations are in ns.
type Calibration struct {
	TookNs int64 `json:"took_ns"`

	// Wait is how late the waiter of the load generator was, without a queue.
	Wait WaitLag `json:"wait"`
	// ClockReadNs is what one reading of the run's clock costs, and
	// ClockResolutionNs the smallest step between two different readings.
	ClockReadNs       float64 `json:"clock_read_ns"`
	ClockResolutionNs int64   `json:"clock_resolution_ns"`
	ClockSource       string  `json:"clock_source,omitempty"` // of the kernel, where it tells
	// TimerSlackNs is by how much the kernel may lengthen a sleep of the
	// waiter's thread, DefaultSlackNs by how much that of any other thread;
	// null where the system does not tell.
	TimerSlackNs   *int64 `json:"timer_slack_ns"`
	DefaultSlackNs *int64 `json:"default_timer_slack_ns"`
	// StealPercent is the part of all processors' time that the hypervisor
	// withheld meanwhile, in [0,100]; null where the system does not tell.
	StealPercent *float64 `json:"steal_percent"`
	// ThrottledNs is how long the control group's quota held this process up
	// meanwhile; null where there is none.
	ThrottledNs *int64 `json:"throttled_ns"`
}

// WaitLag is a distribution of wake-up − intended.
type WaitLag struct {
	Pacing string  `json:"pacing"` // "precise", or "sleep" for time.Sleep alone
	Rate   float64 `json:"rate"`   // waits per second
	N      int64   `json:"n"`
	P50Ns  int64   `json:"p50_ns"` // nearest rank, as all of them
	P90Ns  int64   `json:"p90_ns"`
	P99Ns  int64   `json:"p99_ns"`
	P999Ns int64   `json:"p99_9_ns"`
	MaxNs  int64   `json:"max_ns"`
}
