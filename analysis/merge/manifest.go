package merge

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"queuebench/analysis"
	"queuebench/rawlog"
)

// joined is the manifest of the result: what all runs have in common, the
// processes of all, and no step yet. What differs is told by differences.
func joined(runs []*run, opt Options) rawlog.Manifest {
	out := *runs[0].manifest()
	var names, reasons []string
	out.Process, out.Role, out.Begin, out.Capacity, out.Calibration = "", rawlog.RoleAll, nil, nil, nil
	out.Complete, out.Processes, out.Missing, out.ClockOffsets, out.Steps, out.Warnings, out.EndedNs = true, nil, nil, nil, nil, []string{}, 0
	out.Settings = maps.Clone(out.Settings)
	ended := true
	for _, r := range runs {
		m := r.manifest()
		names = append(names, r.name)
		out.StartedNs = min(out.StartedNs, r.on(m.StartedNs))
		out.EndedNs = max(out.EndedNs, r.on(m.EndedNs))
		ended = ended && m.EndedNs != 0
		if !m.Complete {
			out.Complete = false
			reasons = append(reasons, r.name+": "+cmp.Or(m.Reason, "it was killed, or is still running"))
		}
		out.Queue.LosesNothing = out.Queue.LosesNothing && m.Queue.LosesNothing
		out.Queue.DeliversOnce = out.Queue.DeliversOnce && m.Queue.DeliversOnce
		out.Queue.CommitInterval = max(out.Queue.CommitInterval, m.Queue.CommitInterval)
		out.Queue.StampResolution = max(out.Queue.StampResolution, m.Queue.StampResolution)
		maps.DeleteFunc(out.Settings, func(name, value string) bool { v, ok := m.Settings[name]; return !ok || v != value })
		out.ClockOffsets = append(out.ClockOffsets, m.ClockOffsets...)
		for _, name := range m.Missing {
			out.Missing = append(out.Missing, r.name+"/"+name)
		}
		for _, w := range m.Warnings {
			out.Warnings = append(out.Warnings, r.name+": "+w)
		}
		out.Processes = append(out.Processes, r.processes()...)
	}
	if !ended {
		out.EndedNs = 0
	}
	out.Reason = strings.Join(reasons, "; ")
	out.Run = cmp.Or(opt.Name, "merged-"+strings.Join(names, "-"))
	return out
}

// processes are those of a run, by its name.
func (r *run) processes() []rawlog.Process {
	m := r.manifest()
	if len(m.Processes) == 0 {
		return []rawlog.Process{{Name: r.name, Role: m.Role, Host: m.Host, Clock: m.Clock, StartedNs: r.on(m.StartedNs), EndedNs: r.on(m.EndedNs), Complete: m.Complete, Reason: m.Reason}}
	}
	out := slices.Clone(m.Processes)
	for i := range out {
		p := &out[i]
		p.Name, p.StartedNs, p.EndedNs = r.name+"/"+p.Name, r.on(p.StartedNs), r.on(p.EndedNs)
	}
	return out
}

// entry is what a run's manifest says of a step; nil where the run was killed in
// it.
func (r *run) entry(x analysis.Span) *rawlog.Step {
	m := r.manifest()
	for i := range m.Steps {
		if e := &m.Steps[i]; e.Step == x.Step && e.Repeat == x.Repeat {
			return e
		}
	}
	return nil
}

// joinedStep is the manifest's entry of a step of the result.
func joinedStep(runs []*run, i int, span analysis.Span) rawlog.Step {
	out := rawlog.Step{Step: span.Step, Repeat: span.Repeat, StartedNs: span.StartNs, DurationNs: int64(span.Duration), WarmupNs: int64(span.Warmup), Complete: true, Parts: []rawlog.PartInfo{}}
	var acked, priced int64
	var cost rawlog.Cost
	first, waited := true, int64(0)
	for _, r := range runs {
		e := r.entry(span)
		if e == nil {
			out.Complete = false
			out.Rate += r.digest.Steps[i].Rate
			continue
		}
		out.Rate += e.Rate
		out.Producers += e.Producers
		out.Complete = out.Complete && e.Complete
		if e.Failure != "" {
			out.Failure = strings.TrimPrefix(out.Failure+"; "+r.name+": "+e.Failure, "; ")
		}
		out.EndedNs = max(out.EndedNs, r.on(e.EndedNs))
		// How long the last message of a schedule was waited for.
		if w := max(0, e.DeadlineNs-e.StartedNs-e.DurationNs); first || w < waited {
			waited = w
		}
		if first {
			first = false
			out.Arrivals, out.RateProfile, out.Groups, out.Durability = e.Arrivals, e.RateProfile, slices.Clone(e.Groups), e.Durability
			out.Settings = maps.Clone(e.Settings)
		} else {
			out.Arrivals = same(out.Arrivals, e.Arrivals)
			out.RateProfile = "" // it is of a schedule that begins elsewhere
			if out.Durability != e.Durability && e.Durability != "" {
				out.Durability = strings.TrimPrefix(out.Durability+"; "+r.name+": "+e.Durability, "; ")
			}
			maps.DeleteFunc(out.Settings, func(name, value string) bool { return e.Settings[name] != value })
		}
		if e.Requests != nil && out.Requests == nil {
			out.Requests = map[string]int64{}
		}
		for name, n := range e.Requests {
			out.Requests[name] += n
		}
		out.Accounting = sum(out.Accounting, e.Accounting)
		acked += e.Accounting.Acked
		if c := e.Cost; c != nil && (priced == 0 || cost.Prices == c.Prices) {
			priced += e.Accounting.Acked
			cost.Prices = c.Prices
			cost.RequestsPerMillion += c.RequestsPerMillion * float64(e.Accounting.Acked)
			cost.DollarsPerMillion += c.DollarsPerMillion * float64(e.Accounting.Acked)
		}
	}
	out.DeadlineNs = span.End() + waited
	if priced > 0 && priced == acked {
		cost.RequestsPerMillion /= float64(priced)
		cost.DollarsPerMillion /= float64(priced)
		out.Cost = &cost
	}
	if out.Settings == nil {
		out.Settings = map[string]string{}
	}
	delete(out.Settings, "rate")
	return out
}

func same(a, b string) string {
	if a == b {
		return a
	}
	return "mixed"
}

func sum(a, b rawlog.Accounting) rawlog.Accounting {
	return rawlog.Accounting{
		Scheduled: a.Scheduled + b.Scheduled, Attempted: a.Attempted + b.Attempted, Acked: a.Acked + b.Acked, Failed: a.Failed + b.Failed,
		Unconfirmed: a.Unconfirmed + b.Unconfirmed, Overrun: a.Overrun + b.Overrun, Received: a.Received + b.Received, Lost: a.Lost + b.Lost,
		Unknown: a.Unknown + b.Unknown, Duplicates: a.Duplicates + b.Duplicates, OutOfOrder: a.OutOfOrder + b.OutOfOrder, Foreign: a.Foreign + b.Foreign,
	}
}
