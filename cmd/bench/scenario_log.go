package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/runner"
	"queuebench/scenario"
)

// maxWaiting bounds the events that wait for a step to be recorded with.
const maxWaiting = 10_000

// scenarioLog shows what a scenario does, and records it with the step that is
// under way. What happens between two steps is recorded with the next one.
type scenarioLog struct {
	w     io.Writer
	quiet bool

	mu       sync.Mutex
	note     func(string) // of the run's progress; nil outside of a run
	beside   *runner.Beside
	waiting  []waitingEvent
	lost     int
	problems []error
}

type waitingEvent struct {
	at                time.Time
	actor, kind, text string
	took              time.Duration
}

func newScenarioLog(c *cli.Context) *scenarioLog {
	return &scenarioLog{w: c.App.ErrWriter, quiet: c.Bool("quiet")}
}

// event takes an event of the environment.
func (l *scenarioLog) event(actor, kind, text string, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch kind {
	case scenario.EventFailure:
		l.tellLocked("%s", text)
	case scenario.EventFault, scenario.EventOver, scenario.EventStart:
		if !l.quiet {
			l.tellLocked("%s: %s%s", actor, strings.TrimSuffix(kind+": ", "start: "), text+lasting(kind, took))
		}
	}
	if l.beside != nil && l.beside.Event(actor, kind, text, took) {
		return
	}
	if len(l.waiting) == maxWaiting {
		l.lost++
		return
	}
	l.waiting = append(l.waiting, waitingEvent{time.Now(), actor, kind, text, took})
}

func lasting(kind string, took time.Duration) string {
	if took < 0 || kind != scenario.EventStart {
		return ""
	}
	return " after " + short(took)
}

// tellLocked shows a line.
func (l *scenarioLog) tellLocked(format string, a ...any) {
	text := fmt.Sprintf(format, a...)
	if l.note != nil {
		l.note(text)
		return
	}
	fmt.Fprintf(l.w, "bench: %s\n", text)
}

// phase shows what the scenario does outside of the run.
func (l *scenarioLog) phase(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note = nil
	if !l.quiet {
		l.tellLocked("%s", text)
	}
}

// attach records with a step from here on, first what has waited for it, and
// shows with the progress of the run.
func (l *scenarioLog) attach(b *runner.Beside, note func(string)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.beside, l.note = b, note
	for _, e := range l.waiting {
		text := e.text
		if ago := time.Since(e.at); ago >= 100*time.Millisecond {
			text = fmt.Sprintf("%s earlier: %s", short(ago), text)
		}
		b.Event(e.actor, e.kind, text, e.took)
	}
	if l.lost > 0 {
		b.Event(scenarioName, "note", fmt.Sprintf("%d more events were not kept", l.lost), -1)
	}
	l.waiting, l.lost = nil, 0
}

func (l *scenarioLog) detach() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.beside = nil
}

// problem keeps what went wrong, and shows it.
func (l *scenarioLog) problem(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.problems = append(l.problems, err)
	l.tellLocked("%v", err)
}

// close says what came too late for the log.
func (l *scenarioLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lost
	for _, e := range l.waiting {
		if e.kind == scenario.EventOutput {
			lines++
		}
	}
	if lines > 0 {
		l.tellLocked("%d lines of output came when no step was under way any more: they are not in the log", lines)
	}
}
