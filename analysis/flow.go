package analysis

import (
	"slices"
	"time"
)

// Flow is what moved through the queue in a step, second by second.
type Flow struct {
	Step, Repeat int
	Rate         float64
	Load         Load
	Warmup       time.Duration
	Duration     time.Duration
	Window       *Window // that the numbers of the view are of; nil for all after the cut
	// Scheduled are the messages due in each interval, and Received the first
	// deliveries of all groups in each whole second, as messages per second.
	Scheduled, Received []FlowPoint
	// Depths are the gauges that the processes took each second.
	Depths []Depth
	Marks  []Mark
}

// FlowPoint is a rate over a stretch of time since the step's start.
type FlowPoint struct {
	Start, End time.Duration
	PerS       float64
}

// Depth is how many messages were where, at a time since the step's start: in the
// queue, on their way to it, and of these in the queue of the producers' client.
type Depth struct {
	At                        time.Duration
	Backlog, InFlight, Client int64
}

// ClientQueue tells whether the producers' client had a queue of its own that was
// ever more than empty.
func (f *Flow) ClientQueue() bool {
	return slices.ContainsFunc(f.Depths, func(d Depth) bool { return d.Client > 0 })
}

// Mark is an event that a figure points at: a fault, a rebalance.
type Mark struct {
	At, Duration time.Duration
	Kind, Text   string
}

// marked: an event that explains what a line does.
func marked(kind string) bool { return kind == "fault" || kind == "rebalance" }

func marksOf(s *StepDigest) []Mark {
	var out []Mark
	for _, e := range s.Events {
		if marked(e.Kind) {
			out = append(out, Mark{At: e.At, Duration: e.Duration, Kind: e.Kind, Text: e.Text})
		}
	}
	if l := s.load(); l.Drained {
		out = append(out, Mark{At: l.Released, Kind: "release", Text: "the consumers begin"})
	}
	return out
}

// FlowOf is the flow of a step under v, which says where the warm-up ends. A
// second that a log without its end cannot tell is left out.
func FlowOf(s *StepDigest, v View) Flow {
	k := v.keptOf(s)
	out := Flow{Step: s.Step, Repeat: s.Repeat, Rate: s.Rate, Load: s.load(), Warmup: k.warmup, Window: v.windowOf(k), Duration: s.Duration, Marks: marksOf(s)}
	for i := range s.Intervals {
		iv := &s.Intervals[i]
		if w := iv.End - iv.Start; w > 0 {
			out.Scheduled = append(out.Scheduled, FlowPoint{iv.Start, iv.End, float64(iv.Scheduled) / w.Seconds()})
		}
	}
	seconds := s.ReceivedPerSecond
	// The last second, where the log ends in it or the drain does, is a piece.
	if n := len(seconds); n > 0 && (!s.Complete || n > 1 && time.Duration(n)*time.Second > s.Duration) {
		seconds = seconds[:n-1]
	}
	for i, n := range seconds {
		at := time.Duration(i) * time.Second
		out.Received = append(out.Received, FlowPoint{at, at + time.Second, float64(n)})
	}
	for _, sec := range s.Seconds {
		out.Depths = append(out.Depths, Depth{sec.At, sec.Backlog, sec.InFlight, sec.QueueDepth})
	}
	return out
}
