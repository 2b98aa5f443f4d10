package analysis

import (
	"fmt"
	"strings"
	"time"

	"queuebench/rawlog"
)

// ClosedLoop is what stands beside every figure of a closed loop.
const ClosedLoop = "closed loop: intended = sent; coordinated omission is possible"

// adopt gives the steps what run.json says of them beyond a plain schedule:
// loops, drains and warm-ups of their own.
func (d *Digest) adopt() {
	for i := range d.Steps {
		s := &d.Steps[i]
		s.commitInterval = commitIntervalOf(&d.Manifest, s)
		for k := range d.Manifest.Steps {
			e := &d.Manifest.Steps[k]
			if e.Step == s.Step && e.Repeat == s.Repeat && (e.Loop != "" || e.Drain != nil || e.WarmupNs != 0 || e.Imported) {
				s.Own = e
			}
		}
	}
}

// closed tells whether the step was a closed loop.
func (s *StepDigest) closed() bool { return s.Own != nil && s.Own.Loop == rawlog.LoopClosed }

// imported tells whether another tool measured the step.
func (s *StepDigest) imported() bool { return s.Own != nil && s.Own.Imported }

// drains tells whether the step drained a backlog.
func (s *StepDigest) drains() bool { return s.Own != nil && s.Own.Drain != nil }

// ownWarmup is the warm-up that a step has of its own, with its rule; false
// where the default one holds.
func (s *StepDigest) ownWarmup() (time.Duration, string, bool) {
	if s.Own == nil {
		return 0, "", false
	}
	w := time.Duration(s.Own.WarmupNs)
	switch {
	case s.imported():
		return 0, "default: none, of imported data", true
	case s.drains():
		return 0, "default: none, of a backlog that is drained", true
	case s.closed() && w >= s.Duration:
		return 0, "default: none, since no operation came after those of the warm-up", true
	case s.closed():
		return w, fmt.Sprintf("the run's own: %s", plural(s.Own.WarmupOperations, "operation")), true
	case w > 0 && w < s.Duration:
		return w, "the run's own", true
	}
	return 0, "", false
}

// main is the latency that a step is about: that of an operation in a closed
// loop, else end-to-end.
func (s *StepDigest) main() Kind {
	if s.tails() {
		return BrokerToConsumer
	}
	if s.imported() {
		for i := range s.Intervals {
			if s.Intervals[i].Latency[EndToEnd].N+s.Intervals[i].Infinite[EndToEnd] > 0 {
				return EndToEnd
			}
		}
		return Imported
	}
	if !s.closed() {
		return EndToEnd
	}
	switch s.Own.Mode {
	case rawlog.ModeProduce:
		return Publish
	case rawlog.ModeConsume:
		return Poll
	}
	return EndToEnd
}

// MainKind is the latency that the run is about.
func (d *Digest) MainKind() Kind {
	if len(d.Steps) == 0 {
		return EndToEnd
	}
	return d.Steps[0].main()
}

// Of is v for a digest: where the latency of the figures is end-to-end and the
// run is a closed loop, they show the latency of its operations. (Its end-to-end
// latency is that from send.)
func (v View) Of(d *Digest) View {
	if v.Kind == EndToEnd {
		v.Kind = d.MainKind()
	}
	return v
}

// Loop is a closed loop in a summary.
type Loop struct {
	Label       string `json:"label"`
	Mode        string `json:"mode"` // produce, consume or end-to-end
	Workers     int    `json:"workers"`
	Concurrency int    `json:"concurrency"` // of each worker
	// WarmupOperations and Operations were asked for.
	WarmupOperations int64 `json:"warmup_operations"`
	Operations       int64 `json:"operations"`
	// Latency names the latency of an operation among the step's.
	Latency string `json:"latency"`
	// PerSecond is the mean of the operations that were done after the cut.
	PerSecond float64 `json:"operations_per_s"`
}

// closedLoop describes a step's loop; nil of an open one.
func (c *cut) closedLoop() *Loop {
	if !c.step.closed() {
		return nil
	}
	o := c.step.Own
	l := &Loop{
		Label: ClosedLoop, Mode: o.Mode, Workers: o.Workers, Concurrency: o.Concurrency,
		WarmupOperations: o.WarmupOperations, Operations: o.Operations, Latency: c.step.main().String(),
	}
	if left := c.end - c.warmup; left > 0 {
		l.PerSecond = float64(c.total[c.step.main()].N) / left.Seconds()
	}
	return l
}

// closedBlocks is the number of independent blocks of a closed loop after the
// cut: operations that are under way together are one, and so are those of one
// commit where commits are known.
func (c *cut) closedBlocks() int64 {
	o := c.step.Own
	n := c.total[c.step.main()].N / max(1, int64(o.Workers)*int64(o.Concurrency))
	if commits := c.step.Commits.Commits; commits > 0 && c.step.main() != Poll {
		n = min(n, int64(float64(commits)*float64(c.end-c.warmup)/float64(max(1, c.step.Duration))))
	}
	return n
}

// Name is the load of a step: "10,000 msg/s", or what stands in its place.
func (x *StepSummary) Name() string {
	switch {
	case x.Loop != nil:
		return loopName(x.Loop.Mode, x.Loop.Workers, x.Loop.Concurrency) + ", " + FormatRate(x.Loop.PerSecond) + " operations/s"
	case x.Tail != nil:
		return "tail, " + FormatRate(x.Rate) + " rows/s"
	case x.Rate == 0 && x.Drain != nil:
		return "backlog of " + plural(x.Drain.Backlog, "message")
	}
	if x.Rate == 0 && x.Imported {
		return "unknown rate"
	}
	return FormatRate(x.Rate) + " msg/s"
}

// closed tells whether the run was a closed loop.
func (s *Summary) closed() bool { return len(s.Steps) > 0 && s.Steps[0].Loop != nil }

// drained tells whether the run drained backlogs.
func (s *Summary) drained() bool { return len(s.Steps) > 0 && s.Steps[0].Drain != nil }

// MainKind is the latency that a step is about.
func (x *StepSummary) MainKind() Kind {
	if x.Tail != nil {
		return BrokerToConsumer
	}
	if x.Loop != nil {
		if k, err := ParseKind(x.Loop.Latency); err == nil {
			return k
		}
	}
	if _, ok := x.Latencies[Imported.String()]; ok && x.Imported {
		return Imported
	}
	return EndToEnd
}

// upperFirst begins a sentence.
func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
