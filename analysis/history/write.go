package history

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"queuebench/analysis"
	"queuebench/analysis/compare"
	"queuebench/internal/columns"
	"queuebench/stats"
)

// WriteText writes a history for a terminal: a row for each load and percentile,
// then each change with what else changed there.
func WriteText(w io.Writer, r *Result) error {
	b := bufio.NewWriter(w)
	line := func(format string, a ...any) { fmt.Fprintln(b, columns.Clean(fmt.Sprintf(format, a...))) }
	if n := len(r.Runs); n > 0 {
		line("%d runs, from %s (%s) to %s (%s)", n, startText(r.Runs[0]), r.Runs[0].Run, startText(r.Runs[n-1]), r.Runs[n-1].Run)
	}
	for _, text := range r.Warnings {
		line("warning  %s", text)
	}
	title := r.Latency
	if k, err := analysis.ParseKind(r.Latency); err == nil {
		title = k.Title()
	}
	fmt.Fprintln(b)
	line("%s latency over time", title)
	t := columns.Table{Left: 2, Header: []string{"load", "latency", "runs", "lowest", "median", "highest", "last", "changes"}}
	for i := range r.Series {
		s := &r.Series[i]
		name := s.Load
		if i > 0 && r.Series[i-1].Load == s.Load {
			name = ""
		}
		t.Rows = append(t.Rows, append([]string{name, "p" + s.Percentile, strconv.Itoa(len(s.Points))}, s.cells()...))
	}
	if err := t.Write(b); err != nil {
		return err
	}
	for i := range r.Series {
		s := &r.Series[i]
		for k := range s.Changes {
			c := &s.Changes[k]
			fmt.Fprintln(b)
			line("%s p%s: %s (%s … %s) from run %s on, %s, p = %s", s.Load, s.Percentile, compare.ChangeText(float64(c.Ratio)),
				compare.ChangeText(float64(c.Low)), compare.ChangeText(float64(c.High)), r.Runs[c.After].Run, startText(r.Runs[c.After]), strconv.FormatFloat(c.P, 'g', 2, 64))
			line("  %s over %d runs before, %s over %d since", nsText(s.Stretches[k].MedianNs), s.Stretches[k].Runs, nsText(s.Stretches[k+1].MedianNs), s.Stretches[k+1].Runs)
			if len(c.Differences) == 0 {
				line("  nothing that the runs tell of themselves changed since %s", r.Runs[c.Before].Run)
			}
			for j := range c.Differences {
				line("  since %s: %s", r.Runs[c.Before].Run, c.Differences[j].Text())
			}
		}
	}
	fmt.Fprintln(b)
	line("A change is a permutation test over runs (E-divisive on ranks): all %d series together call something a change by chance in at most %g %% of histories like this one. At least %d runs are needed for that, %d on either side of a change.",
		len(r.Series), r.Level*100, r.RunsNeeded, stats.MinSegment)
	for i := range r.Series {
		s := &r.Series[i]
		for _, text := range s.LeftOut {
			line("left out of %s p%s: %s", s.Load, s.Percentile, text)
		}
		if n := s.doubtful(); n > 0 {
			line("%s p%s: a finding takes the meaning from %d of its %d runs (see --json or --csv)", s.Load, s.Percentile, n, len(s.Points))
		}
	}
	return b.Flush()
}

func (s *Series) doubtful() (n int) {
	for i := range s.Points {
		if len(s.Points[i].Doubts) > 0 {
			n++
		}
	}
	return n
}

// cells are a series' lowest, median, highest and last value, and its changes.
func (s *Series) cells() []string {
	if len(s.Points) == 0 {
		return []string{analysis.Dash, analysis.Dash, analysis.Dash, analysis.Dash, "too few runs"}
	}
	var values []float64
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range s.Points {
		v := float64(p.Ns)
		values = append(values, v)
		low, high = min(low, v), max(high, v)
	}
	var changes []string
	for _, c := range s.Changes {
		changes = append(changes, compare.ChangeText(float64(c.Ratio)))
	}
	text := strings.Join(changes, ", ")
	switch {
	case s.TooFew:
		text = "too few runs"
	case text == "":
		text = string(compare.NotShown)
	}
	return []string{nsText(compare.Number(low)), nsText(compare.Number(compare.Middle(values))), nsText(compare.Number(high)), nsText(s.Points[len(s.Points)-1].Ns), text}
}

func nsText(ns compare.Number) string {
	switch v := float64(ns); {
	case math.IsNaN(v):
		return analysis.Dash
	case math.IsInf(v, 1):
		return "> deadline"
	default:
		return analysis.FormatLatency(int64(v))
	}
}

func startText(r Run) string {
	if r.StartedNs <= 0 {
		return "an unknown time"
	}
	return time.Unix(0, r.StartedNs).UTC().Format("2006-01-02 15:04 UTC")
}

// csvHeader are the columns of WriteCSV. latency_ms is empty where the percentile
// falls on a message that never came; stretch counts the changes before, and
// changed is 1 at the first run after one.
var csvHeader = []string{"load", "rate", "settings", "percentile", "run", "started", "version", "repeats", "latency_ms", "stretch", "changed", "findings"}

// WriteCSV writes a row for each point.
func WriteCSV(w io.Writer, r *Result) error {
	out := csv.NewWriter(w)
	if err := out.Write(csvHeader); err != nil {
		return err
	}
	for i := range r.Series {
		s := &r.Series[i]
		for k, p := range s.Points {
			run, ms, changed := r.Runs[p.Run], "", "0"
			if v := float64(p.Ns); !math.IsInf(v, 0) {
				ms = strconv.FormatFloat(v/1e6, 'f', 6, 64)
			}
			if k > 0 && p.Stretch != s.Points[k-1].Stretch {
				changed = "1"
			}
			row := []string{s.Load, strconv.FormatFloat(s.Rate, 'f', -1, 64), s.Variant, s.Percentile, run.Run,
				time.Unix(0, run.StartedNs).UTC().Format(time.RFC3339), run.Version, strconv.Itoa(p.Repeats), ms, strconv.Itoa(p.Stretch), changed, strings.Join(p.Doubts, " ")}
			for c := range row {
				row[c] = columns.Clean(row[c])
			}
			if err := out.Write(row); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}
