// Package cputimetest tells benchmarks the processor time of their process, and fails
// them where there is none to tell. It is a part of tests alone.
package cputimetest

import (
	"testing"
	"time"

	"queuebench/internal/cputime"
)

// Used is the processor time of this process until now. What a server in a process of
// its own takes is not in it.
func Used(b testing.TB) time.Duration {
	b.Helper()
	used, known := cputime.Self()
	if !known {
		b.Fatal("the system tells no processor time: measure on Linux, macOS, Windows or in Node")
	}
	return used
}
