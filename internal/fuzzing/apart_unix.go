//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// apart gives a program a process group of its own, which a terminal's interrupt of
// ours does not reach.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
