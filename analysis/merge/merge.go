// Package merge makes one digest of runs that were started apart: each by a bench
// of its own, on a host of its own, with a run id of its own, against one queue
// at one time.
//
// Each step of the result is the stretch in which all runs were under the load of
// that step. Their logs are read again for exactly that stretch, in the same
// intervals, and histograms and counts are added: never percentiles. What lies
// outside stays in the accounting, as trimmed.
//
// It refuses, by name, what is no load of one queue: runs that did not overlap,
// of other queues, of other kinds of steps, or a run with itself; and it refuses to
// guess how far clocks are apart. It follows no message from one run to another:
// a run's log has rows of its own messages only, and what a consumer gets of
// others is counted as foreign.
package merge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"queuebench/analysis"
	"queuebench/rawlog"
)

// ErrRefused: these runs cannot be merged. The error says why, and what to do.
var ErrRefused = errors.New("these runs cannot be merged")

// refuse is ErrRefused with a reason.
func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrRefused, fmt.Errorf(format, args...))
}

// Options are how runs are merged.
type Options struct {
	// Name is the run id of the result; made of those of the runs if empty.
	Name string
	// View is what the result is to be cut at exactly, see analysis.Options.
	View analysis.View
	// ClockError, if positive, is within what the clocks of hosts are trusted to
	// agree of which no offset is known.
	ClockError time.Duration
	// SameQueue trusts the caller that servers or stores with other addresses are
	// those of one queue.
	SameQueue bool
	// Progress is told how many rows of how many of a run were read; nil for
	// nobody.
	Progress func(address string, done, total int64)
}

// run is one of those that are merged.
type run struct {
	source  rawlog.Source
	outline *analysis.Outline
	name    string // run id
	// shift is from its axis to that of the first run. known is false where the
	// clocks are only trusted to agree.
	shift   analysis.ClockShift
	known   bool
	offsets []analysis.ClockOffset // of each step
	digest  *analysis.Digest
}

func (r *run) manifest() *rawlog.Manifest { return &r.outline.Manifest }

// Runs reads the raw logs of runs and merges them. Errors are ErrRefused for what
// cannot be merged, and else those of analysis.Read.
func Runs(ctx context.Context, sources []rawlog.Source, opt Options) (*analysis.Digest, error) {
	runs := make([]*run, len(sources))
	for i, src := range sources {
		o, err := analysis.ReadOutline(ctx, src)
		if err != nil {
			return nil, err
		}
		runs[i] = &run{source: src, outline: o, name: o.Manifest.Run}
	}
	if err := check(runs, opt); err != nil {
		return nil, err
	}
	if err := align(runs, opt); err != nil {
		return nil, err
	}
	spans, err := overlaps(runs, opt)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if err := r.read(ctx, spans, opt); err != nil {
			return nil, fmt.Errorf("run %s: %w", r.name, err)
		}
	}
	d := &analysis.Digest{Manifest: joined(runs, opt)}
	for i, span := range spans {
		parts, names := make([]*analysis.StepDigest, len(runs)), make([]string, len(runs))
		for k, r := range runs {
			parts[k], names[k] = &r.digest.Steps[i], r.name
		}
		s, err := analysis.SumSteps(parts, names)
		if err != nil {
			return nil, err
		}
		s.StartNs = span.StartNs
		entry := joinedStep(runs, i, span)
		s.Settings = entry.Settings
		d.Steps = append(d.Steps, *s)
		d.Manifest.Steps = append(d.Manifest.Steps, entry)
		d.Manifest.Warnings = append(d.Manifest.Warnings, stepNotes(runs, i, span)...)
	}
	d.Manifest.Warnings = append(d.Manifest.Warnings, differences(runs)...)
	return d, nil
}

// read reads a run as the spans, which are on the axis of the first one.
func (r *run) read(ctx context.Context, spans []analysis.Span, opt Options) error {
	o := analysis.Options{View: opt.View}
	for _, s := range spans {
		if s.Warmup > 0 {
			o.Edges = append(o.Edges, s.Warmup)
		}
		s.StartNs = r.back(s.StartNs)
		o.Spans = append(o.Spans, s)
	}
	if opt.Progress != nil {
		o.Progress = func(done, total int64) { opt.Progress(r.source.Address(), done, total) }
	}
	var err error
	r.digest, err = analysis.Read(ctx, r.source, o)
	return err
}
