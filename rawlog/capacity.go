package rawlog

// Capacity is what a search for the highest rate that holds came to. Its tries
// are steps of the run.
type Capacity struct {
	// Converged says that Rate is the answer; Reason says why there is none.
	Converged bool    `json:"converged"`
	Rate      float64 `json:"rate,omitempty"` // messages per second, all producers together
	Reason    string  `json:"reason,omitempty"`

	// Held is the highest rate that held, NotHeld the lowest above it that did
	// not, with its reason; 0 where there is none.
	Held    float64 `json:"held,omitempty"`
	NotHeld float64 `json:"not_held,omitempty"`
	Why     string  `json:"why,omitempty"`

	Tolerance float64 `json:"tolerance"`  // relative
	StepNs    int64   `json:"step_ns"`    // length of a try
	ConfirmNs int64   `json:"confirm_ns"` // length of one that confirms

	Tries    []CapacityTry `json:"tries"`
	Warnings []string      `json:"warnings,omitempty"`
}

// CapacityTry is a step of a search.
type CapacityTry struct {
	Step    int     `json:"step"`
	Rate    float64 `json:"rate"`
	Confirm bool    `json:"confirm"` // the long run that confirms
	Held    bool    `json:"held"`
	Why     string  `json:"why,omitempty"` // not held
	// PerSecond and Z are the slope of the messages that were due and not
	// received, and the Mann–Kendall score of its trend.
	PerSecond float64 `json:"growth_per_s"`
	Z         float64 `json:"z"`
}
