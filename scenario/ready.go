package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// askEvery is the pause between two questions whether a process is ready. One
// may take answerIn, and twice as long after each that took too long, up to
// answerAtMost: a server may never answer who came while it was starting.
const (
	askEvery     = 50 * time.Millisecond
	answerIn     = 500 * time.Millisecond
	answerAtMost = 10 * time.Second
)

// ready waits until a process is ready. That it ends, or is not ready in time,
// is an error with the last answer.
func (e *Environment) ready(ctx context.Context, p *Part, proc *process) error {
	r := &p.Ready
	ask, err := e.question(r, p)
	if err != nil || ask == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	last := errors.New("no answer came")
	for limit := answerIn; ; {
		if proc.hasEnded() {
			return fmt.Errorf("it ended before it was ready: %w", orDone(proc.err))
		}
		one, done := context.WithTimeout(ctx, limit)
		answer := ask(one)
		if one.Err() != nil {
			limit = min(2*limit, answerAtMost)
		}
		done()
		if answer == nil {
			return nil
		}
		if ctx.Err() == nil { // else the question was cut off
			last = answer
		}
		select {
		case <-proc.done:
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("it was not ready within %v: %w", r.Timeout, last)
			}
			return ctx.Err()
		case <-time.After(askEvery):
		}
	}
}

func orDone(err error) error {
	if err == nil {
		return errors.New("status 0")
	}
	return err
}

// question is what asks a process whether it is ready; nil where nothing asks.
func (e *Environment) question(r *Ready, p *Part) (func(context.Context) error, error) {
	switch {
	case r.TCP != "":
		address, err := e.vars.Expand(r.TCP)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) error { return askTCP(ctx, address) }, nil
	case r.HTTP != "":
		address, err := e.vars.Expand(r.HTTP)
		if err != nil {
			return nil, err
		}
		client := &http.Client{
			Transport:     &http.Transport{DisableKeepAlives: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
		return func(ctx context.Context) error { return askHTTP(ctx, client, address, r.Status) }, nil
	case !r.Command.IsZero():
		return func(ctx context.Context) error { return e.run(ctx, p.Name+" ready", r.Command, p) }, nil
	}
	return nil, nil
}

func askTCP(ctx context.Context, address string) error {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return c.Close()
}

func askHTTP(ctx context.Context, client *http.Client, address string, status int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10))
	answer.Body.Close()
	if status == 0 && answer.StatusCode >= 500 || status != 0 && answer.StatusCode != status {
		return fmt.Errorf("%s answers with status %d", address, answer.StatusCode)
	}
	return err
}
