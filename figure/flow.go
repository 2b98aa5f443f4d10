package figure

import (
	"fmt"
	"time"

	"queuebench/analysis"
)

// ThroughputOverTime draws, second by second, the messages that were due and
// the first deliveries.
func ThroughputOverTime(s analysis.Flow, st Style) Figure {
	f, _ := throughputFigure(s, st)
	return f
}

func throughputFigure(s analysis.Flow, st Style) (Figure, *secondsFigure) {
	due, text := "scheduled", "Scheduled: messages due in each second by the schedule."
	switch {
	case s.Load.Closed:
		due, text = "begun", "Begun: messages of operations that began in each second; there is no schedule."
	case s.Load.Filled:
		due, text = "handed over", "Handed over: messages given to the queue in each second, as fast as it took them."
	}
	fig := &secondsFigure{
		yName: "messages per second", warmup: s.Warmup, window: s.Window, duration: s.Duration, marks: s.Marks,
		lines: []secondLine{
			{due, 4, flowRuns(bySecond(s.Scheduled))}, // its dashes on top
			{"received", 0, flowRuns(s.Received)},
		},
		empty: "no message was sent or received in this step",
	}
	f := Figure{
		Name: fmt.Sprintf("throughput-over-time-%d-%d", s.Step, s.Repeat), Title: "Throughput over time" + atLoad(s.Load, s.Rate), style: st,
		Caption: "Received: first deliveries in each second, by the time they were received, all consumer groups together; a last second that is not whole is left out. " + text + warmupText(s.Warmup, s.Load) + windowText(s.Window, s.Load) + marksText(s.Marks),
		draw:    fig.draw, Data: throughputData(s),
	}
	return f.named(fig.lines), fig
}

// BacklogOverTime draws how many messages were acknowledged and not yet
// received, and how many were on their way to the queue.
func BacklogOverTime(s analysis.Flow, st Style) Figure {
	f, _ := backlogFigure(s, st)
	return f
}

func backlogFigure(s analysis.Flow, st Style) (Figure, *secondsFigure) {
	var backlog, flight, client []vertex
	for _, d := range s.Depths {
		backlog = append(backlog, vertex{d.At.Seconds(), float64(d.Backlog)})
		flight = append(flight, vertex{d.At.Seconds(), float64(d.InFlight)})
		client = append(client, vertex{d.At.Seconds(), float64(d.Client)})
	}
	fig := &secondsFigure{
		yName: "messages", warmup: s.Warmup, window: s.Window, duration: s.Duration, marks: s.Marks,
		lines: []secondLine{{"backlog", 0, wholeRun(backlog)}, {"in flight", 4, wholeRun(flight)}},
		empty: "nothing was recorded by the second",
	}
	text := backlogText(s)
	if s.ClientQueue() {
		fig.lines = append(fig.lines, secondLine{"client's queue", 2, wholeRun(client)})
	}
	f := Figure{
		Name: fmt.Sprintf("backlog-over-time-%d-%d", s.Step, s.Repeat), Title: "Backlog over time" + atLoad(s.Load, s.Rate), style: st,
		Caption: text + warmupText(s.Warmup, s.Load) + windowText(s.Window, s.Load) + marksText(s.Marks),
		draw:    fig.draw, Data: backlogData(s),
	}
	return f.named(fig.lines), fig
}

// backlogText says what the lines of backlog over time are.
func backlogText(all ...analysis.Flow) string {
	every, client := "", false
	for i := range all {
		every = max(every, everyText(all[i].Depths))
		client = client || all[i].ClientQueue()
	}
	text := "Backlog: messages acknowledged and not yet received by the slowest consumer group (its lag), at the end of each " + every + ". In flight: handed to the queue's client and not yet acknowledged."
	if client {
		text += " Client's queue: of these, what the producers' client keeps and has not sent."
	}
	return text
}

// everyText is how far apart gauges lie.
func everyText(depths []analysis.Depth) string {
	var most time.Duration
	for i := 1; i < len(depths); i++ {
		most = max(most, depths[i].At-depths[i-1].At)
	}
	if most < 3*time.Second/2 {
		return "second"
	}
	return Duration(most.Round(time.Second))
}

func (f Figure) named(lines []secondLine) Figure {
	for _, l := range lines {
		f.Legend = append(f.Legend, LegendEntry{l.label, l.class})
	}
	return f
}

