// Package clock is the one clock that stamps every stage of a run on a host.
//
// A wall-clock anchor is taken once and the monotonic clock is added to it, so
// that no step of the wall clock can enter a difference between two stamps. Two
// processes of one boot have two anchors, and each records what the monotonic
// clock, which they share, showed at its own: Between puts both on one axis.
// The package refuses to compare clocks of two hosts: what lies between these
// is for an exchange to measure (clock/offset) and for the analysis to say.
package clock

import (
	"os"
	"strings"
	"time"
)

// Identity names a clock.
type Identity struct {
	Host     string `json:"host"`
	BootID   string `json:"boot_id"`   // empty where the system has none
	AnchorNs int64  `json:"anchor_ns"` // wall clock at the anchor, ns since the epoch
	// MonotonicNs is what the system's monotonic clock showed at the anchor, and
	// MonotonicErrorNs by how much it may be wrong, since two clocks cannot be
	// read at once. Both are 0 where the system does not tell.
	MonotonicNs      int64 `json:"monotonic_ns,omitempty"`
	MonotonicErrorNs int64 `json:"monotonic_error_ns,omitempty"`
	// TimeNS is the time namespace (time_namespaces(7)): in each the monotonic
	// clock may be another. Empty where there are none.
	TimeNS string `json:"time_namespace,omitempty"`
}

// SameBoot tells whether two clocks are of one boot of one host, so that both
// follow the same wall clock. Where the system has no boot id the host decides.
func SameBoot(a, b Identity) bool { return a.Host == b.Host && a.BootID == b.BootID }

// Between returns what is to be added to a stamp of b to have that of a, and by
// how much it may be wrong at most, in ns. It is exact, but for the reading of
// the anchors, where both know the monotonic clock. Where they do not, both
// anchors were read from the same wall clock, which may have been set in
// between: then nothing is added and exact is false. ok is false where the
// clocks are not of one boot.
func Between(a, b Identity) (addNs, errorNs int64, exact, ok bool) {
	switch {
	case !SameBoot(a, b):
		return 0, 0, false, false
	case a == b:
		return 0, 0, true, true
	case a.MonotonicNs == 0 || b.MonotonicNs == 0 || a.TimeNS != b.TimeNS:
		return 0, 0, false, true
	}
	return (a.AnchorNs - a.MonotonicNs) - (b.AnchorNs - b.MonotonicNs), a.MonotonicErrorNs + b.MonotonicErrorNs, true, true
}

// Clock returns int64 nanoseconds since the epoch. It is safe for concurrent
// use and never goes back.
type Clock struct {
	anchor time.Time
	base   int64
	id     Identity
}

// New reads the wall clock and anchors a clock to it.
func New() *Clock { return Skewed(0, "") }

// Skewed is New for tests of what must not believe a clock: one that is wrong
// by skew, and of another boot, named boot, if that is not empty.
func Skewed(skew time.Duration, boot string) *Clock {
	now, monotonic, errorNs := anchor()
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	id := Identity{Host: host, BootID: bootID(), AnchorNs: now.UnixNano() + int64(skew), MonotonicNs: monotonic, MonotonicErrorNs: errorNs, TimeNS: timeNamespace()}
	if boot != "" {
		id.BootID = boot
	}
	return &Clock{anchor: now, base: id.AnchorNs, id: id}
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
