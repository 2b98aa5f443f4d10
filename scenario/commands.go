package scenario

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"
)

// launch starts a command of a part, or of a fault when p is nil.
func (e *Environment) launch(actor string, c Command, p *Part) (*process, error) {
	args, err := e.args(c)
	if err != nil {
		return nil, err
	}
	dir, limit := e.vars.here, DefaultOutput
	env := append(os.Environ(), e.vars.environ()...)
	more := e.file.Env
	if p != nil {
		more = append(slices.Clone(more), p.Env...)
		limit = p.Output
		if dir, err = e.vars.Expand(p.Directory); err != nil {
			return nil, err
		}
		if _, err := os.Stat(dir); err != nil { // else the program is what seems to be missing
			return nil, fmt.Errorf("%s: directory: %w", actor, err)
		}
	}
	for _, v := range more {
		value, err := e.vars.Expand(v.Value)
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", v.Name, err)
		}
		e.vars.Hide(v.Name, value)
		env = append(env, v.Name+"="+value)
	}
	out := newOutput(limit, e.vars.Strike, func(line string) { e.record(actor, EventOutput, line, -1) })
	proc, err := start(actor, args, env, dir, out)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tails[actor] = out
	return proc, nil
}

// args are the program and its arguments.
func (e *Environment) args(c Command) ([]string, error) {
	if c.Shell != "" {
		if runtime.GOOS == "windows" {
			return []string{"cmd", "/C", c.Shell}, nil
		}
		return []string{"sh", "-c", c.Shell}, nil
	}
	args := make([]string, len(c.Args))
	for i, text := range c.Args {
		var err error
		if args[i], err = e.vars.Expand(text); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// run runs a command to its end, which must come in time and with status 0.
func (e *Environment) run(ctx context.Context, actor string, c Command, p *Part) error {
	timeout := DefaultTimeout
	if p != nil {
		timeout = p.Timeout
	}
	outer := ctx
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	began := time.Now()
	proc, err := e.launch(actor, c, p)
	if err != nil {
		return err
	}
	select {
	case <-proc.done:
	case <-ctx.Done():
		proc.end(ctx, 0)
		if outer.Err() != nil {
			return outer.Err()
		}
		return fmt.Errorf("%s did not end within %v%s", actor, timeout, e.said(actor))
	}
	if proc.err != nil {
		return fmt.Errorf("%s: %w%s", actor, proc.err, e.said(actor))
	}
	e.record(actor, EventEnd, "done", time.Since(began))
	return nil
}

// said is what an actor printed last, for an error.
func (e *Environment) said(actor string) string {
	e.mu.Lock()
	out := e.tails[actor]
	e.mu.Unlock()
	if out == nil {
		return ""
	}
	if tail := out.tail(); tail != "" {
		return "; it said: " + tail
	}
	return ""
}
