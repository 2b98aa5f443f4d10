package meeting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"queuebench/objectstore"
)

var errContent = errors.New("it is not what a worker stores")

// Load reads an object of a meeting; there is false where it does not exist.
func Load(ctx context.Context, s objectstore.Store, key string, value any) (there bool, err error) {
	body, _, err := s.GetRange(ctx, key, 0, maxObject+1)
	switch {
	case errors.Is(err, objectstore.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	case len(body) > maxObject:
		return false, fmt.Errorf("%s: %w: it has more than %d bytes", key, errContent, maxObject)
	}
	if err := json.Unmarshal(body, value); err != nil {
		return false, fmt.Errorf("%s: %w: %w", key, errContent, err)
	}
	return true, nil
}

// Record is what the meeting of a run left in its prefix.
type Record struct {
	Plan  Plan
	Start *Start   // nil where none was agreed on
	Came  []string // processes, in the order of the plan
}

// Read reads what a meeting left; nil where the run had none.
func Read(ctx context.Context, s objectstore.Store) (*Record, error) {
	var r Record
	there, err := Load(ctx, s, planKey, &r.Plan)
	if err != nil || !there {
		return nil, err
	}
	if r.Plan.Schema != schema {
		return nil, fmt.Errorf("%s: its form is %q, this program knows %q", planKey, r.Plan.Schema, schema)
	}
	var start Start
	if there, err = Load(ctx, s, startKey, &start); err != nil {
		return nil, err
	}
	if there {
		r.Start = &start
	}
	came, err := arrivals(ctx, s)
	if err != nil {
		return nil, err
	}
	r.Came = slices.DeleteFunc(slices.Clone(r.Plan.Processes), func(p string) bool { return !came[p] })
	return &r, nil
}

// store stores an object if it is not there. An answer that was lost is no
// failure if what is there is this process's own.
func (m *Meeting) store(ctx context.Context, key string, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	for try := 0; ; try++ {
		err = m.Store.Put(ctx, key, body, objectstore.PutOptions{IfAbsent: true, ContentType: "application/json"})
		if err == nil || ctx.Err() != nil {
			return err
		}
		if try > 0 && errors.Is(err, objectstore.ErrExists) {
			if there, _, gerr := m.Store.Get(ctx, key); gerr == nil && string(there) == string(body) {
				return nil
			}
		}
		if errors.Is(err, objectstore.ErrExists) || errors.Is(err, objectstore.ErrDenied) || errors.Is(err, objectstore.ErrNoBucket) || try == maxTries {
			return fmt.Errorf("storing %s: %w", key, err)
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

// load reads an object, if it is there.
func (m *Meeting) load(ctx context.Context, key string, value any) (there bool, err error) {
	for try := 0; ; try++ {
		there, err = Load(ctx, m.Store, key, value)
		if err == nil || ctx.Err() != nil || errors.Is(err, objectstore.ErrDenied) || errors.Is(err, errContent) || try == maxTries {
			return there, err
		}
		if err := pause(ctx, try); err != nil {
			return false, err
		}
	}
}

const maxTries = 5

func pause(ctx context.Context, try int) error {
	t := time.NewTimer(100 * time.Millisecond << try)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
