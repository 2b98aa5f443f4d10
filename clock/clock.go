// Package clock is the one clock that stamps every stage of a run on a host.
//
// A wall-clock anchor is taken once and the monotonic clock is added to it, so
// that no step of the wall clock can enter a difference between two stamps.
// The package refuses to compare clocks: two processes have two anchors, and
// what lies between them is for the analysis to estimate and to say.
package clock

import (
	"os"
	"strings"
	"time"
)

// Identity names a clock. Two stamps may be subtracted without an offset only
// if they carry the same identity, or the same host and boot with anchors that
// were both read from the same wall clock.
type Identity struct {
	Host     string `json:"host"`
	BootID   string `json:"boot_id"`   // empty where the system has none
	AnchorNs int64  `json:"anchor_ns"` // wall clock at the anchor, ns since the epoch
}

// Clock returns int64 nanoseconds since the epoch. It is safe for concurrent
// use and never goes back.
type Clock struct {
	anchor time.Time
	base   int64
	id     Identity
}

// New reads the wall clock once and anchors a clock to it.
func New() *Clock {
	now := time.Now()
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return &Clock{anchor: now, base: now.UnixNano(), id: Identity{Host: host, BootID: bootID(), AnchorNs: now.UnixNano()}}
}

// Now is the anchor plus the monotonic time since.
func (c *Clock) Now() int64 { return c.base + int64(time.Since(c.anchor)) }

// Identity says which clock this is.
func (c *Clock) Identity() Identity { return c.id }

func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
