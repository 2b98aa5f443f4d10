//go:build unix

package main

import (
	"os/exec"
	"syscall"
	"testing"
)

// What interrupts the group of this program does not reach the programs that it runs.
func TestProgramsOfTestsStandApart(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	apart(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	group, err := syscall.Getpgid(cmd.Process.Pid)
	if err != nil || group != cmd.Process.Pid || group == syscall.Getpgrp() {
		t.Errorf("process %d is in group %d, we are in %d: %v", cmd.Process.Pid, group, syscall.Getpgrp(), err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}
