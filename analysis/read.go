package analysis

import (
	"context"
	"fmt"
	"slices"
	"time"

	"queuebench/rawlog"
)

// Options are how a raw log is turned into a digest.
type Options struct {
	// Edges are cut into the grid of every step besides the edge of the
	// default warm-up, for views that are to be exact too. Those outside of a
	// step are left out.
	Edges []time.Duration
	// View is cut at exactly too, and what the step is broken down by is counted
	// within its cut.
	View View
	// Interval is the grid; 0 for DefaultInterval of each step.
	Interval time.Duration
	// Progress is told how many rows of how many were read; nil for nobody.
	Progress func(done, total int64)

	// EndToEndOnly reads what the end-to-end latency and the accounting take, at
	// twice the speed and more: no other latency is known then, not whether the
	// runner kept its schedule, nor where the time went.
	EndToEndOnly bool

	// Spans are what steps are read as, a part of their schedule each: what lies
	// outside is counted and trimmed. A step that has none is read as it is. They
	// are for runs that are to be added up, see SumSteps.
	Spans []Span

	// single counts each row by itself: for the test of what counts many at once.
	single bool
}

// Read reads the raw log of a run into a digest, row group by row group. Memory
// is that of the messages in flight at one time and of the digest, whatever the
// length of the log.
//
// The error is rawlog.ErrNotARun where there is no run.json, ErrNoData for a
// log without a message; an error about a part names it and says what to do.
func Read(ctx context.Context, src rawlog.Source, opt Options) (*Digest, error) {
	r, m, steps, err := begin(ctx, src)
	if err != nil {
		return nil, err
	}
	r.progress = opt.Progress
	for _, s := range steps {
		for _, t := range rawlog.Tables {
			r.total += s.rows(t.Name)
		}
	}
	d := &Digest{Manifest: withoutParts(*m)}
	for _, s := range withManifest(steps, m) {
		step, err := r.step(m, s, opt)
		if err != nil {
			return nil, err
		}
		d.Steps = append(d.Steps, *step)
	}
	d.adopt()
	return d, checkData(d)
}

// begin finds what a log is of, and where the parts of its steps lie.
func begin(ctx context.Context, src rawlog.Source) (*reading, *rawlog.Manifest, []*stepParts, error) {
	fail := func(err error) (*reading, *rawlog.Manifest, []*stepParts, error) { return nil, nil, nil, err }
	names, err := src.List(ctx)
	if err != nil {
		return fail(fmt.Errorf("listing %s: %w", src.Address(), err))
	}
	all, err := readManifests(ctx, src, names)
	if err != nil {
		return fail(err)
	}
	tl := newTimeline(all)
	m, err := joinManifests(all, tl)
	if err != nil {
		return fail(err)
	}
	steps, err := findParts(ctx, src, m, names, tl)
	if err != nil {
		return fail(err)
	}
	return &reading{ctx: ctx, src: src, run: m.Run, timeline: tl, groups: groupsOf(all)}, m, steps, nil
}

// withManifest adds the steps that have no parts but stand in run.json.
func withManifest(steps []*stepParts, m *rawlog.Manifest) []*stepParts {
	for i := range m.Steps {
		e := &m.Steps[i]
		if !slices.ContainsFunc(steps, func(s *stepParts) bool { return s.step == e.Step && s.repeat == e.Repeat }) {
			steps = append(steps, &stepParts{step: e.Step, repeat: e.Repeat})
		}
	}
	slices.SortFunc(steps, func(a, b *stepParts) int {
		if a.step != b.step {
			return a.step - b.step
		}
		return a.repeat - b.repeat
	})
	return steps
}

func checkData(d *Digest) error {
	why := ""
	for i := range d.Steps {
		a := &d.Steps[i].Accounting
		if a.Scheduled+a.Received+a.Foreign+a.RecordsRejected > 0 {
			return nil
		}
		if f := d.Steps[i].Failure; f != "" && why == "" {
			why = fmt.Sprintf("; step %d failed: %s", d.Steps[i].Step, f)
		}
	}
	if why == "" && d.Manifest.Reason != "" {
		why = "; the run ended early: " + d.Manifest.Reason
	}
	return fmt.Errorf("run %s: %w: no step has a message%s", d.Manifest.Run, ErrNoData, why)
}
