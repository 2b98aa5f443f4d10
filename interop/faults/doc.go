// Package faults drives programs of ours through a proxy that does to requests
// what networks and stores do, and holds the accounting: nothing lost, nothing
// twice where the queue promises so, memory flat, the run over in time.
package faults
