package analysis

import (
	"fmt"
	"math"
	"slices"
	"time"

	"queuebench/rawlog"
)

// step reads one repeat of one step.
func (r *reading) step(m *rawlog.Manifest, s *stepParts, opt Options) (*StepDigest, error) {
	fail := func(err error) (*StepDigest, error) {
		return nil, fmt.Errorf("step %d, repeat %d: %w", s.step, s.repeat, err)
	}
	planned, before := plannedStep(m, s.step, s.repeat), r.memory.held
	sent, received, err := r.open(s, partitionsOf(m, planned) != 1, opt.EndToEndOnly)
	defer func() {
		for _, x := range sent {
			x.close()
		}
		for _, x := range received {
			x.close()
		}
	}()
	if err != nil {
		return fail(err)
	}
	out := &StepDigest{Step: s.step, Repeat: s.repeat, NoEndToEnd: r.timeline.clockConflict(s)}
	groups, err := describe(out, planned, sent)
	if err != nil {
		return fail(err)
	}
	margin, planned, err := opt.narrow(out, planned)
	if err != nil {
		return fail(err)
	}
	r.narrowed = margin != nil
	for _, x := range received {
		groups = x.addGroups(groups)
	}
	if len(groups) > maxGroups {
		return fail(fmt.Errorf("%d consumer groups, at most %d can be joined", len(groups), maxGroups))
	}
	if out.Interval = opt.Interval; out.Interval <= 0 {
		out.Interval = DefaultInterval(out.Duration)
	}
	if out.Duration/out.Interval > maxGrid {
		return fail(fmt.Errorf("intervals of %s in a step of %s: at most %d intervals", formatDuration(out.Interval), formatDuration(out.Duration), maxGrid))
	}
	out.ClockOffsets = r.timeline.used(s, out.StartNs, out.Duration)
	from, to, edges := opt.View.fixedCut(out, planned)
	grid := int64(out.Duration/out.Interval) * intervalBytes
	if !r.memory.take(grid) {
		return fail(r.memory.tooMuch("what becomes the intervals of all steps"))
	}
	out.Intervals = margin.around(newIntervals(out.Duration, out.Interval, slices.Concat(opt.Edges, defaultEdges(out, planned), edges)), out.Duration)

	if isTail(planned) {
		if err := r.tail(out, s, planned); err != nil {
			return fail(err)
		}
		if err := r.side(out, s); err != nil {
			return fail(err)
		}
		return out, nil
	}
	j := newJoiner(out, groups)
	j.single, j.only, j.memory = opt.single, opt.EndToEndOnly, &r.memory
	out.EndToEndOnly = opt.EndToEndOnly
	j.sending.free, j.receiving.free = r.sending, r.receiving
	j.maxSeq = s.rows(rawlog.Sent.Name)
	out.Breakdown.From, out.Breakdown.To = from, to
	j.consumers, j.slowest.from, j.slowest.to = s.actors(rawlog.Received.Name), int64(from), int64(to)
	j.by = newBreaker(out, m, planned, s.actors(rawlog.Received.Name), groups, from, to)
	j.watermarks(s, planned)
	if planned != nil && planned.SharedGroups {
		j.sharedWatermark(s, m, planned)
	}
	if missing := missingHalf(m); missing != "" {
		j.without(s, missing)
	}
	if !j.sentWhole {
		j.maxSeq += cutSlack
	}
	out.Complete = planned != nil && planned.Complete && j.sentWhole && j.receivedWhole
	if err := j.run(sent, received); err != nil {
		return fail(err)
	}
	r.sending, r.receiving = j.sending.free, j.receiving.free
	if planned != nil {
		// What is no message of the step has no row.
		out.Accounting.Foreign += planned.Accounting.Foreign
	}
	if opt.EndToEndOnly {
		out.keepEndToEnd()
	} else if err := r.pipeline(out, m, s, planned, groups); err != nil {
		return fail(err)
	}
	// The join is done: what it held is not.
	r.memory.held = before + grid + out.bucketBytes() + 8*int64(len(out.ReceivedPerSecond))
	if err := r.side(out, s); err != nil {
		return fail(err)
	}
	margin.trim(out)
	if rate := askedRate(m, out.Step); planned == nil && rate > 0 {
		out.Rate = rate
	} else if planned == nil && out.Duration > 0 {
		var rows int64
		for i := range out.Intervals {
			rows += out.Intervals[i].Scheduled
		}
		out.Rate = float64(rows) / out.Duration.Seconds()
	}
	return out, nil
}

