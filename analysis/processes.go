package analysis

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"queuebench/rawlog"
)

// readManifests reads the manifests of a log: run.json, or those of the
// processes that recorded it.
func readManifests(ctx context.Context, src rawlog.Source, names []string) ([]*rawlog.Manifest, error) {
	var found []string
	for _, name := range names {
		if rawlog.IsManifestName(name) {
			found = append(found, name)
		}
	}
	switch {
	case len(found) == 0:
		return nil, rawlog.MissingManifest(src.Address())
	case len(found) > 1 && slices.Contains(found, rawlog.ManifestName):
		return nil, fmt.Errorf("%s: %s is of a whole run, and %s stands beside it: move one of them out of the log",
			src.Address(), rawlog.ManifestName, found[slices.IndexFunc(found, func(n string) bool { return n != rawlog.ManifestName })])
	}
	slices.Sort(found)
	var all []*rawlog.Manifest
	for _, name := range found {
		obj, err := src.Open(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("opening %s of %s: %w", name, src.Address(), err)
		}
		m, err := rawlog.ReadManifest(io.NewSectionReader(obj, 0, obj.Size()))
		obj.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", src.Address(), name, err)
		}
		if name != m.Name() {
			return nil, fmt.Errorf("%s: %s says that it is %s: it was renamed, copy the log again", src.Address(), name, m.Name())
		}
		all = append(all, m)
	}
	return all, nil
}

// joinManifests makes one manifest of those of a run's processes. What the
// producers say of the load holds; times of others are put on their axis.
func joinManifests(all []*rawlog.Manifest, tl *timeline) (*rawlog.Manifest, error) {
	if len(all) == 1 && all[0].Process == "" {
		return all[0], nil
	}
	// Producers first: the first one that knows a thing is believed.
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *rawlog.Manifest) int {
		return cmp.Or(cmp.Compare(roleOrder(a.Role), roleOrder(b.Role)), cmp.Compare(a.Process, b.Process))
	})
	out := *all[0]
	out.Process, out.Role, out.Begin = "", rawlog.RoleAll, nil
	out.Complete, out.Steps, out.Warnings, out.Reason = true, nil, nil, ""
	out.Settings = map[string]string{}
	out.EndedNs = 0
	roles, ended := map[rawlog.Role]bool{}, true
	var reasons []string
	for _, m := range all {
		if m.Run != out.Run {
			return nil, fmt.Errorf("%w: %s is of the run %q, and %s of %q", rawlog.ErrNotHalves, all[0].Name(), out.Run, m.Name(), m.Run)
		}
		s := tl.shift(m.Clock)
		p := rawlog.Process{
			Name: m.Process, Role: m.Role, Host: m.Host, Clock: m.Clock, Complete: m.Complete, Reason: m.Reason,
			StartedNs: s.on(m.StartedNs), EndedNs: s.on(m.EndedNs),
		}
		out.Processes = append(out.Processes, p)
		roles[m.Role] = true
		out.StartedNs = min(out.StartedNs, p.StartedNs)
		out.EndedNs = max(out.EndedNs, p.EndedNs)
		ended = ended && m.EndedNs != 0
		if !m.Complete {
			out.Complete = false
			reasons = append(reasons, m.Process+" "+cmp.Or(m.Reason, "was killed, or is still running"))
		}
		for name, v := range m.Settings {
			if _, there := out.Settings[name]; !there {
				out.Settings[name] = v
			}
		}
		for _, w := range m.Warnings {
			if !slices.Contains(out.Warnings, w) {
				out.Warnings = append(out.Warnings, w)
			}
		}
		out.ClockOffsets = append(out.ClockOffsets[:len(out.ClockOffsets):len(out.ClockOffsets)], m.ClockOffsets...)
	}
	out.ClockOffsets = out.ClockOffsets[len(all[0].ClockOffsets):] // the first one's stand there twice
	if !ended {
		out.EndedNs = 0
	}
	if missing := missingHalf(&out); missing != "" {
		out.Complete = false
		reasons = append(reasons, missing)
	}
	out.Missing = nil
	for _, m := range all {
		for _, name := range m.Missing {
			if !slices.Contains(out.Missing, name) {
				out.Missing, out.Complete = append(out.Missing, name), false
				reasons = append(reasons, name+" did not come, and nobody did its part")
			}
		}
	}
	out.Reason = strings.Join(reasons, "; ")
	out.Steps = joinSteps(all, tl)
	for i := range out.Steps {
		out.Steps[i].Complete = out.Steps[i].Complete && missingHalf(&out) == ""
	}
	return &out, nil
}

func roleOrder(r rawlog.Role) int {
	return slices.Index([]rawlog.Role{rawlog.RoleAll, rawlog.RoleProduce, rawlog.RoleConsume}, r)
}

