package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/internal/secret"
	"queuebench/rawlog"
	"queuebench/runner"
)

// progress shows on standard error what goes on.
type progress struct {
	line  *command.Line
	known *secret.Known // what must not be shown
	quiet bool
	total int // steps of the run; 0 where it is not known before

	now   [2]int // step and repeat that are shown
	count int    // of the steps that have begun
}

func newProgress(c *cli.Context, cfg *runner.Config) *progress {
	p := &progress{line: command.NewLine(c.App.ErrWriter), known: secret.From(c.Context), quiet: c.Bool("quiet")}
	if cfg.Next == nil {
		p.total = len(cfg.Plans)
	}
	return p
}

// status shows the state of a step on the live lines.
func (p *progress) status(s runner.Status) {
	if which := [2]int{s.Plan.Step, s.Plan.Repeat}; p.count == 0 || which != p.now {
		p.now = which
		p.count++
	}
	if p.quiet || s.Phase == "ended" {
		return
	}
	p.line.Show(p.lines(&s), p.plain(&s))
}

// head says which step it is and how far it has come.
func (p *progress) head(s *runner.Status) string {
	if s.Plan.Role == rawlog.RoleConsume {
		if s.Phase == runner.PhaseWaiting {
			return fmt.Sprintf("waiting for the first message, for %.0f s", max(0, s.Elapsed.Seconds()))
		}
		return fmt.Sprintf("%s %.0f of %v", s.Phase, max(0, s.Elapsed.Seconds()), s.Plan.Schedule.Duration())
	}
	of := ""
	if p.total > 0 {
		of = fmt.Sprintf("/%d", p.total)
	}
	text := fmt.Sprintf("step %d%s  %s msg/s  %s %.0f of %v", p.count, of, s.Plan.Rate, s.Phase, max(0, s.Elapsed.Seconds()), s.Plan.Schedule.Duration())
	if s.Plan.Closed != nil || s.Plan.Backlog != nil { // their length is not known before
		text = fmt.Sprintf("step %d%s  %s  %s %.0fs", p.count, of, s.Plan.What(), s.Phase, max(0, s.Elapsed.Seconds()))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Plan.Settings)) {
		if name != "rate" {
			text += fmt.Sprintf("  %s=%s", name, s.Plan.Settings[name])
		}
	}
	return text
}

// The columns of the live lines fit into 80.
const windowRow = "%-10s  %9s  %9s  %10s  %8s  %8s"

func (p *progress) lines(s *runner.Status) []string {
	row := func(name string, w *runner.Window) string {
		mean, p99 := latencies(w)
		return fmt.Sprintf(windowRow, name, perSecond(w.Attempted), perSecond(w.Acked), perSecond(w.Received), mean, p99)
	}
	return []string{
		p.head(s),
		fmt.Sprintf(windowRow, "", "sent/s", "acked/s", "received/s", "mean", "p99"),
		row("last 5 s", &s.Last),
		row("whole step", &s.Whole),
		strings.Join(levels(s), "  "),
		strings.Join(uses(s), "  "),
	}
}

// plain is the same on one line.
func (p *progress) plain(s *runner.Status) string {
	window := func(name string, w *runner.Window) string {
		mean, p99 := latencies(w)
		return fmt.Sprintf("%s: sent %s/s, acked %s/s, received %s/s, mean %s, p99 %s", name, perSecond(w.Attempted), perSecond(w.Acked), perSecond(w.Received), mean, p99)
	}
	parts := append([]string{p.head(s), window("last 5 s", &s.Last), window("whole step", &s.Whole)}, levels(s)...)
	return strings.Join(append(parts, uses(s)...), "  ")
}

func perSecond(v float64) string { return fmt.Sprintf("%.0f", v) }

// latencies are dashes where nothing was received.
func latencies(w *runner.Window) (mean, p99 string) {
	if w.N == 0 {
		return "-", "-"
	}
	return short(w.Mean), short(w.P99)
}

// levels are what is under way. Troubles are shown once there are any.
func levels(s *runner.Status) []string {
	var parts []string
	if s.Plan.Role == rawlog.RoleAll { // else nobody here knows both ends
		parts = append(parts, fmt.Sprintf("backlog %d", s.Backlog))
	}
	if s.Plan.Role != rawlog.RoleConsume {
		parts = append(parts, fmt.Sprintf("in flight %d", s.InFlight), "send lag "+short(s.Lag))
	}
	for _, c := range []struct {
		n    int64
		what string
	}{{s.SoFar.Failed, "failed"}, {s.SoFar.Overrun, "overrun"}, {s.SoFar.Duplicates, "duplicates"}, {s.SoFar.Foreign, "foreign"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", c.what, c.n))
		}
	}
	return parts
}

// uses are what the process and its host use, as far as it is known.
func uses(s *runner.Status) (parts []string) {
	if s.Connections != rawlog.Null {
		parts = append(parts, fmt.Sprintf("connections %d", s.Connections))
	}
	if s.MemoryBytes != rawlog.Null {
		parts = append(parts, "memory "+size(float64(s.MemoryBytes)))
	}
	if s.DiskUsedBytes != rawlog.Null {
		text := fmt.Sprintf("disk %s used", size(float64(s.DiskUsedBytes)))
		if s.DiskWritten >= 0 {
			text += fmt.Sprintf(", %s/s written", size(s.DiskWritten))
		}
		parts = append(parts, text)
	}
	return parts
}

// size is a number of bytes with three digits.
func size(bytes float64) string {
	unit := "B"
	for _, u := range []string{"kB", "MB", "GB", "TB"} {
		if bytes < 1000 {
			break
		}
		bytes, unit = bytes/1000, u
	}
	switch {
	case unit == "B" || bytes >= 100:
		return fmt.Sprintf("%.0f %s", bytes, unit)
	case bytes >= 10:
		return fmt.Sprintf("%.1f %s", bytes, unit)
	}
	return fmt.Sprintf("%.2f %s", bytes, unit)
}

// note shows a finding, which stays.
func (p *progress) note(text string) { p.line.Print("bench: note: %s", p.known.Strike(text)) }

func (p *progress) close() { p.line.Close() }

// short is a duration with three digits.
func short(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "µs"}} {
		if d >= u.unit || -d >= u.unit {
			v := float64(d) / float64(u.unit)
			switch {
			case v >= 100 || v <= -100:
				return fmt.Sprintf("%.0f%s", v, u.name)
			case v >= 10 || v <= -10:
				return fmt.Sprintf("%.1f%s", v, u.name)
			}
			return fmt.Sprintf("%.2f%s", v, u.name)
		}
	}
	return fmt.Sprintf("%dns", d.Nanoseconds())
}
