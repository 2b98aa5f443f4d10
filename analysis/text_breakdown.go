package analysis

import (
	"fmt"
	"io"
	"time"
)

// BreakdownTable has a row per share of a step: what it is of, its messages, and
// the percentiles of the step's main latency and of publish at the median; nil
// rows where the step is not broken down.
func BreakdownTable(s Summary, step int) (header []string, rows [][]string) {
	x := &s.Steps[step]
	percents := s.percentiles()
	header = append([]string{"by", "n"}, prefixed("p", percents)...)
	header = append(header, "max", "mean", "publish p50")
	if x.Breakdown == nil {
		return header, nil
	}
	for _, share := range x.Breakdown.Shares {
		name := share.By + " " + share.Key
		if share.By == ByProducer || share.By == ByConsumer {
			name = share.Key // it says what it is
		}
		if share.Folded > 0 {
			name = fmt.Sprintf("%d other %ss", share.Folded, share.By)
		}
		l := share.Latencies[x.MainKind().String()]
		row := []string{name, FormatCount(l.N)}
		for _, p := range percents {
			row = append(row, l.text(p))
		}
		rows = append(rows, append(row, l.Max(), l.Mean(), share.Latencies[Publish.String()].text("50")))
	}
	return header, rows
}

func prefixed(prefix string, texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = prefix + t
	}
	return out
}

// maxBrokenDown is how many steps a terminal shows broken down.
const maxBrokenDown = 4

// writeBreakdowns writes the breakdown of each step that has one.
func writeBreakdowns(w io.Writer, s Summary) {
	shown, more := 0, 0
	for i := range s.Steps {
		x := &s.Steps[i]
		if x.Breakdown == nil {
			continue
		}
		if shown++; shown > maxBrokenDown {
			more++
			continue
		}
		b := x.Breakdown
		covers := ""
		if from, to := x.KeptNs(); b.FromNs != from || b.ToNs != to {
			covers = fmt.Sprintf(", from %s to %s", formatDuration(time.Duration(b.FromNs)), formatDuration(time.Duration(b.ToNs)))
		}
		fmt.Fprintf(w, "\n%s, broken down%s\n", s.StepName(i), covers)
		writeTable(w, 1, func() ([]string, [][]string) { return BreakdownTable(s, i) })
		if b.Left > 0 {
			fmt.Fprintf(w, "  %s are in no row: memory for so many histograms was used up\n", plural(b.Left, "latency"))
		}
	}
	if more > 0 {
		fmt.Fprintf(w, "\n%s more are broken down in the output of --json\n", plural(int64(more), "step"))
	}
}