// defaultEdges are where the warm-up may end by default.
func defaultEdges(s *StepDigest, planned *rawlog.Step) []time.Duration {
	edges := []time.Duration{DefaultWarmup(s.Duration)}
	if planned != nil && planned.WarmupNs > 0 {
		edges = append(edges, time.Duration(planned.WarmupNs))
	}
	return edges
}

// describe fills in what run.json says of the step. A run that was killed in a
// step has no entry of it: then start and length are those of the rows.
func describe(out *StepDigest, planned *rawlog.Step, sent []*sentStream) (groups []string, err error) {
	if planned != nil {
		out.Rate, out.Settings, out.Failure = planned.Rate, planned.Settings, planned.Failure
		out.StartNs, out.Duration = planned.StartedNs, time.Duration(planned.DurationNs)
		return slices.Clone(planned.Groups), nil
	}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, x := range sent {
		if err := x.firstRows(2, func(intended []int64) {
			for _, t := range intended {
				first, last = min(first, t), max(last, t)
			}
		}); err != nil {
			return nil, err
		}
		if p := x.parts[len(x.parts)-1].part; p.WatermarkNs > last {
			last = p.WatermarkNs
		}
	}
	if first <= last {
		// The last message lies inside: one more nanosecond.
		out.StartNs, out.Duration = first, time.Duration(last-first+1)
	}
	return nil, nil
}

// addGroups adds the groups of the first row group: those of its dictionary.
func (s *receivedStream) addGroups(groups []string) []string {
	for _, name := range s.cols[3].Dict {
		if !slices.Contains(groups, name) && len(groups) <= maxGroups {
			groups = append(groups, name)
		}
	}
	return groups
}

// watermarks finds up to when the log of a step is whole. An actor that has no
// part at all, in a step that did not end, leaves nothing known. In a step that
// was cut off a last part says that no row follows, but not that each message
// was waited for.
func (j *joiner) watermarks(s *stepParts, planned *rawlog.Step) {
	cut := planned != nil && planned.CutOffNs != 0
	lowest := func(table string, actors int) (w int64, whole bool) {
		w, whole = math.MaxInt64, true
		names := s.actors(table)
		for _, actor := range names {
			w = min(w, watermark(s.tables[table][actor], cut))
		}
		if len(names) < actors && (planned == nil || !planned.Complete) {
			w = math.MinInt64
		}
		return w, w == math.MaxInt64
	}
	producers, consumers := 1, max(1, len(j.groups))
	if planned != nil {
		producers = planned.Producers
	}
	_, j.sentWhole = lowest(rawlog.Sent.Name, producers)
	j.until, j.receivedWhole = lowest(rawlog.Received.Name, consumers)
	for actor, parts := range s.tables[rawlog.Sent.Name] {
		var id int64
		if _, err := fmt.Sscanf(actor, "producer-%d", &id); err == nil {
			if p := j.producer(id); p != nil {
				p.watermark = watermark(parts, cut)
			}
		}
	}
}

// sharedWatermark is for groups that consumers of several processes share. Where
// one of them died the others got what was its own from then on: what any of them
// received is known, whenever that was, and only what none has is unknown, since
// the dead one may have had it after its last part.
func (j *joiner) sharedWatermark(s *stepParts, m *rawlog.Manifest, planned *rawlog.Step) {
	cut := planned.CutOffNs != 0
	for _, actor := range s.actors(rawlog.Received.Name) {
		if watermark(s.tables[rawlog.Received.Name][actor], cut) == math.MaxInt64 {
			j.until = math.MaxInt64
		}
	}
	died := slices.ContainsFunc(m.Processes, func(p rawlog.Process) bool { return p.Role == rawlog.RoleConsume && !p.Complete })
	j.receivedWhole = j.receivedWhole && !died
}
