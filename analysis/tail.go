package analysis

import (
	"fmt"
	"math"
	"strings"
	"time"

	"queuebench/rawlog"
)

// tails tells whether the step tailed messages of others.
func (s *StepDigest) tails() bool { return s.Own != nil && s.Own.Tail != nil }

// isTail tells whether a step of the manifest tailed messages of others.
func isTail(e *rawlog.Step) bool { return e != nil && e.Loop == rawlog.LoopTail && e.Tail != nil }

// Tailed is a tail in a summary.
type Tailed struct {
	rawlog.Tail
	// Latency says from what to what the latency is, in words.
	Latency string `json:"latency"`
}

// tailed describes what a step tailed; nil of others.
func (c *cut) tailed() *Tailed {
	if !c.step.tails() {
		return nil
	}
	t := &Tailed{Tail: *c.step.Own.Tail}
	t.Latency = stampText(&t.Tail) + " to the consumer"
	return t
}

// stampText says what a tail's stamps are: "the column time (long, steps of 2 ms)".
func stampText(t *rawlog.Tail) string {
	text := "the time of the commit"
	switch t.Stamp {
	case "":
		return "no stamp"
	case "column":
		text = fmt.Sprintf("the column %s (%s)", t.StampColumn, t.StampType)
	}
	if t.ResolutionNs > 1 {
		text = strings.TrimSuffix(text, ")")
		if t.Stamp == "column" {
			return fmt.Sprintf("%s, steps of %s)", text, formatDuration(time.Duration(t.ResolutionNs)))
		}
		return fmt.Sprintf("%s (steps of %s)", text, formatDuration(time.Duration(t.ResolutionNs)))
	}
	return text
}

var tailColumns = []string{"received_ns", "broker_ns", "offset"}

// tail reads the deliveries of a step that tailed messages of others. A message
// belongs to the interval in which it was received: nobody knows when it was
// due. What was there before has an age and no latency.
func (r *reading) tail(out *StepDigest, s *stepParts, planned *rawlog.Step) error {
	rec := newRecorder(out.StartNs, out.Intervals, int(BrokerToConsumer))
	rec.free = r.tailing
	j := &joiner{step: out, start: out.StartNs} // for what it counts per second
	a := &out.Accounting
	whole := true
	until := int64(math.MaxInt64)
	for _, actor := range s.actors(rawlog.Received.Name) {
		until = min(until, watermark(s.tables[rawlog.Received.Name][actor], planned.CutOffNs != 0))
	}
	if len(s.actors(rawlog.Received.Name)) == 0 {
		whole = planned.Accounting.Received == 0
	}
	out.Complete = planned.Complete && whole && until == math.MaxInt64
	err := r.each(s, rawlog.Received.Name, tailColumns, func(_ string, c []rawlog.Values, n int) {
		for i := range n {
			received, stamp := c[0].Ints[i], c[1].Ints[i]
			if received >= until {
				a.Unknown++
				continue
			}
			a.Received++
			j.perSecond(received, 1)
			if c[2].Ints[i] <= planned.Tail.Present || stamp == rawlog.Null {
				continue
			}
			live := rec.at(received)
			if live == nil || live.counters[0].Record(received-stamp) != nil {
				a.RecordsRejected++
				continue
			}
			if received < stamp {
				a.Negative++
			}
			out.Intervals[live.index].Scheduled++
			a.RecordsUsed++
		}
	})
	rec.finish()
	r.tailing = rec.free
	return err
}

// tailed tells whether the run tailed messages of others.
func (s *Summary) tailed() bool { return len(s.Steps) > 0 && s.Steps[0].Tail != nil }

// tailBlocks is the number of independent blocks of a tail after the cut: the
// versions, in proportion to the time.
func (c *cut) tailBlocks(kept, end time.Duration) int64 {
	return int64(float64(c.step.Own.Tail.Versions) * float64(kept) / float64(end))
}

// tailTable is the accounting of tails.
func tailTable(s Summary) (header []string, rows [][]string) {
	header = append(s.stepHeader(), "received", "there before", "without stamp", "retractions", "versions", "negative", "unknown", "used", "trimmed", "rejected")
	for i := range s.Steps {
		a, row := &s.Steps[i].Accounting, s.stepCells(i)
		var t rawlog.Tail
		if x := s.Steps[i].Tail; x != nil {
			t = x.Tail
		}
		for _, n := range []int64{a.Received, t.PresentRows, t.Unstamped, t.Retractions, t.Versions, a.Negative, a.Unknown, a.RecordsUsed, a.RecordsTrimmed, a.RecordsRejected} {
			row = append(row, FormatCount(n))
		}
		rows = append(rows, row)
	}
	return header, rows
}
