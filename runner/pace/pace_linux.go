package pace

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

const precise = true

// prepare locks the thread and takes its timer slack away. Where the system
// refuses that, sleeps are 50 µs longer, which shows as send lag.
func prepare() (undo func()) {
	runtime.LockOSThread()
	old, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err == nil {
		err = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	}
	return func() {
		if err == nil {
			_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(old), 0, 0, 0) // it only makes later sleeps exact
		}
		runtime.UnlockOSThread()
	}
}

// sleep may end early, by a signal: the caller looks at the clock.
func sleep(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil)
}
