// Package faults drives programs of ours through what networks, servers, disks and
// people do to them, and holds the accounting: nothing lost, nothing twice where the
// queue promises so, memory flat, the run over in time, and where it cannot go on a
// clear end with a log that can be read.
//
// `make test` does a little of each; `make faults`, `make kills` and `make soak` do
// all of it.
package faults
