package main

import (
	"context"
	"fmt"

	"queuebench/clock"
	"queuebench/runner"
	"queuebench/runner/meeting"
)

// meetingError says that a worker found no run to take part in.
type meetingError struct{ err error }

func (e *meetingError) Error() string { return e.err.Error() }
func (e *meetingError) Unwrap() error { return e.err }

// meet makes a meeting what the runner asks for.
type meet struct {
	*meeting.Meeting
	toOwn func(clock.Identity) (int64, error)
}

func (m meet) Create(ctx context.Context, topic int, create func(context.Context) error) error {
	return m.Created(ctx, fmt.Sprintf("queue-%d", topic), create)
}

func (m meet) Begin(ctx context.Context) (b runner.Beginning, err error) {
	seen, err := m.Come(ctx)
	if err != nil {
		return b, &meetingError{err}
	}
	at, note := seen.Own(m.Clock.Identity(), m.toOwn)
	b = runner.Beginning{AtNs: at, Missing: seen.Missing}
	if note != "" {
		b.Notes = append(b.Notes, note)
	}
	return b, nil
}
