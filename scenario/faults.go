package scenario

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// faultActor is who a fault is recorded of when it is no process.
const faultActor = "scenario"

// Disturb lets the faults strike at their times after the load began, and takes
// back what is to be taken back, at its time or when ctx ends. now tells the
// time since the load began. It returns when the last is over: when each struck,
// in the file's order, negative for one that did not, and what went wrong, what
// could not be taken back at the end among it.
func (e *Environment) Disturb(ctx context.Context, now func() time.Duration) (struck []time.Duration, err error) {
	struck = make([]time.Duration, len(e.file.Faults))
	var mu sync.Mutex
	var under sync.WaitGroup
	for i := range e.file.Faults {
		f := &e.file.Faults[i]
		struck[i] = -1
		under.Go(func() {
			if !wait(ctx, f.At-now()) {
				return
			}
			at := now()
			ferr := e.strike(ctx, f)
			mu.Lock()
			defer mu.Unlock()
			struck[i] = at
			if ferr != nil {
				err = errors.Join(err, fmt.Errorf("%s:%d: fault %q: %w", e.file.Path, f.Line, f.Text(), ferr))
			}
		})
	}
	under.Wait()
	return struck, err
}

// strike lets one fault strike, and takes it back.
func (e *Environment) strike(ctx context.Context, f *Fault) error {
	actor := faultActor
	if f.Process != "" {
		actor = f.Process
	}
	took := time.Duration(-1)
	if f.For > 0 {
		took = f.For
	}
	e.record(actor, EventFault, f.Text(), took)
	var err error
	back := true
	if f.Signal != "" {
		back, err = e.signalled(ctx, f)
	} else {
		err = e.commanded(ctx, f)
	}
	if err == nil && back && (f.For > 0 || f.Restart >= 0) {
		e.record(actor, EventOver, f.Text(), -1)
	}
	return err
}

// signalled is a fault by a signal. back is false where the run ended before the
// process was started again, such as when it did not heed the signal.
func (e *Environment) signalled(ctx context.Context, f *Fault) (back bool, err error) {
	proc, err := e.process(f.Process)
	if err != nil {
		return false, err
	}
	if f.Signal == "KILL" || f.Signal == "TERM" || f.Signal == "INT" {
		proc.expectEnd()
	}
	if err := proc.signal(f.Signal); err != nil {
		return false, err
	}
	if f.For > 0 {
		wait(ctx, f.For) // and on when the run ends: nothing stays stopped
		return true, proc.signal("CONT")
	}
	if f.Restart < 0 {
		return true, nil
	}
	select {
	case <-proc.done:
	case <-ctx.Done():
		return false, nil
	}
	if !wait(ctx, f.Restart) {
		return false, nil
	}
	part := e.file.Process(f.Process)
	again := part.Again
	if again.IsZero() {
		again = part.Start
	}
	if err := e.startPart(ctx, part, again); err != nil {
		if ctx.Err() != nil {
			return false, nil
		}
		return false, fmt.Errorf("starting it again: %w", err)
	}
	return true, nil
}

// commanded is a fault by a command.
func (e *Environment) commanded(ctx context.Context, f *Fault) error {
	p := Part{Name: faultActor, Directory: e.vars.here, Timeout: f.Timeout, Output: DefaultOutput}
	if err := e.run(ctx, faultActor, f.Run, &p); err != nil {
		if ctx.Err() != nil {
			err = nil // the end of the step cut it off, which is no failure of its own
		}
		// A rule that was half made may be there: it is undone all the same.
		if f.Undo.IsZero() {
			return err
		}
		return errors.Join(err, e.undo(ctx, f, &p))
	}
	if f.Undo.IsZero() {
		return nil
	}
	wait(ctx, f.For)
	return e.undo(ctx, f, &p)
}

func (e *Environment) undo(ctx context.Context, f *Fault, p *Part) error {
	ctx, cancel := late(ctx)
	defer cancel()
	if err := e.run(ctx, faultActor+" undo", f.Undo, p); err != nil {
		return fmt.Errorf("undoing it: %w", err)
	}
	return nil
}

// wait waits, unless ctx ends first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
