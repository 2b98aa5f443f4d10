// Package cputime tells how much processor time this process has used, on every system
// that the programs and their benchmarks run on. It knows nothing of other processes,
// and nothing of the machine.
package cputime

import "time"

// Self is the processor time of this process until now, of user and system together, with
// all its threads; known is false where the system does not tell. Unlike the time of a
// clock it holds on a machine that is shared.
func Self() (used time.Duration, known bool) { return self() }
