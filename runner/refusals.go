package runner

import (
	"fmt"
	"sync"
	"time"

	"queuebench/rawlog"
)

// refusals gathers what a queue refuses into one event a second.
type refusals struct {
	kind, what string // of the events, and what was done to the messages

	mu       sync.Mutex
	messages int64
	text     string
	told     time.Time
	first    string // error of the step
}

func (r *refusals) add(e *events, actor string, messages int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.messages += messages
	r.text = err.Error()
	if r.first == "" {
		r.first = r.text
	}
	if time.Since(r.told) >= time.Second {
		r.tellLocked(e, actor)
	}
}

// tell tells what is left, and returns the first error of the step.
func (r *refusals) tell(e *events, actor string) (first string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tellLocked(e, actor)
	return r.first
}

func (r *refusals) tellLocked(e *events, actor string) {
	if r.messages == 0 {
		return
	}
	e.add(actor, r.kind, fmt.Sprintf("%d messages %s: %s", r.messages, r.what, r.text), rawlog.Null)
	r.messages, r.told = 0, time.Now()
}
