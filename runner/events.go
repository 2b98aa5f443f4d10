package runner

import (
	"cmp"
	"sync"

	"queuebench/clock"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
)

// actor is who records what concerns the whole process.
func (c *Config) actor() string { return cmp.Or(c.Manifest.Process, "bench") }

// events takes the rare rows of a step, events and batches, from any goroutine.
type events struct {
	clock *clock.Clock

	mu      sync.Mutex
	closed  bool
	log     *logwriter.EventsWriter
	batches *logwriter.BatchesWriter
	retried map[string]string // actor → why its last request was tried again
}

// add records an event. ns is how long it lasted, or rawlog.Null. It is false
// when the recording has ended.
func (e *events) add(actor, kind, text string, ns int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.log.Append(rawlog.EventRow{TimeNs: e.clock.Now(), Actor: actor, Kind: kind, Text: text, DurationNs: ns})
	}
	return !e.closed
}

// of returns what a queue tells its events of an actor to.
func (e *events) of(actor string) func(queue.Event) {
	return func(v queue.Event) {
		took := int64(rawlog.Null)
		if v.Took > 0 {
			took = int64(v.Took)
		}
		e.add(actor, v.Kind, v.Text, took)
		if v.Kind == "retry" || v.Kind == "throttled" {
			e.mu.Lock()
			defer e.mu.Unlock()
			if e.retried == nil {
				e.retried = make(map[string]string)
			}
			e.retried[actor] = v.Text
		}
	}
}

// lastRetry says why an actor's last request was tried again; empty when none
// was.
func (e *events) lastRetry(actor string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.retried[actor]
}

// traces returns what a queue tells its commits or fetches of an actor to.
func (e *events) traces(actor string) func(queue.Trace) {
	return func(t queue.Trace) {
		e.mu.Lock()
		defer e.mu.Unlock()
		if !e.closed {
			e.batches.Append(rawlog.NewBatchRow(actor, e.clock.Now(), t))
		}
	}
}

// tick says that everything so far was recorded.
func (e *events) tick() {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.clock.Now()
	e.log.SetWatermark(now)
	e.batches.SetWatermark(now)
}

// close ends the recording: what comes later is of no step.
func (e *events) close() {
	e.tick()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
}