// warmupText says what is shaded.
func warmupText(w time.Duration, l analysis.Load) string {
	switch {
	case w <= 0:
		return ""
	case l.Filled:
		return " Shaded: the first " + Duration(w) + ", whose messages were cut from all numbers."
	case l.Closed:
		return " Shaded: the first " + Duration(w) + ", in which the operations of the warm-up began, cut from all numbers."
	}
	return " Shaded: the first " + Duration(w) + " of intended time, cut from all numbers as warm-up."
}

// cutText says what was cut in a figure without time.
func cutText(w time.Duration, l analysis.Load) string {
	switch {
	case w <= 0:
		return ""
	case l.Closed:
		return " The operations of the first " + Duration(w) + " were cut as warm-up."
	case l.Filled:
		return " The messages of the first " + Duration(w) + " were cut as warm-up."
	}
	return " The first " + Duration(w) + " of intended time were cut as warm-up."
}

// loadNote says what a load that is no schedule makes of a latency.
func loadNote(l analysis.Load) string {
	switch {
	case l.Closed:
		return " Closed loop: an operation began when the one before was done, so what a slow queue was not asked is missing."
	case l.Drained:
		return " The consumers were held until " + Duration(l.Released.Round(time.Millisecond)) + ": this says how long messages lay, not how quick the queue is."
	}
	return ""
}

// windowText says what part of the step the view looks at.
func windowText(w *analysis.Window, l analysis.Load) string {
	if w == nil {
		return ""
	}
	what := "was intended"
	switch {
	case l.Closed:
		what = "began"
	case l.Filled:
		what = "was handed over"
	}
	return " Numbers are of what " + what + " from " + Duration(time.Duration(w.FromNs)) + " to " + Duration(time.Duration(w.ToNs)) + "."
}

// bySecond adds up intervals shorter than a second, so that both lines of a
// figure count over the same stretch. Others are left as they are.
func bySecond(points []analysis.FlowPoint) []analysis.FlowPoint {
	var out []analysis.FlowPoint
	for i := 0; i < len(points); {
		start, n := points[i].Start, 0.0
		end := points[i].End
		for i < len(points) && points[i].Start < start+time.Second && points[i].End <= start+time.Second {
			n += points[i].PerS * (points[i].End - points[i].Start).Seconds()
			end = points[i].End
			i++
		}
		if end == start || n == 0 && i < len(points) && points[i].Start == start { // longer than a second
			out = append(out, points[i])
			i++
			continue
		}
		out = append(out, analysis.FlowPoint{Start: start, End: end, PerS: n / (end - start).Seconds()})
	}
	return out
}

// flowRuns is one run of vertices, the middle of each stretch, of which at most
// MaxVertices are kept: of neighbours the lowest and the highest.
func flowRuns(points []analysis.FlowPoint) [][]vertex {
	all := make([]vertex, 0, len(points))
	for _, p := range points {
		all = append(all, vertex{((p.Start + p.End) / 2).Seconds(), p.PerS})
	}
	return wholeRun(all)
}

func wholeRun(all []vertex) [][]vertex {
	if len(all) == 0 {
		return nil
	}
	if len(all) == 1 {
		all = append(all, vertex{all[0].x + 1, all[0].ns})
	}
	return [][]vertex{straight(thinned(all))}
}

// thinned keeps at most MaxVertices, of neighbours the lowest and the highest
// in their order: a peak stays.
func thinned(all []vertex) []vertex {
	if len(all) <= MaxVertices {
		return all
	}
	per := (2*len(all) + MaxVertices - 1) / MaxVertices
	out := make([]vertex, 0, MaxVertices)
	for len(all) > 0 {
		k := min(per, len(all))
		lo, hi := 0, 0
		for i, v := range all[:k] {
			if v.ns < all[lo].ns {
				lo = i
			}
			if v.ns > all[hi].ns {
				hi = i
			}
		}
		out = append(out, all[min(lo, hi)])
		if lo != hi {
			out = append(out, all[max(lo, hi)])
		}
		all = all[k:]
	}
	return out
}

// straight drops the vertices inside a level stretch.
func straight(line []vertex) []vertex {
	out := line[:0:0]
	for i, v := range line {
		if i > 0 && i < len(line)-1 && line[i-1].ns == v.ns && line[i+1].ns == v.ns {
			continue
		}
		out = append(out, v)
	}
	return out
}
