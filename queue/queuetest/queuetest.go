// Package queuetest is the conformance suite that every queue under test
// passes. What the suite asks for is the contract of package queue; a queue
// that promises less in its Info is asked for less.
//
// It tests behaviour, never speed, and starts no server: the caller hands it
// fresh queues.
package queuetest

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"queuebench/queue"
)

// Options say what the suite may ask of a queue beyond the contract.
type Options struct {
	// Timeout is how long one wait may take before the test fails; 20 s if 0.
	Timeout time.Duration
	// Quiet is how long the suite listens for messages that must not come;
	// 250 ms if 0. It should be several commit intervals.
	Quiet time.Duration
	// Messages is how many messages an ordinary case sends; 1,000 if 0.
	Messages int
	// Largest is the size of the large message, bytes; 1,000,000 if 0.
	Largest int
	// Offsets: acknowledgements tell the offset, and a consumer can start at
	// one and at a time.
	Offsets bool
	// Retains: a group that comes after others have read gets all the same.
	Retains bool
	// Keys: a delivery carries the key.
	Keys bool
	// HeadersOf are headers that the queue can carry, of message i. Nil asks for
	// any: names that come twice or are empty, and values of any bytes.
	HeadersOf func(i int) []queue.Header
	// Competing: the consumers of a group share each partition, so that its order
	// holds for each of them only.
	Competing bool
	// Healthy: nothing fails during the suite, so no message may be lost and none
	// come twice, also where the Info promises that of no failure.
	Healthy bool
	// Neighbours returns two fresh queues in the same place, the first one's
	// name a prefix of the second one's (…1000 and …10000). Nil where a queue
	// has no name.
	Neighbours func(t *testing.T) (short, long queue.Queue)
	// Stall makes a fresh queue that takes messages and acknowledges none for
	// the time of the test, so that they stay pending. Nil where that cannot
	// be arranged.
	Stall func(t *testing.T) queue.Queue
	// IgnoreGoroutines are functions whose goroutines outlive a queue by
	// right, such as those of a pooled connection.
	IgnoreGoroutines []string
}

// Run runs the suite. fresh returns a queue that is empty, not yet created,
// and has a name of its own; the suite creates, removes and closes it.
func Run(t *testing.T, fresh func(t *testing.T) queue.Queue, opt Options) {
	if opt.Timeout == 0 {
		opt.Timeout = 20 * time.Second
	}
	if opt.Quiet == 0 {
		opt.Quiet = 250 * time.Millisecond
	}
	if opt.Messages == 0 {
		opt.Messages = 1000
	}
	if opt.Largest == 0 {
		opt.Largest = 1_000_000
	}
	s := &suite{fresh: fresh, opt: opt}
	cases := []struct {
		name string
		run  func(*testing.T)
		when bool
	}{
		{"InfoIsComplete", s.infoIsComplete, true},
		{"OrderAndNoLoss", s.orderAndNoLoss, true},
		{"OrderPerPartition", s.orderPerPartition, true},
		{"ConcurrentProducers", s.concurrentProducers, true},
		{"PayloadBytesUntouched", s.payloadBytesUntouched, true},
		{"BuffersReusedAfterSend", s.buffersReusedAfterSend, true},
		{"EmptyAndLargeMessages", s.emptyAndLargeMessages, true},
		{"BatchSizes", s.batchSizes, true},
		{"Keys", s.keys, opt.Keys},
		{"Headers", s.headers, true}, // where Info has them
		{"ConsumerBeforeProducer", s.consumerBeforeProducer, true},
		{"LateConsumerGetsAll", s.lateConsumerGetsAll, true},
		{"LateGroupGetsAll", s.lateGroupGetsAll, opt.Retains},
		{"LatestGetsWhatFollows", s.latestGetsWhatFollows, true},
		{"StartAtOffset", s.startAtOffset, opt.Offsets && opt.Retains},
		{"StartAtTime", s.startAtTime, opt.Offsets && opt.Retains},
		{"TwoGroupsEachGetAll", s.twoGroupsEachGetAll, true},
		{"GroupSharesMessages", s.groupSharesMessages, true},
		{"ConsumerLeavesGroup", s.consumerLeavesGroup, true},
		{"CancelReceive", s.cancelReceive, true},
		{"CancelSend", s.cancelSend, true},
		{"CloseEndsReceive", s.closeEndsReceive, true},
		{"CloseTwiceAndErrClosed", s.closeTwiceAndErrClosed, true},
		{"QueueCloseEndsAll", s.queueCloseEndsAll, true},
		{"AcksCoverEachMessageOnce", s.acksCoverEachMessageOnce, true},
		{"FlushAndPending", s.flushAndPending, true},
		{"FlushIsCancelled", s.flushIsCancelled, opt.Stall != nil},
		{"CloseFailsWhatIsPending", s.closeFailsWhatIsPending, opt.Stall != nil},
		{"WrongPartitionIsRefused", s.wrongPartitionIsRefused, true},
		{"CreateRemovesAnEarlierRun", s.createRemovesAnEarlierRun, true},
		{"RemoveLeavesNeighboursAlone", s.removeLeavesNeighboursAlone, opt.Neighbours != nil},
	}
	for _, c := range cases {
		if c.when {
			t.Run(c.name, func(t *testing.T) {
				s.checkLeaks(t)
				c.run(t)
			})
		}
	}
}

type suite struct {
	fresh func(*testing.T) queue.Queue
	opt   Options
}

// checkLeaks fails the test if a goroutine that began in it outlives it and
// all its clean-up.
func (s *suite) checkLeaks(t *testing.T) {
	ignore := []goleak.Option{
		goleak.IgnoreCurrent(),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
	}
	for _, f := range s.opt.IgnoreGoroutines {
		ignore = append(ignore, goleak.IgnoreAnyFunction(f))
	}
	t.Cleanup(func() {
		if err := goleak.Find(ignore...); err != nil && !t.Failed() {
			t.Errorf("goroutines were left behind: %v", err)
		}
	})
}
