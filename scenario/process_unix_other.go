//go:build unix && !linux

package scenario

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a process the leader of a group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// awaitEnd is false: only Linux tells of an end without reaping. What a process
// leaves behind in its group is then ended only together with it.
func awaitEnd(int) bool { return false }
