package analysis

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// WriteText writes a summary for a terminal: the run, the latency per step, the
// accounting, the other latencies, the warm-up's rule, and the findings with
// what to do.
func WriteText(w io.Writer, s Summary) error {
	b := bufio.NewWriter(w)
	state := "complete"
	if !s.Complete {
		state = "incomplete"
	}
	fmt.Fprintf(b, "Run %s, %s, %s\n", s.Run, plural(int64(len(s.Steps)), "step"), state)
	writeFindings(b, s.Findings)

	fmt.Fprintf(b, "\nEnd-to-end latency, from the schedule's time to the consumer (%s: too few messages behind it)\n", Dash)
	writeTable(b, 0, func() ([]string, [][]string) { return Table(s) })
	writeWarmups(b, s)

	fmt.Fprintf(b, "\nAccounting, in messages\n")
	writeTable(b, 0, func() ([]string, [][]string) { return AccountingTable(s) })

	fmt.Fprintf(b, "\nWhere the time goes\n")
	writeTable(b, 3, func() ([]string, [][]string) { return LatencyTable(s) })

	for i := range s.Steps {
		if x := &s.Steps[i]; len(x.Findings) > 0 {
			fmt.Fprintf(b, "\n%s\n", x.Name())
			writeFindings(b, x.Findings)
		}
	}
	return b.Flush()
}

// Name is a step's name for people: "10,000 msg/s", with the repeat where there
// is more than the first.
func (x *StepSummary) Name() string {
	name := FormatRate(x.Rate) + " msg/s"
	if x.Repeat > 0 {
		name += fmt.Sprintf(", repeat %d", x.Repeat)
	}
	return name
}

// Warmup is the cut of a step and its rule as text: "2 s (default: …)".
func (x *StepSummary) Warmup() string {
	return fmt.Sprintf("%s (%s)", formatDuration(time.Duration(x.WarmupNs)), x.WarmupRule)
}

// writeWarmups writes the rule once where all steps share it.
func writeWarmups(w io.Writer, s Summary) {
	for i := range s.Steps {
		x := &s.Steps[i]
		same := true
		for j := range s.Steps {
			same = same && s.Steps[j].Warmup() == s.Steps[0].Warmup()
		}
		switch {
		case same:
			fmt.Fprintf(w, "Warm-up cut from each step, by intended time: %s\n", x.Warmup())
			return
		case i == 0:
			fmt.Fprintf(w, "Warm-up cut, by intended time:\n")
		}
		fmt.Fprintf(w, "  %s: %s\n", x.Name(), x.Warmup())
	}
}

func writeFindings(w io.Writer, findings []Finding) {
	for _, f := range findings {
		fmt.Fprintf(w, "  %-7s  %s\n           %s [%s]\n", f.Severity, f.Text, f.Advice, f.ID)
	}
}

// writeTable aligns columns to the right; column left stands to the left where
// it is one (0 for none).
func writeTable(w io.Writer, left int, table func() ([]string, [][]string)) {
	header, rows := table()
	width := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range append([][]string{header}, rows...) {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			line.WriteString("  ")
			if left > 0 && i == left-1 {
				line.WriteString(cell + pad)
			} else {
				line.WriteString(pad + cell)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}
