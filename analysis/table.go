package analysis

import (
	"slices"
	"strconv"
)

// Table is the summary's main table, a row per step: rate, messages, the
// percentiles of the end-to-end latency, maximum, mean, throughput, lost and
// duplicate messages. Terminal, report and page show this one.
func Table(s Summary) (header []string, rows [][]string) {
	percents := s.percentiles()
	repeats := slices.ContainsFunc(s.Steps, func(x StepSummary) bool { return x.Repeat > 0 })
	variants := s.Variants()
	if variants {
		header = append(header, "settings")
	}
	if s.closed() {
		header = append(header, "mode", "workers", "concurrency", "operations/s")
	} else {
		header = append(header, "rate/s")
	}
	if repeats {
		header = append(header, "repeat")
	}
	header = append(header, "n")
	for _, p := range percents {
		header = append(header, "p"+p)
	}
	header = append(header, "max", "mean", "received/s")
	if !s.tailed() { // which knows nothing of either
		header = append(header, "lost", "duplicates")
	}
	for i := range s.Steps {
		x := &s.Steps[i]
		l := x.Latencies[x.MainKind().String()]
		row := []string{x.rateCell()}
		if o := x.Loop; o != nil {
			row = []string{o.Mode, strconv.Itoa(o.Workers), strconv.Itoa(o.Concurrency), FormatRate(o.PerSecond)}
		}
		if variants {
			row = append([]string{x.Variant}, row...)
		}
		if repeats {
			row = append(row, strconv.Itoa(x.Repeat))
		}
		row = append(row, FormatCount(l.N))
		for _, p := range percents {
			row = append(row, l.text(p))
		}
		row = append(row, l.Max(), l.Mean(), x.receivedCell())
		if !s.tailed() {
			row = append(row, FormatCount(x.Accounting.Lost), FormatCount(x.Accounting.Duplicates))
		}
		rows = append(rows, row)
	}
	return header, rows
}

// imported says whether another tool measured the steps.
func (s *Summary) imported() bool {
	return slices.ContainsFunc(s.Steps, func(x StepSummary) bool { return x.Imported })
}

// rateCell is the rate of a step; a dash where nothing is known of it.
func (x *StepSummary) rateCell() string {
	if x.Imported && x.Rate == 0 {
		return Dash
	}
	return FormatRate(x.Rate)
}

// receivedCell is the throughput; a dash where imported data do not tell it.
func (x *StepSummary) receivedCell() string {
	if x.Imported && x.Throughput.ReceivedPerS == 0 {
		return Dash
	}
	return FormatRate(x.Throughput.ReceivedPerS)
}

// Variants says whether steps differ by more than their rate.
func (s *Summary) Variants() bool {
	return slices.ContainsFunc(s.Steps, func(x StepSummary) bool { return x.Variant != "" })
}

// stepHeader and stepCells name a step in a table: by its number too, where
// steps differ by more than their rate.
func (s *Summary) stepHeader() []string {
	if s.Variants() {
		return []string{"step", s.rateHeader(), "repeat"}
	}
	return []string{s.rateHeader(), "repeat"}
}

// rateHeader names the rate: what was asked for, or what a closed loop reached.
func (s *Summary) rateHeader() string {
	if s.closed() {
		return "operations/s"
	}
	return "rate/s"
}

func (s *Summary) stepCells(i int) []string {
	x := &s.Steps[i]
	cells := []string{x.rateCell(), strconv.Itoa(x.Repeat)}
	if s.Variants() {
		cells = append([]string{strconv.Itoa(x.Step)}, cells...)
	}
	return cells
}

// percentiles are the keys that any latency of s has, ascending.
func (s Summary) percentiles() []string {
	seen := map[string]float64{}
	var out []string
	for _, x := range s.Steps {
		for _, l := range x.Latencies {
			for p := range l.Percentiles {
				if _, ok := seen[p]; !ok {
					seen[p], _ = strconv.ParseFloat(p, 64)
					out = append(out, p)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		switch {
		case seen[a] < seen[b]:
			return -1
		case seen[a] > seen[b]:
			return 1
		}
		return 0
	})
	return out
}

func (l LatencySummary) text(percent string) string {
	p, ok := l.Percentiles[percent]
	if !ok {
		return Dash
	}
	return p.Text()
}

// finite tells whether any message came.
func (l LatencySummary) finite() bool { return l.N > l.Infinite }

// Max is the largest latency of the messages that came, as text.
func (l LatencySummary) Max() string {
	if !l.finite() {
		return Dash
	}
	return FormatLatency(l.MaxNs)
}

// Min is the smallest latency as text.
func (l LatencySummary) Min() string {
	if !l.finite() {
		return Dash
	}
	return FormatLatency(l.MinNs)
}

// Mean is the mean latency of the messages that came, as text.
func (l LatencySummary) Mean() string {
	if !l.finite() {
		return Dash
	}
	return FormatLatency(l.MeanNs)
}

// AccountingTable has a row per step with what became of its messages.
func AccountingTable(s Summary) (header []string, rows [][]string) {
	if s.tailed() {
		return tailTable(s)
	}
	header = append(s.stepHeader(), "scheduled", "attempted", "acked", "failed", "unconfirmed", "overrun", "received", "lost", "duplicates", "out of order", "negative", "foreign", "unknown", "used", "trimmed", "rejected")
	for i := range s.Steps {
		a := &s.Steps[i].Accounting
		row := s.stepCells(i)
		for _, n := range []int64{a.Scheduled, a.Attempted, a.Acked, a.Failed, a.Unconfirmed, a.Overrun, a.Received, a.Lost, a.Duplicates, a.OutOfOrder, a.Negative, a.Foreign, a.Unknown, a.RecordsUsed, a.RecordsTrimmed, a.RecordsRejected} {
			row = append(row, FormatCount(n))
		}
		rows = append(rows, row)
	}
	return header, rows
}

// LatencyTable has a row per step and latency other than end-to-end: median,
// p99 and maximum, which say where the time goes.
func LatencyTable(s Summary) (header []string, rows [][]string) {
	percents := s.percentiles()
	header = append(s.stepHeader(), "latency", "n")
	for _, p := range percents {
		header = append(header, "p"+p)
	}
	header = append(header, "max", "mean")
	for i := range s.Steps {
		for k := range NumKinds {
			l, ok := s.Steps[i].Latencies[k.String()]
			if !ok || k == s.Steps[i].MainKind() || k == EndToEnd && s.closed() { // which is that from send
				continue
			}
			row := append(s.stepCells(i), k.Title(), FormatCount(l.N))
			for _, p := range percents {
				row = append(row, l.text(p))
			}
			rows = append(rows, append(row, l.Max(), l.Mean()))
		}
	}
	return header, rows
}
