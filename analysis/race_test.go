//go:build race

package analysis

// raced tells that the race detector is on, under which memory and time are other
// than a user's.
const raced = true
