package texts

// How it was measured.
const (
	Measured         = "How it was measured"
	Queue            = "Queue"
	StoreOfQueue     = "Store of the queue"
	StoreOfLog       = "Store of the raw log"
	Machine          = "Machine"
	Clock            = "Clock"
	Program          = "Program"
	ImportedFile     = "Imported"
	WarningsOfRunner = "Warnings of the runner"

	Kind           = "kind"
	Partitions     = "partitions"
	AckMeans       = "an acknowledgement means"
	CommitInterval = "commit interval"
	Promises       = "promises"
	Address        = "address"
	Durability     = "durability"
	ServedBy       = "served by"
	EmbeddedServer = "the embedded server: an in-process floor"
	HostName       = "host"
	CPUs           = "processors"
	Memory         = "memory"
	System         = "system"
	Boot           = "boot"
	AnchoredAt     = "anchored at"
	ClockKind      = "one wall-clock anchor, monotonic from there on"
	RecordedBy     = "recorded by"
	BuiltWith      = "built with"
	Started        = "started"
	Ended          = "ended"
	File           = "file"
	Format         = "format"
	PercentilesOf  = "percentiles"

	LosesNothing = "loses nothing that it acknowledged"
	DeliversOnce = "delivers no message twice"
)

// AllSettings is the line that opens them.
func AllSettings(n int) string { return "All " + plural(n, "setting", "settings") + " of the run" }
