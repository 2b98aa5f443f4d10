package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"queuebench/stats"
)

// ByRun is the dimension of a breakdown by the runs that a digest was merged
// from.
const ByRun = "run"

// SumSteps adds up a step of several runs that were under load together, each
// read as one span (Options.Spans) of the same length and intervals: histograms
// and counts are added, seconds of the same time are joined, medians of batches
// are taken from added histograms. What tells producers, consumers and partitions
// apart gets the name of its run before it, and each run has a share of its own.
// names are those of the runs.
//
// It knows nothing of clocks, queues and settings: that the runs may be added up
// is for the caller to tell.
func SumSteps(parts []*StepDigest, names []string) (*StepDigest, error) {
	if len(parts) == 0 || len(parts) != len(names) {
		return nil, errors.New("no steps to add up")
	}
	first := parts[0]
	out := &StepDigest{
		Step: first.Step, Repeat: first.Repeat, StartNs: first.StartNs, Duration: first.Duration, Interval: first.Interval, Complete: true,
		Settings: map[string]string{}, Intervals: make([]Interval, len(first.Intervals)),
	}
	out.Breakdown.From, out.Breakdown.To = first.Breakdown.From, first.Breakdown.To
	told, batches := map[string]bool{}, new(batchSums)
	seconds := map[string][]secondRow{}
	for i, p := range parts {
		if err := sameGrid(first, p); err != nil {
			return nil, fmt.Errorf("run %s and run %s: %w", names[0], names[i], err)
		}
		out.Rate += p.Rate
		out.Complete = out.Complete && p.Complete
		out.Failure = joinReason(out.Failure, names[i], p.Failure)
		out.NoEndToEnd = joinReason(out.NoEndToEnd, names[i], p.NoEndToEnd)
		for _, o := range p.ClockOffsets {
			o.Actor = names[i] + "/" + o.Actor
			out.ClockOffsets = append(out.ClockOffsets, o)
		}
		out.Accounting.add(&p.Accounting)
		out.Stamps.add(&p.Stamps)
		out.Commits.Commits += p.Commits.Commits
		out.Commits.Retried += p.Commits.Retried
		if p.batches != nil {
			batches.add(p.batches)
		}
		out.ReceivedPerSecond = addTo(out.ReceivedPerSecond, p.ReceivedPerSecond)
		for k, c := range p.CommitsPerSecond {
			if k == len(out.CommitsPerSecond) {
				out.CommitsPerSecond = append(out.CommitsPerSecond, CommitSecond{})
			}
			x := &out.CommitsPerSecond[k]
			*x = CommitSecond{x.Commits + c.Commits, x.Messages + c.Messages, x.Bytes + c.Bytes, x.Retried + c.Retried, max(x.MaxNs, c.MaxNs)}
		}
		for _, row := range p.Seconds {
			seconds[names[i]] = append(seconds[names[i]], secondRow{Second: row, withBacklog: true})
		}
		for _, column := range p.Told {
			told[column] = true
		}
		for _, e := range p.Events {
			e.Actor = names[i] + "/" + e.Actor
			out.Events = append(out.Events, e)
		}
		for _, m := range p.Slowest {
			m.Group = names[i] + "/" + m.Group
			if m.Consumer != "" {
				m.Consumer = names[i] + "/" + m.Consumer
			}
			out.Slowest = append(out.Slowest, m)
		}
	}
	out.sumIntervals(parts)
	out.Breakdown.sum(parts, names)
	batches.medians(out)
	out.Seconds = joinSeconds(seconds, nil)
	for i := range secondColumns {
		if told[secondColumns[i].Name] {
			out.Told = append(out.Told, secondColumns[i].Name)
		}
	}
	slices.SortStableFunc(out.Events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	slices.SortStableFunc(out.Slowest, func(a, b SlowMessage) int { return slower(&a, &b) })
	out.Slowest = fewerSlowest(out.Slowest, out.Duration)
	return out, out.checkSums()
}

func sameGrid(a, b *StepDigest) error {
	if a.Duration != b.Duration || a.Interval != b.Interval || len(a.Intervals) != len(b.Intervals) || a.Breakdown.From != b.Breakdown.From || a.Breakdown.To != b.Breakdown.To {
		return fmt.Errorf("step %d has other intervals: %d of %s in %s, and %d of %s in %s", a.Step,
			len(a.Intervals), formatDuration(a.Interval), formatDuration(a.Duration), len(b.Intervals), formatDuration(b.Interval), formatDuration(b.Duration))
	}
	for i := range a.Intervals {
		if a.Intervals[i].Start != b.Intervals[i].Start || a.Intervals[i].End != b.Intervals[i].End {
			return fmt.Errorf("interval %d of step %d lies elsewhere", i, a.Step)
		}
	}
	return nil
}

func joinReason(all, name, reason string) string {
	if reason == "" {
		return all
	}
	if all != "" {
		all += "; "
	}
	return all + name + ": " + reason
}

func addTo(sum, x []int64) []int64 {
	for i, n := range x {
		if i == len(sum) {
			sum = append(sum, 0)
		}
		sum[i] += n
	}
	return sum
}

// sumIntervals adds up the intervals of all parts, one by one.
func (s *StepDigest) sumIntervals(parts []*StepDigest) {
	h := make([]stats.Compact, len(parts))
	for i := range s.Intervals {
		sum := &s.Intervals[i]
		sum.Start, sum.End = parts[0].Intervals[i].Start, parts[0].Intervals[i].End
		for _, p := range parts {
			iv := &p.Intervals[i]
			sum.Scheduled += iv.Scheduled
			sum.Unknown += iv.Unknown
			sum.Blocked += iv.Blocked
			for k := range NumKinds {
				sum.Infinite[k] += iv.Infinite[k]
			}
		}
		for k := range numSeries {
			for j, p := range parts {
				h[j] = *p.Intervals[i].series(k)
			}
			*sum.series(k) = stats.Sum(h...)
		}
	}
}

// checkSums holds what was added up against each other. A difference is an error
// of ours.
func (s *StepDigest) checkSums() error {
	a := &s.Accounting
	var used int64
	for i := range s.Intervals {
		used += s.Intervals[i].Scheduled - s.Intervals[i].Unknown
	}
	switch {
	case a.Scheduled != a.Attempted+a.Overrun+a.Unknown, a.Attempted != a.Acked+a.Failed+a.Unconfirmed:
		return fmt.Errorf("step %d: the sums of the accounting do not agree: %+v: please report it", s.Step, *a)
	case a.RecordsUsed != used || a.RecordsUsed+a.RecordsTrimmed+a.Unknown != a.Scheduled:
		return fmt.Errorf("step %d: %d messages are in intervals, %d in the accounting, which trims %d of %d: please report it", s.Step, used, a.RecordsUsed, a.RecordsTrimmed, a.Scheduled)
	}
	return nil
}

func (a *Accounting) add(b *Accounting) {
	x, y := a.counts(), b.counts()
	for i := range x {
		*x[i] += *y[i]
	}
}

// counts are all counts of an accounting.
func (a *Accounting) counts() []*int64 {
	return []*int64{&a.Scheduled, &a.Attempted, &a.Acked, &a.Failed, &a.Unconfirmed, &a.Overrun, &a.Received, &a.Lost, &a.Duplicates, &a.OutOfOrder,
		&a.Negative, &a.Foreign, &a.Unknown, &a.ReceivedUnacked, &a.RecordsUsed, &a.RecordsTrimmed, &a.RecordsRejected}
}

func (s *Stamps) add(o *Stamps) {
	finest := func(a, b int64) int64 {
		if a == 0 || b != 0 && b < a {
			return b
		}
		return a
	}
	s.Deliveries += o.Deliveries
	s.Received += o.Received
	s.ReceivedUnitNs = finest(s.ReceivedUnitNs, o.ReceivedUnitNs)
	s.BrokerDeliveries += o.BrokerDeliveries
	s.Broker += o.Broker
	s.BrokerUnitNs = finest(s.BrokerUnitNs, o.BrokerUnitNs)
}

// sum breaks down by run, and keeps what each run was broken down by: groups are
// the same in all runs, all else is of its run. Keys beyond the first of a
// dimension are gathered.
func (b *Breakdown) sum(parts []*StepDigest, names []string) {
	of := map[string]*[]Share{}
	for _, by := range []string{ByRun, ByProducer, ByConsumer, ByGroup, ByPartition} {
		of[by] = new([]Share)
	}
	for i, p := range parts {
		b.Left += p.Breakdown.Left
		run := Share{By: ByRun, Key: names[i]}
		for k := range NumKinds {
			var h []stats.Compact
			for j := range p.Intervals {
				if iv := &p.Intervals[j]; iv.Start >= b.From && iv.End <= b.To {
					h = append(h, iv.Latency[k])
					run.Infinite[k] += iv.Infinite[k]
				}
			}
			run.Latency[k] = stats.Sum(h...)
		}
		*of[ByRun] = append(*of[ByRun], run)
		for _, x := range p.Breakdown.Shares {
			to := of[x.By]
			if to == nil {
				to = new([]Share)
				of[x.By] = to
			}
			if x.By != ByGroup {
				x.Key = names[i] + "/" + x.Key
			} else if at := slices.IndexFunc(*to, func(y Share) bool { return y.Key == x.Key }); at >= 0 {
				(*to)[at].add(&x)
				continue
			}
			*to = append(*to, x)
		}
	}
	for _, by := range []string{ByRun, ByProducer, ByConsumer, ByGroup, ByPartition} {
		b.Shares = append(b.Shares, folded(*of[by])...)
		delete(of, by)
	}
	for _, by := range slices.Sorted(maps.Keys(of)) {
		b.Shares = append(b.Shares, folded(*of[by])...)
	}
}

// folded gathers the keys of a dimension beyond the first maxKeys.
func folded(all []Share) []Share {
	if len(all) <= maxKeys {
		return all
	}
	rest := Share{By: all[0].By, Key: OtherKeys}
	for i := maxKeys; i < len(all); i++ {
		rest.add(&all[i])
		rest.Folded += max(1, all[i].Folded)
	}
	return append(slices.Clone(all[:maxKeys]), rest)
}

func (x *Share) add(y *Share) {
	for k := range NumKinds {
		x.Latency[k] = stats.Sum(x.Latency[k], y.Latency[k])
		x.Infinite[k] += y.Infinite[k]
	}
}

// fewerSlowest keeps the slowest of all, and the slowest of each stretch of the
// schedule, of messages in order.
func fewerSlowest(all []SlowMessage, d time.Duration) []SlowMessage {
	if len(all) <= MaxSlowest {
		return all
	}
	var out []SlowMessage
	seen := map[int64]bool{}
	for i := range all {
		slice := all[i].Intended * slowestSlices / max(1, int64(d))
		if i < slowestOverall || !seen[slice] {
			out = append(out, all[i])
		}
		seen[slice] = true
	}
	return out[:min(len(out), MaxSlowest)]
}
