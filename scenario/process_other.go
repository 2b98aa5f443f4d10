//go:build !unix

package scenario

import (
	"errors"
	"os"
	"os/exec"
)

// This system knows no groups and no signals but the one that kills.

func knownSignal(name string) bool { return name == "KILL" }

func signalNames() []string { return []string{"KILL"} }

func ownGroup(*exec.Cmd) {}

func awaitEnd(int) bool { return false }

func signalGroup(leader int, name string) error {
	if name == "CONT" {
		return nil // goes with the request to end
	}
	p, err := os.FindProcess(leader)
	if err != nil {
		return nil // it has ended
	}
	if err := p.Kill(); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