// missingHalf says which half of a run that several processes recorded is not
// there; empty where both are, or one process recorded it all.
func missingHalf(m *rawlog.Manifest) string {
	if len(m.Processes) == 0 {
		return ""
	}
	has := func(r rawlog.Role) bool {
		return slices.ContainsFunc(m.Processes, func(p rawlog.Process) bool { return p.Role == r || p.Role == rawlog.RoleAll })
	}
	switch {
	case !has(rawlog.RoleProduce):
		return "the log of its produce half is not there"
	case !has(rawlog.RoleConsume):
		return "the log of its consume half is not there"
	}
	return ""
}

// joinSteps joins the entries of each repeat of each step.
func joinSteps(all []*rawlog.Manifest, tl *timeline) []rawlog.Step {
	type key struct{ step, repeat int }
	joined := map[key]*rawlog.Step{}
	count := map[key]int{}
	for _, m := range all {
		shift := tl.shift(m.Clock)
		for i := range m.Steps {
			s := m.Steps[i]
			for _, t := range []*int64{&s.StartedNs, &s.DeadlineNs, &s.EndedNs, &s.CutOffNs} {
				*t = shift.on(*t)
			}
			if s.Failure != "" {
				s.Failure = m.Process + ": " + s.Failure
			}
			k := key{s.Step, s.Repeat}
			count[k]++
			if joined[k] == nil {
				s.Groups, s.Parts = slices.Clone(s.Groups), slices.Clone(s.Parts)
				s.Requests, s.Settings = maps.Clone(s.Requests), maps.Clone(s.Settings)
				if m.Role == rawlog.RoleProduce {
					s.DeadlineNs = 0 // the consumers' is what messages were waited for
				}
				joined[k] = &s
				continue
			}
			joinStep(joined[k], &s)
		}
	}
	out := []rawlog.Step{}
	for k, s := range joined {
		s.Complete = s.Complete && count[k] == len(all)
		if s.DeadlineNs == 0 {
			s.DeadlineNs = s.EndedNs
		}
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b rawlog.Step) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Repeat, b.Repeat))
	})
	return out
}

// joinStep adds what a further process says of a step.
func joinStep(a, b *rawlog.Step) {
	earliest := func(x, y int64) int64 {
		if x == 0 || y != 0 && y < x {
			return y
		}
		return x
	}
	a.DeadlineNs = earliest(a.DeadlineNs, b.DeadlineNs)
	a.CutOffNs = earliest(a.CutOffNs, b.CutOffNs)
	a.EndedNs = max(a.EndedNs, b.EndedNs)
	a.Complete = a.Complete && b.Complete
	if a.Failure = cmp.Or(a.Failure, b.Failure); b.Failure != "" && a.Failure != b.Failure {
		a.Failure += "; " + b.Failure
	}
	first := len(a.Groups) == 0
	a.SharedGroups = a.SharedGroups || b.SharedGroups
	for _, g := range b.Groups {
		if !slices.Contains(a.Groups, g) {
			a.Groups = append(a.Groups, g)
		}
	}
	for name, n := range b.Requests {
		if a.Requests == nil {
			a.Requests = map[string]int64{}
		}
		a.Requests[name] += n
	}
	a.Parts = append(a.Parts, b.Parts...)
	x, y := &a.Accounting, &b.Accounting
	x.Scheduled += y.Scheduled
	x.Attempted += y.Attempted
	x.Acked += y.Acked
	x.Failed += y.Failed
	x.Unconfirmed += y.Unconfirmed
	x.Overrun += y.Overrun
	switch {
	case a.SharedGroups:
		x.Received += y.Received // what more than one got is not known to any
	case first || y.Received < x.Received && len(b.Groups) > 0:
		x.Received = y.Received // of the worst group
	}
	x.Duplicates += y.Duplicates
	x.OutOfOrder += y.OutOfOrder
	x.Foreign += y.Foreign
	x.Unknown += y.Unknown
}

// without makes a join know that one half of the run is not there: nothing can
// be said of messages that only it would know of. What the other one stamped is
// whole as far as it goes.
func (j *joiner) without(s *stepParts, missing string) {
	if len(s.tables[rawlog.Received.Name]) == 0 {
		j.until, j.receivedWhole = math.MaxInt64, true
		j.groups = nil
	}
	j.endToEnd = false
	j.step.NoEndToEnd = missing
}

// onlyHalfMissing tells a run that lacks a half and nothing else.
func onlyHalfMissing(m *rawlog.Manifest) bool {
	return missingHalf(m) != "" && !slices.ContainsFunc(m.Processes, func(p rawlog.Process) bool { return !p.Complete })
}
