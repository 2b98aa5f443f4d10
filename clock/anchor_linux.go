package clock

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// anchorTries is how often the two clocks are read for one pair that lies close
// together: what is tried in 20 µs, of which the best took 0.1 to 0.3 µs.
const anchorTries = 32

// anchor reads the wall clock together with CLOCK_MONOTONIC, on which Go's own
// monotonic time runs, and says by how much the second may be wrong.
func anchor() (now time.Time, monotonic, errorNs int64) {
	best := int64(-1)
	for range anchorTries {
		before := readMonotonic()
		t := time.Now()
		after := readMonotonic()
		if before == 0 || after == 0 {
			return t, 0, 0
		}
		if took := after - before; best < 0 || took < best {
			best, now, monotonic = took, t, before+took/2
		}
	}
	return now, monotonic, best/2 + 1
}

func readMonotonic() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return t.Nano()
}

func timeNamespace() string {
	name, err := os.Readlink("/proc/self/ns/time")
	if err != nil {
		return ""
	}
	return name
}
