package ledger

import (
	"sync"
	"testing"

	"queuebench/queue"
)

// What a Send that was cut off did not take is taken back and its slots are
// written again, by messages or by end marks, while the client and the monitor
// look at the oldest open message. It is for the race detector to see.
func TestSlotsThatAreTakenBackAreWrittenAgainWhileOthersLook(t *testing.T) {
	l, _, _ := rig(8)
	done := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				l.Watermark()
			}
		}
	})
	for at := range int64(2000) {
		register(l, at, 2)
		l.Retract(2, true)
		l.RegisterEnd(1, 0)
		l.Acked([]queue.Ack{{First: at, N: 1}})
	}
	close(done)
	looking.Wait()
	if c := l.Counts(); c.Overrun != 4000 || c.Attempted != 0 || c.InFlight != 0 || c.Strange != 0 {
		t.Errorf("%+v", c)
	}
}
