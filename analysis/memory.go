package analysis

import (
	"fmt"
	"unsafe"

	"queuebench/stats"
)

// Reading holds what is in flight, a buffer for each actor's columns, and what
// becomes the digest. A file of a few kilobytes can claim millions of messages
// that are all in flight, thousands of steps, or a column that decompresses to
// megabytes, so what may be held grows with the bytes that were read: a message
// has 2 to 6 of them in the log, and takes 26 in flight, or 50 where its delivery
// comes before its row. Besides there are the counters of the intervals that are
// counted (45 MB, twice that where each has negative values) and of what a step is
// broken down by (64 MB at most).
const (
	// freeBytes is what any log may take: almost 2 million messages in flight.
	freeBytes = 48 << 20
	// bytesPerByte is what it may take besides for each byte of its parts.
	bytesPerByte = 64

	blockBytes     = int64(unsafe.Sizeof(block{}))
	earlyBytes     = int64(unsafe.Sizeof(early{}))
	stragglerBytes = int64(unsafe.Sizeof(straggler{})) + 64 // and its place in a map
	goneBytes      = goneSize + 64
	highBytes      = int64(unsafe.Sizeof(highKey{})) + 64 // as above
	bucketBytes    = int64(unsafe.Sizeof(stats.Bucket{}))
	intervalBytes  = int64(unsafe.Sizeof(Interval{}))
	secondBytes    = int64(unsafe.Sizeof(secondRow{}))
	commitBytes    = int64(unsafe.Sizeof(CommitSecond{}))
	eventBytes     = int64(unsafe.Sizeof(Event{}))
	streamBytes    = int64(unsafe.Sizeof(receivedStream{})) + 1<<10 // and its object
)

// budget is the memory that a log may take.
type budget struct {
	held int64 // bytes
	read int64 // bytes of the parts that were opened
}

// most is what may be held by now.
func (b *budget) most() int64 { return freeBytes + bytesPerByte*b.read }

// take holds more, or gives back what is negative; it returns false once that is
// too much.
func (b *budget) take(bytes int64) bool {
	b.held += bytes
	return bytes <= 0 || b.held <= b.most()
}

// over tells that more is held than may be.
func (b *budget) over() bool { return b.held > b.most() }

// tooMuch says what takes more memory than its log can ask for.
func (b *budget) tooMuch(what string) error {
	return fmt.Errorf("%s takes more than %d MB, the most for a log of which %.1f MB were read (was it written by bench?)", what, b.most()>>20, float64(b.read)/1e6)
}

// bucketBytes is what the histograms of a step take.
func (s *StepDigest) bucketBytes() (n int64) {
	for i := range s.Intervals {
		for k := range numSeries {
			n += int64(len(s.Intervals[i].series(k).Buckets)) * bucketBytes
		}
	}
	return n
}

// hold takes memory for a join; false once there is too much, with j.err set.
func (j *joiner) hold(bytes int64) bool {
	if j.memory.take(bytes) {
		return true
	}
	if j.err == nil {
		j.err = j.memory.tooMuch("to join so many messages in flight at one time")
	}
	return false
}

// give gives memory back.
func (j *joiner) give(bytes int64) { j.memory.take(-bytes) }

// dropAside forgets a straggler that is done.
func (j *joiner) dropAside(key messageKey, s *straggler) {
	j.give(stragglerBytes + int64(len(s.early))*earlyBytes)
	delete(j.aside, key)
}
