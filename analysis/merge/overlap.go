package merge

import (
	"cmp"
	"fmt"
	"time"

	"queuebench/analysis"
	"queuebench/rawlog"
)

// align finds what puts each run on the axis of the first one.
func align(runs []*run, opt Options) error {
	var all []*rawlog.Manifest
	for _, r := range runs {
		all = append(all, r.manifest())
	}
	for _, r := range runs {
		r.shift, r.known = analysis.ShiftBetween(all, runs[0].manifest().Clock, r.manifest().Clock)
		if !r.known && opt.ClockError <= 0 {
			return refuse("nothing says how far the clock of %s (run %s) is from that of %s (run %s): run `bench clock serve` on one host and give all runs --clock-peer with its address; or, where both are kept right, say within what by --clock-error, such as 50ms",
				hostOf(r), r.name, hostOf(runs[0]), runs[0].name)
		}
	}
	return nil
}

func hostOf(r *run) string { return cmp.Or(r.manifest().Clock.Host, "an unknown host") }

// on puts a time of the run on the axis of the first one, and back undoes it.
func (r *run) on(ns int64) int64 {
	if !r.known {
		return ns
	}
	return r.shift.On(ns)
}

func (r *run) back(ns int64) int64 {
	if !r.known {
		return ns
	}
	return r.shift.Back(ns)
}

// offset is what is added to the run's clock in a step, and by how much it may
// be wrong.
func (r *run) offset(start int64, d time.Duration, opt Options) analysis.ClockOffset {
	if !r.known {
		return analysis.ClockOffset{Actor: r.name, ErrorNs: int64(opt.ClockError)}
	}
	return r.shift.Offset(r.name, start, d)
}

// overlaps are the stretches in which all runs were under the load of a step, on
// the axis of the first one: from when the last of them had begun until the first
// one ended, less by what their clocks may be apart.
func overlaps(runs []*run, opt Options) ([]analysis.Span, error) {
	var out []analysis.Span
	for i, first := range runs[0].outline.Spans {
		span := analysis.Span{Step: first.Step, Repeat: first.Repeat}
		var from, to int64
		var began, ended *run
		for _, r := range runs {
			s := r.outline.Spans[i]
			start, end := r.on(s.StartNs), r.on(s.End())
			o := r.offset(start, time.Duration(end-start), opt)
			r.offsets = append(r.offsets, o)
			if began == nil || start+o.ErrorNs > from {
				from, began = start+o.ErrorNs, r
			}
			if ended == nil || end-o.ErrorNs < to {
				to, ended = end-o.ErrorNs, r
			}
		}
		if to <= from {
			return nil, refuse("%s: run %s began %s, when run %s had ended %s (on the clock of %s): there is no time in which all of them were under load",
				stepText(first), began.name, clockText(from), ended.name, clockText(to), hostOf(runs[0]))
		}
		span.StartNs, span.Duration = from, time.Duration(to-from)
		for _, r := range runs {
			if s := r.outline.Spans[i]; s.Warmup > 0 {
				span.Warmup = max(span.Warmup, time.Duration(r.on(s.StartNs)-from)+s.Warmup)
			}
		}
		if span.Warmup >= span.Duration {
			span.Warmup = 0 // it leaves nothing: the default rule holds
		}
		out = append(out, span)
	}
	return out, nil
}

func stepText(s analysis.Span) string {
	if s.Repeat > 0 {
		return fmt.Sprintf("step %d, repeat %d", s.Step, s.Repeat)
	}
	return fmt.Sprintf("step %d", s.Step)
}

func stepsText(all []analysis.Span) string {
	steps, repeats := map[int]bool{}, 0
	for _, s := range all {
		steps[s.Step] = true
		repeats = max(repeats, s.Repeat+1)
	}
	return fmt.Sprintf("%d steps of up to %d repeats (%d in all)", len(steps), repeats, len(all))
}

func clockText(ns int64) string { return time.Unix(0, ns).UTC().Format("15:04:05.000 UTC") }
