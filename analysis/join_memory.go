package analysis

import (
	"fmt"
	"unsafe"
)

// A join holds what is in flight. A file of a few kilobytes can claim millions of
// messages that all are, so what may be held grows with the bytes that were read:
// a message has 2 to 6 of them in the log, and takes 26 in flight, or 50 where
// its delivery comes before its row.
const (
	// freeBytes is what any log may take: 3 million messages in flight.
	freeBytes = 80 << 20
	// bytesPerByte is what it may take besides for each byte of its parts.
	bytesPerByte = 64

	blockBytes     = int64(unsafe.Sizeof(block{}))
	earlyBytes     = int64(unsafe.Sizeof(early{}))
	stragglerBytes = int64(unsafe.Sizeof(straggler{})) + 64 // and its place in a map
)

// hold takes memory; false once there is too much, with j.err set.
func (j *joiner) hold(bytes int64) bool {
	if j.held += bytes; j.held <= freeBytes+bytesPerByte**j.read {
		return true
	}
	j.err = fmt.Errorf("too many messages in flight at one time: to join them takes more than %d MB, the most for a log of which %.1f MB were read (was it written by bench?)",
		(freeBytes+bytesPerByte**j.read)>>20, float64(*j.read)/1e6)
	return false
}

// dropAside forgets a straggler that is done.
func (j *joiner) dropAside(key messageKey, s *straggler) {
	j.held -= stragglerBytes + int64(len(s.early))*earlyBytes
	delete(j.aside, key)
}
