package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// undoTimeout bounds what is done at the end, for each command, when the run was
// interrupted.
const undoTimeout = 10 * time.Second

// Recorder is told what happens: an event of an actor, which took so long, or
// -1 ns where that says nothing. It may be called from several goroutines.
type Recorder func(actor, kind, text string, took time.Duration)

// Kinds of events.
const (
	EventOutput  = "output" // a line that a command printed
	EventFault   = "fault"  // a fault begins
	EventOver    = "fault over"
	EventStart   = "start"
	EventEnd     = "end"
	EventFailure = "failure"
)

// Environment is a scenario's commands while they run.
type Environment struct {
	file   *File
	vars   *Variables
	record Recorder

	mu        sync.Mutex
	processes map[string]*process // by their part's name, the one that was started last
	tails     map[string]*output
	failures  []string // processes that ended by themselves
	watching  sync.WaitGroup
	closing   bool
}

// NewEnvironment makes the environment of a file; nothing is started yet.
func NewEnvironment(f *File, v *Variables, record Recorder) *Environment {
	return &Environment{file: f, vars: v, record: record, processes: map[string]*process{}, tails: map[string]*output{}}
}

// Start starts the parts in order, each when the one before is ready. After an
// error, Close ends what was started.
func (e *Environment) Start(ctx context.Context) error {
	for i := range e.file.Environment {
		p := &e.file.Environment[i]
		var err error
		if p.Run.IsZero() {
			err = e.startPart(ctx, p, p.Start)
		} else {
			err = e.run(ctx, p.Name, p.Run, p)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", e.file.Path, p.Line, err)
		}
	}
	return nil
}

// startPart starts a process and waits until it is ready.
func (e *Environment) startPart(ctx context.Context, p *Part, c Command) error {
	began := time.Now()
	proc, err := e.launch(p.Name, c, p)
	if err != nil {
		return err
	}
	e.mu.Lock()
	if e.closing {
		e.mu.Unlock()
		proc.end(ctx, 0)
		return fmt.Errorf("%s was not started: the scenario has ended", p.Name)
	}
	e.processes[p.Name] = proc
	e.watching.Go(func() { e.watch(proc, p) })
	e.mu.Unlock()
	if err := e.ready(ctx, p, proc); err != nil {
		return fmt.Errorf("%s: %w%s", p.Name, err, e.said(p.Name))
	}
	e.record(p.Name, EventStart, "ready", time.Since(began))
	return nil
}

// watch waits for the end of a process, and says so when nobody asked for it.
func (e *Environment) watch(proc *process, p *Part) {
	<-proc.done
	text := "status 0"
	if proc.err != nil {
		text = proc.err.Error()
	}
	e.record(p.Name, EventEnd, text, -1)
	if proc.wasAsked() || p.Finish > 0 && proc.err == nil {
		return
	}
	text = fmt.Sprintf("process %s ended by itself: %s%s", p.Name, text, e.said(p.Name))
	e.record(p.Name, EventFailure, text, -1)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failures = append(e.failures, text)
}

// Failures are the processes that ended although nobody asked them to, a
// sentence each.
func (e *Environment) Failures() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.failures)
}

// process is the one that runs under a name, or ran last.
func (e *Environment) process(name string) (*process, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p := e.processes[name]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("process %s was not started", name)
}

// Finish waits for the processes that end by themselves, after the load. Their
// status must be 0.
func (e *Environment) Finish(ctx context.Context) (err error) {
	began := time.Now()
	for i := range e.file.Environment {
		p := &e.file.Environment[i]
		if p.Finish == 0 {
			continue
		}
		proc, perr := e.process(p.Name)
		if perr != nil {
			err = errors.Join(err, perr)
			continue
		}
		timer := time.NewTimer(p.Finish - time.Since(began))
		select {
		case <-proc.done:
		case <-timer.C:
			err = errors.Join(err, fmt.Errorf("process %s did not end by itself within %v after the load%s", p.Name, p.Finish, e.said(p.Name)))
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return err
}

// Close ends the parts in the opposite order, and waits for their ends. ctx may
// have ended: then each command that stops something has 10 s left. It can be
// called twice.
func (e *Environment) Close(ctx context.Context) (err error) {
	e.mu.Lock()
	e.closing = true
	e.mu.Unlock()
	for i := range slices.Backward(e.file.Environment) {
		p := &e.file.Environment[i]
		err = errors.Join(err, e.closePart(ctx, p))
	}
	e.watching.Wait()
	return err
}

func (e *Environment) closePart(ctx context.Context, p *Part) (err error) {
	e.mu.Lock()
	proc := e.processes[p.Name]
	_, began := e.tails[p.Name]
	delete(e.tails, p.Name) // it is ended once
	e.mu.Unlock()
	if !began {
		return nil
	}
	if proc != nil {
		proc.expectEnd()
	}
	if !p.Stop.IsZero() {
		late, cancel := late(ctx)
		defer cancel()
		if serr := e.run(late, p.Name+" stop", p.Stop, p); serr != nil {
			err = fmt.Errorf("%s:%d: stopping %s: %w", e.file.Path, p.Line, p.Name, serr)
		}
	}
	if proc != nil {
		proc.end(context.WithoutCancel(ctx), p.Grace)
	}
	return err
}

// late is a context for what must be done at the end: ctx, or 10 s of its own
// when that has ended.
func late(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
}

// Actors are the names of the file's parts, for a message.
func (f *File) Actors() string {
	var names []string
	for _, p := range f.Environment {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}
