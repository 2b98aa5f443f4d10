package merge

import (
	"path"
	"slices"
	"strings"

	"queuebench/analysis"
	"queuebench/rawlog"
)

// check refuses runs that are no load of one queue.
func check(runs []*run, opt Options) error {
	if len(runs) < 2 {
		return refuse("there is one: give the addresses of two runs or more")
	}
	for i, r := range runs {
		for _, other := range runs[:i] {
			if err := sameRun(other, r); err != nil {
				return err
			}
		}
		if err := r.check(); err != nil {
			return err
		}
		if i > 0 {
			if err := sameQueue(runs[0], r, opt); err != nil {
				return err
			}
			if err := sameSteps(runs[0], r); err != nil {
				return err
			}
		}
	}
	return nil
}

// sameRun refuses two logs of one run.
func sameRun(a, b *run) error {
	if a.name != b.name {
		return nil
	}
	x, y := a.manifest(), b.manifest()
	if len(x.Processes) > 0 && len(y.Processes) > 0 && x.Processes[0].Role != y.Processes[0].Role {
		return refuse("%s and %s are halves of the run %s: `analyze digest %s %s` joins them", a.source.Address(), b.source.Address(), a.name, a.source.Address(), b.source.Address())
	}
	if x.StartedNs == y.StartedNs && x.Clock == y.Clock {
		return refuse("%s and %s are the same run, %s: give each once", a.source.Address(), b.source.Address(), a.name)
	}
	return refuse("%s and %s both have the run id %s, by which their messages are told apart: start each with a --run-id of its own", a.source.Address(), b.source.Address(), a.name)
}

// check refuses a run that cannot be one of several.
func (r *run) check() error {
	m := r.manifest()
	if len(r.outline.Spans) == 0 {
		return refuse("run %s has no step", r.name)
	}
	switch {
	case m.Store.Embedded:
		return refuse("the store of run %s was the embedded server, which no other run reaches: give all the same --store", r.name)
	case m.Queue.InProcess:
		return refuse("the %s queue of run %s lived in its process, where no other run reaches it", m.Queue.Kind, r.name)
	case m.Consumed != nil:
		return refuse("in run %s a pipeline lay between two topics, and its times are those of one run: look at it by itself", r.name)
	case len(m.Imports) > 0:
		return refuse("run %s was imported from files of another tool", r.name)
	}
	for _, p := range []rawlog.Role{rawlog.RoleProduce, rawlog.RoleConsume} {
		if len(m.Processes) > 0 && !slices.ContainsFunc(m.Processes, func(x rawlog.Process) bool { return x.Role == p }) {
			return refuse("run %s has no log of a process that does %s: join its halves first, `analyze digest RUN RUN`", r.name, p)
		}
	}
	for i := range m.Steps {
		if kind := kindOf(&m.Steps[i]); kind != "schedule" {
			return refuse("step %d of run %s is a %s: what is merged has to follow a schedule, since the load of the others would change what it measures", m.Steps[i].Step, r.name, kind)
		}
	}
	return nil
}

// kindOf says what a step did.
func kindOf(s *rawlog.Step) string {
	switch {
	case s.Imported:
		return "file of another tool"
	case s.Loop == rawlog.LoopClosed:
		return "closed loop"
	case s.Loop == rawlog.LoopTail:
		return "tail of a table"
	case s.Drain != nil:
		return "drain of a backlog"
	}
	return "schedule"
}

// sameQueue refuses runs of other queues, as far as manifests tell.
func sameQueue(a, b *run, opt Options) error {
	x, y := a.manifest(), b.manifest()
	if x.Queue.Kind != y.Queue.Kind {
		return refuse("run %s loaded a queue of kind %s, and run %s one of kind %s: other queues are compared, `analyze compare`", a.name, x.Queue.Kind, b.name, y.Queue.Kind)
	}
	if opt.SameQueue {
		return nil
	}
	const advice = "where these are one, say so with --same-queue"
	if p, q := place(x.Store.Address, x.Run), place(y.Store.Address, y.Run); p != q {
		return refuse("the queue of run %s lay in %s, and that of run %s in %s; %s", a.name, p, b.name, q, advice)
	}
	for _, name := range serverSettings {
		if p, q := x.Settings[name], y.Settings[name]; p != q {
			return refuse("--%s of run %s was %q, and of run %s %q; %s", name, a.name, p, b.name, q, advice)
		}
	}
	return nil
}

// serverSettings name the servers of a queue, or the topic that the runs share.
var serverSettings = []string{"brokers", "nats-url", "rabbitmq-url", "redis-url", "topic"}

// place is where a store lies, without what is the run's own: the last elements
// of a prefix that name the run.
func place(address, run string) string {
	base, query, has := strings.Cut(address, "?")
	if path.Base(base) == run {
		base = strings.TrimSuffix(strings.TrimSuffix(base, run), "/")
	}
	if has {
		return base + "?" + query
	}
	return base
}

// sameSteps refuses runs whose steps do not match, one by one.
func sameSteps(a, b *run) error {
	x, y := a.outline.Spans, b.outline.Spans
	same := func(p, q analysis.Span) bool { return p.Step == q.Step && p.Repeat == q.Repeat }
	if !slices.EqualFunc(x, y, same) {
		return refuse("run %s has %s and run %s %s: runs are merged step by step, so start all with the same steps and repeats", a.name, stepsText(x), b.name, stepsText(y))
	}
	for i := range a.manifest().Steps {
		e := &a.manifest().Steps[i]
		for k := range b.manifest().Steps {
			if f := &b.manifest().Steps[k]; e.Step == f.Step && e.Repeat == f.Repeat && len(e.Groups) != len(f.Groups) {
				return refuse("step %d has %d consumer groups in run %s and %d in run %s: a message would be awaited more often in one than in the other; give all the same --groups", e.Step, len(e.Groups), a.name, len(f.Groups), b.name)
			}
		}
	}
	return nil
}
