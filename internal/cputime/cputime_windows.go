package cputime

import (
	"syscall"
	"time"
)

// self has the ticks of the system's clock, of some 16 ms.
func self() (time.Duration, bool) {
	process, err := syscall.GetCurrentProcess() // a constant, not to be closed
	if err != nil {
		return 0, false
	}
	var created, exited, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(process, &created, &exited, &kernel, &user); err != nil {
		return 0, false
	}
	return ticks(kernel) + ticks(user), true
}

// ticks is a duration, which Windows writes as a number of 100 ns.
func ticks(t syscall.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32+int64(t.LowDateTime)) * 100
}
