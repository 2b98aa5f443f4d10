//go:build unix

package scenario

import (
	"errors"
	"maps"
	"slices"
	"syscall"
)

var signals = map[string]syscall.Signal{
	"STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT, "KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM,
	"INT": syscall.SIGINT, "HUP": syscall.SIGHUP, "USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2,
}

func knownSignal(name string) bool { _, ok := signals[name]; return ok }

func signalNames() []string { return slices.Sorted(maps.Keys(signals)) }

// signalGroup sends a signal to all processes of a group. That none is left is
// no error.
func signalGroup(leader int, name string) error {
	if err := syscall.Kill(-leader, signals[name]); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}
