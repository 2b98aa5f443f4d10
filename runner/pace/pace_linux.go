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

// TimerSlack is by how much the kernel may lengthen a sleep, ns: of the calling
// goroutine's thread as it is, and once a precise waiter has prepared it.
func TimerSlack() (ordinary, prepared int64, known bool) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		return 0, 0, false
	}
	undo := prepare()
	defer undo()
	after, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	return int64(before), int64(after), err == nil
}

// sleep may end early, by a signal: the caller looks at the clock.
func sleep(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil)
}
