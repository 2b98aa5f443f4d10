// Package scenario adds an environment and disturbances to a load: commands
// that start and stop what is under test, faults at given times, and what is
// expected of the run.
//
// A scenario file is code that its user runs, with the user's rights. A command
// is a list of arguments; a shell runs only what is written under "shell". The
// package ends exactly the processes that it started, each as a group, also
// after an error or an interrupt. It makes no load and measures nothing: it is
// told what happened, and holds that against what was expected. What cannot be
// decided is said, and is not held.
package scenario

import (
	"time"

	"queuebench/internal/yamlfile"
)

// Defaults of what a file leaves unsaid.
const (
	DefaultReady   = 30 * time.Second // until a process is ready
	DefaultTimeout = time.Minute      // of a command that runs to its end
	DefaultGrace   = 5 * time.Second  // between SIGTERM and SIGKILL
	DefaultOutput  = 64 << 10         // bytes kept of a command's output
	MaxOutput      = 16 << 20
	maxParts       = 100 // of the environment, and faults
	maxTime        = 30 * 24 * time.Hour
)

// File is a scenario.
type File struct {
	Path        string
	Name        string
	Description string
	Command     string // of the load: run, sweep, …
	// Workload is the path of a workload file; empty for none. Settings are a
	// workload's, over it; nil for none.
	Workload string
	Settings *yamlfile.Node
	// Options are settings that are switched on one at a time.
	Options []Option

	Ports       []string // free ports of the loopback interface, by name
	Env         []Env    // of every command and of the load itself
	Environment []Part
	Faults      []Fault
	Expect      []Expectation // of every step
}

// Option is an optimisation: what it is off, and what it is on.
type Option struct {
	Name    string
	Line    int
	Off, On *yamlfile.Node // mappings of settings
}

// Env is an environment variable.
type Env struct{ Name, Value string }

// Command is what is run.
type Command struct {
	Args  []string
	Shell string // a text for "sh -c"; Args are empty then
	Line  int
}

// IsZero says that there is no command.
func (c Command) IsZero() bool { return len(c.Args) == 0 && c.Shell == "" }

// Part is a command of the environment. Parts are started in order, and ended
// in the opposite one.
type Part struct {
	Name string
	Line int
	// Start goes on until it is ended; Run is run to its end, with status 0,
	// before the next part.
	Start, Run Command
	Again      Command // starts it after a fault ended it; zero for Start
	Stop       Command // run to end it, before it is signalled
	Directory  string  // absolute
	Env        []Env
	Ready      Ready
	Grace      time.Duration
	Timeout    time.Duration // of Run and Stop
	// Finish is how long after the load it may take to end by itself, with
	// status 0; 0 for a process that is ended.
	Finish time.Duration
	Output int // bytes of it that are kept
}

// Ready is how a process shows that it is ready. Zero: as soon as it started.
type Ready struct {
	TCP     string // host:port that accepts
	HTTP    string // address that answers
	Status  int    // of the answer; 0 for any below 500
	Command Command
	Timeout time.Duration
}

// Fault is a disturbance of each step.
type Fault struct {
	Name string
	Line int
	At   time.Duration // after the load began
	// Signal is sent to Process; with For, SIGCONT follows. With Restart the
	// process is started again so long after it ended.
	Signal  string
	Process string
	Restart time.Duration // negative for none
	// Run is run, and Undo so long as For after it, or when the run ends.
	Run, Undo Command
	For       time.Duration
	Timeout   time.Duration // of Run and Undo
	// Within is the longest time to recover that this fault may take; 0 for
	// none.
	Within time.Duration
}

// Text says in words what the fault does.
func (f *Fault) Text() string {
	text := f.Name
	switch {
	case text != "":
	case f.Signal != "":
		text = "SIG" + f.Signal + " to " + f.Process
	case f.Run.Shell != "":
		text = "a shell command"
	default:
		text = f.Run.Args[0]
	}
	if f.For > 0 {
		text += " for " + f.For.String()
	}
	if f.Restart >= 0 {
		text += ", started again after " + f.Restart.String()
	}
	return text
}

// Process finds the part that starts a process.
func (f *File) Process(name string) *Part {
	for i := range f.Environment {
		if p := &f.Environment[i]; p.Name == name && !p.Start.IsZero() {
			return p
		}
	}
	return nil
}
