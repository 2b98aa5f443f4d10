package analysis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"queuebench/clock"
	"queuebench/rawlog"
)

// partRef is a part of the log and where it lies.
type partRef struct {
	name  string
	part  rawlog.Part // its watermark on the axis of the run
	rows  int64
	shift *shift
}

// stepParts are the parts of one repeat of one step: table → actor → parts in
// the order of their index.
type stepParts struct {
	step, repeat int
	tables       map[string]map[string][]partRef
}

// identityOf is what tells parts apart.
func identityOf(p rawlog.Part) string {
	return rawlog.PartName(p.Table, p.Step, p.Repeat, p.Actor, p.Index)
}

// findParts finds the parts of a run. Those that run.json names are believed
// until they are opened to be read; any other is opened for its own identity,
// whatever its path: files that were dropped on a page have lost theirs.
func findParts(ctx context.Context, src rawlog.Source, m *rawlog.Manifest, names []string, tl *timeline) ([]*stepParts, error) {
	listed := map[string]bool{}
	for _, n := range names {
		if rawlog.IsPartName(n) {
			listed[n] = true
		}
	}
	found := map[string]partRef{}
	var missing []rawlog.PartInfo
	for i := range m.Steps {
		for _, p := range m.Steps[i].Parts {
			if !listed[p.Name] {
				missing = append(missing, p)
				continue
			}
			delete(listed, p.Name)
			found[identityOf(p.Part)] = partRef{name: p.Name, part: p.Part, rows: p.Rows}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		ref, err := identify(ctx, src, m, name)
		if err != nil {
			return nil, err
		}
		id := identityOf(ref.part)
		if other, ok := found[id]; ok {
			return nil, fmt.Errorf("%s: %s and %s are the same part: remove one of them", src.Address(), other.name, name)
		}
		found[id] = ref
	}
	for _, p := range missing {
		if _, ok := found[identityOf(p.Part)]; !ok {
			return nil, fmt.Errorf("%s: the part %s is missing, %s names it: copy the whole log again", src.Address(), p.Name, rawlog.ManifestName)
		}
	}
	return groupParts(found, tl), nil
}

// identify opens a part for its identity.
func identify(ctx context.Context, src rawlog.Source, m *rawlog.Manifest, name string) (partRef, error) {
	obj, err := src.Open(ctx, name)
	if err != nil {
		return partRef{}, partError(src, name, err)
	}
	defer obj.Close()
	r, err := rawlog.OpenPart(obj)
	if err != nil {
		return partRef{}, partError(src, name, err)
	}
	if r.Part().Run != m.Run {
		return partRef{}, fmt.Errorf("%s: %s is a part of the run %q, not of %q: move it out of the log", src.Address(), name, r.Part().Run, m.Run)
	}
	return partRef{name: name, part: r.Part(), rows: r.Rows()}, nil
}

// partError names a part that cannot be read, and what to do about it.
func partError(src rawlog.Source, name string, err error) error {
	advice := "try again"
	switch {
	case errors.Is(err, rawlog.ErrDamaged):
		advice = "copy it again from the log's store; without it, move it out of the log and what comes before it can be analysed"
	case errors.Is(err, rawlog.ErrSchema):
		advice = "it is another file than " + rawlog.ManifestName + " says, or was altered: copy the log again"
	case errors.Is(err, rawlog.ErrNotAPart):
		advice = "move it out of the log"
	case errors.Is(err, rawlog.ErrNewer):
		advice = "use a newer analyze"
	case errors.Is(err, rawlog.ErrUnsupported):
		advice = "it was not written by bench: move it out of the log"
	}
	return fmt.Errorf("%s: %s: %w (%s)", src.Address(), name, err, advice)
}

func groupParts(found map[string]partRef, tl *timeline) []*stepParts {
	type key struct{ step, repeat int }
	steps := map[key]*stepParts{}
	for _, ref := range found {
		ref.shift = tl.shift(ref.part.Clock)
		ref.part.WatermarkNs = ref.shift.on(ref.part.WatermarkNs)
		k := key{ref.part.Step, ref.part.Repeat}
		s := steps[k]
		if s == nil {
			s = &stepParts{step: k.step, repeat: k.repeat, tables: map[string]map[string][]partRef{}}
			steps[k] = s
		}
		if s.tables[ref.part.Table] == nil {
			s.tables[ref.part.Table] = map[string][]partRef{}
		}
		s.tables[ref.part.Table][ref.part.Actor] = append(s.tables[ref.part.Table][ref.part.Actor], ref)
	}
	out := slices.Collect(maps.Values(steps))
	slices.SortFunc(out, func(a, b *stepParts) int {
		return cmp.Or(cmp.Compare(a.step, b.step), cmp.Compare(a.repeat, b.repeat))
	})
	for _, s := range out {
		for _, actors := range s.tables {
			for _, parts := range actors {
				slices.SortFunc(parts, func(a, b partRef) int { return cmp.Compare(a.part.Index, b.part.Index) })
			}
		}
	}
	return out
}

// watermark is the time before which nothing of an actor's table is missing,
// without end when its last part is there and the step was not cut off: a part
// that is missing in between ends it.
func watermark(parts []partRef, cut bool) int64 {
	w := int64(math.MinInt64)
	for i, p := range parts {
		if p.part.Index != i {
			return w
		}
		if w = p.part.Watermark(); cut {
			w = p.part.WatermarkNs
		}
	}
	return w
}

// actors are those of a table, in order.
func (s *stepParts) actors(table string) []string {
	return slices.Sorted(maps.Keys(s.tables[table]))
}

func (s *stepParts) rows(table string) (n int64) {
	for _, parts := range s.tables[table] {
		for _, p := range parts {
			n += max(0, p.rows)
		}
	}
	return n
}

func clockName(c clock.Identity) string {
	if c.BootID == "" {
		return c.Host
	}
	boot, _, _ := strings.Cut(c.BootID, "-")
	return fmt.Sprintf("%s (boot %s)", c.Host, boot)
}
