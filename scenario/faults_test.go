//go:build unix

package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// faults lets the faults of a rig strike.
func (r *rig) faults(ctx context.Context) ([]time.Duration, error) {
	began := time.Now()
	return r.Disturb(ctx, func() time.Duration { return time.Since(began) })
}

func TestAProcessIsStoppedAndGoesOn(t *testing.T) {
	r := newRig(t, server+"faults: [{at: 50ms, signal: STOP, process: web, for: 600ms}]")
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	pid, err := r.ask()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	var struck []time.Duration
	go func() {
		var err error
		struck, err = r.faults(t.Context())
		done <- err
	}()
	soon(t, "a stopped process", func() bool { _, err := r.ask(); return err != nil })
	if err := <-done; err != nil {
		t.Error(err)
	}
	if again, err := r.ask(); err != nil || again != pid {
		t.Errorf("process %s after %s, %v", again, pid, err)
	}
	if len(struck) != 1 || struck[0] < 50*time.Millisecond {
		t.Errorf("struck at %v", struck)
	}
	if text := r.all(); !strings.Contains(text, "web fault: SIGSTOP to web for 600ms") || !strings.Contains(text, "web fault over: SIGSTOP to web") {
		t.Errorf("events\n%s", text)
	}
}

func TestAProcessIsKilledAndStartedAgain(t *testing.T) {
	again := strings.Replace(server, "    start: ", "    again: {shell: \"exec $BENCH_PROGRAM\"}\n    start: ", 1)
	r := newRig(t, again+"faults: [{at: 20ms, signal: KILL, process: web, restart-after: 50ms}]")
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	pid, err := r.ask()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.faults(t.Context()); err != nil {
		t.Fatal(err)
	}
	if other, err := r.ask(); err != nil || other == pid {
		t.Errorf("process %s after %s, %v", other, pid, err)
	}
	if len(r.Failures()) > 0 {
		t.Errorf("a kill that was asked for is a failure: %q", r.Failures())
	}
}

// A process that heeds SIGTERM ends with status 0, which is no end of its own,
// also where one by itself is waited for.
func TestAProcessThatHeedsATermIsStartedAgain(t *testing.T) {
	for _, finish := range []string{"", ", finish: 5s"} {
		r := newRig(t, "environment: [{name: p, start: {shell: \"trap 'exit 0' TERM; echo on >> $BENCH_DIR/on; while true; do sleep 0.02; done\"}"+finish+"}]\n"+
			"faults: [{at: 1ms, signal: TERM, process: p, restart-after: 20ms}]")
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		soon(t, "the trap", func() bool { return r.file("on") == "on" })
		if struck, err := r.faults(t.Context()); err != nil || len(struck) != 1 || struck[0] < 0 {
			t.Errorf("struck %v, %v", struck, err)
		}
		soon(t, "the second start", func() bool { return r.file("on") == "on\non" })
		if text := r.all(); !strings.Contains(text, "p fault over: SIGTERM to p") || len(r.Failures()) > 0 {
			t.Errorf("failures %q, events\n%s", r.Failures(), text)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// The record does not say of a process that it was started again when it went
// on all the time.
func TestAFaultThatAProcessDoesNotHeedIsNotOver(t *testing.T) {
	r := newRig(t, "environment: [{name: p, start: {shell: \"trap '' TERM; echo on > $BENCH_DIR/on; while true; do sleep 0.05; done\"}, grace: 100ms}]\nfaults: [{at: 1ms, signal: TERM, process: p, restart-after: 1ms}]")
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	soon(t, "the trap", func() bool { return r.file("on") == "on" })
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if struck, err := r.faults(ctx); err != nil || len(struck) != 1 || struck[0] < 0 {
		t.Errorf("struck %v, %v", struck, err)
	}
	if text := r.all(); !strings.Contains(text, "p fault: ") || strings.Contains(text, "fault over") {
		t.Errorf("events\n%s", text)
	}
}

// A rule is undone at its time, and at once when the run ends before it.
func TestACommandIsUndone(t *testing.T) {
	fault := "faults: [{at: 10ms, run: {shell: \"echo on >> $BENCH_DIR/rule\"}, undo: {shell: \"echo off >> $BENCH_DIR/rule\"}, for: %s}]"
	r := newRig(t, fmt.Sprintf(fault, "100ms"))
	if _, err := r.faults(t.Context()); err != nil || r.file("rule") != "on\noff" {
		t.Errorf("%v, rule %q", err, r.file("rule"))
	}
	r = newRig(t, fmt.Sprintf(fault, "1h"))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, err := r.faults(ctx); done <- err }()
	soon(t, "the rule", func() bool { return r.file("rule") == "on" })
	cancel()
	if err := <-done; err != nil || r.file("rule") != "on\noff" {
		t.Errorf("%v, rule %q", err, r.file("rule"))
	}
}

// A rule that could not be taken back is told, also when the run has ended: it
// is still there.
func TestACommandThatCannotBeUndoneIsToldAtTheEnd(t *testing.T) {
	r := newRig(t, "faults: [{at: 1ms, run: {shell: \"echo on >> $BENCH_DIR/rule\"}, undo: {shell: exit 3}, for: 1h}]")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, err := r.faults(ctx); done <- err }()
	soon(t, "the rule", func() bool { return r.file("rule") == "on" })
	cancel()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "undoing it") || errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestFaultsThatDoNotStrike(t *testing.T) {
	r := newRig(t, "environment: [{name: p, start: [sleep, 0.05]}]\nfaults:\n- {at: 300ms, signal: STOP, process: p, for: 1s}\n- {at: 1h, run: [true]}\n- {at: 1ms, run: [no-such-program-here]}")
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 600*time.Millisecond)
	defer cancel()
	struck, err := r.faults(ctx)
	if err == nil || !strings.Contains(err.Error(), "p has ended") || !strings.Contains(err.Error(), "no-such-program-here") {
		t.Errorf("%v", err)
	}
	if len(struck) != 3 || struck[2] >= 0 {
		t.Errorf("struck at %v", struck)
	}
	if f := r.Failures(); len(f) != 1 || !strings.Contains(f[0], "process p ended by itself: status 0") {
		t.Errorf("failures %q", f)
	}
}
