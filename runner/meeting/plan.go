package meeting

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"queuebench/objectstore"
)

// Agree stores the plan, or compares it with the one that is there, and returns
// the one that holds. A process does so before it opens anything.
func (m *Meeting) Agree(ctx context.Context) (*Plan, error) {
	if !slices.Contains(m.Plan.Processes, m.Process) {
		return nil, fmt.Errorf("meeting: %s is none of the run's workers: %s", m.Process, strings.Join(m.Plan.Processes, ", "))
	}
	m.Plan.Schema = schema
	err := m.store(ctx, planKey, m.Plan)
	if err == nil || !errors.Is(err, objectstore.ErrExists) {
		return &m.Plan, err
	}
	var theirs Plan
	if _, err := m.load(ctx, planKey, &theirs); err != nil {
		return nil, err
	}
	if err := m.Plan.same(&theirs); err != nil {
		return nil, err
	}
	// Who is refused later would leave a log of nothing in the run.
	var start Start
	if there, err := m.load(ctx, startKey, &start); err != nil || there && m.inTime(&start) != nil {
		return nil, errors.Join(err, m.inTime(&start))
	}
	var came Arrival
	if there, err := m.load(ctx, m.arrivalKey(m.Process), &came); err != nil || there {
		return nil, errors.Join(err, m.taken())
	}
	return &theirs, nil
}

// same says in what two plans differ.
func (p *Plan) same(theirs *Plan) error {
	switch {
	case p.Schema != theirs.Schema:
		return fmt.Errorf("%w: its form is %q, this program writes %q: use the same bench for all workers", ErrOtherPlan, theirs.Schema, p.Schema)
	case p.Run != theirs.Run:
		return fmt.Errorf("%w: it is of run %q", ErrOtherPlan, theirs.Run)
	case !slices.Equal(p.Processes, theirs.Processes):
		return fmt.Errorf("%w: it has the workers %s, this one would have %s", ErrOtherPlan, strings.Join(theirs.Processes, ", "), strings.Join(p.Processes, ", "))
	}
	names := map[string]bool{}
	for name := range p.Settings {
		names[name] = true
	}
	for name := range theirs.Settings {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if a, b := p.Settings[name], theirs.Settings[name]; a != b {
			return fmt.Errorf("%w: --%s is %q there and %q here: start all with the same, or give another --run-id", ErrOtherPlan, name, b, a)
		}
	}
	return nil
}

// Created has one of the processes make a thing that all need, and returns when
// it is made: whoever comes first makes it, which no other then does.
func (m *Meeting) Created(ctx context.Context, what string, create func(context.Context) error) error {
	claim, ready := Folder+what+"-claim.json", Folder+what+"-ready.json"
	err := m.store(ctx, claim, Claim{m.Process})
	if err == nil {
		if err := create(ctx); err != nil {
			return err
		}
		return m.store(ctx, ready, Claim{m.Process})
	}
	if !errors.Is(err, objectstore.ErrExists) {
		return err
	}
	until := m.Clock.Now() + int64(m.Wait)
	for {
		var c Claim
		there, err := m.load(ctx, ready, &c)
		if err != nil || there {
			return err
		}
		if m.Clock.Now() > until {
			_, _ = m.load(ctx, claim, &c) // only its name is missed
			return fmt.Errorf("meeting: worker %s was to create %s, and did not within %v: see what it says", c.Process, what, m.Wait)
		}
		if err := pause(ctx, 0); err != nil {
			return err
		}
	}
}

// Claim says which process makes, or has made, a thing.
type Claim struct {
	Process string `json:"process"`
}
