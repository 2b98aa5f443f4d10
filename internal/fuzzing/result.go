package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"queuebench/internal/reliability"
)

// result is what came of a target.
type result struct {
	target    target
	asked     time.Duration // of fuzzing
	took      time.Duration // with the seeds before it
	processor time.Duration // user and system, of all its processes
	execs     int64         // executions
	rate      float64       // executions a second after the seeds
	news      int64         // inputs that reached what no other had
	corpus    int64         // inputs of that kind, with those of earlier runs and seeds
	failed    string        // why; empty for a pass
	late      bool          // a pass, though the testing package called the end of the time a failure
	parallel  int
}

// slow says that it runs too seldom to find much.
func (r result) slow(limit float64) bool { return r.rate < limit*float64(r.parallel) }

// lateText tells of a result's late.
const lateText = "its end was called a failure (go.dev/issue/75804)"

func printTable(stdout io.Writer, results []result, o options) {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "target\ttime\tprocessor\texecutions\t/s\tnew inputs\tall inputs\tresult")
	var total int64
	for _, r := range results {
		text := "no finding"
		if r.failed != "" {
			text = "FAILED: " + r.failed
		} else if r.slow(o.slow) {
			text += ", slow"
		}
		if r.late {
			text += ", " + lateText
		}
		fmt.Fprintf(w, "%s\t%v\t%v\t%d\t%.0f\t%d\t%d\t%s\n", r.target, r.took, r.processor.Round(time.Second), r.execs, r.rate, r.news, r.corpus, text)
		total += r.execs
	}
	_ = w.Flush() // the writer under it tells
	fmt.Fprintf(stdout, "%d targets, %d executions\n", len(results), total)
}

// row is a line of docs/reliability.md. A pass counts for the time that was asked for.
func (r result) row() reliability.Row {
	row := reliability.Row{
		ID: "fuzz/" + r.target.String(), What: "`" + r.target.String() + "`", Effort: r.asked.Seconds(),
		Often:    fmt.Sprintf("%v, %s executions, %v of processor time", r.took, grouped(r.execs), r.processor.Round(time.Second)),
		Happened: fmt.Sprintf("no finding; %d inputs that reach something, %d of them new", r.corpus, r.news),
	}
	if r.late {
		row.Happened += "; " + lateText
	}
	if r.failed != "" {
		row.Failed, row.Happened = true, r.failed
	}
	return row
}

// grouped writes thousands apart.
func grouped(n int64) string {
	text := fmt.Sprint(n)
	var out strings.Builder
	for i, c := range text {
		if i > 0 && (len(text)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteRune(c)
	}
	return out.String()
}
