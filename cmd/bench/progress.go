package main

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/runner"
)

// progress shows on standard error what goes on.
type progress struct {
	line  *command.Line
	quiet bool
	index map[[2]int]int // step and repeat → place in the order of the run
	total int
}

func newProgress(c *cli.Context, cfg *runner.Config) *progress {
	p := &progress{line: command.NewLine(c.App.ErrWriter), quiet: c.Bool("quiet"), index: map[[2]int]int{}, total: len(cfg.Plans)}
	for i, plan := range cfg.Plans {
		p.index[[2]int{plan.Step, plan.Repeat}] = i + 1
	}
	return p
}

// status shows the state of a step on the live line.
func (p *progress) status(s runner.Status) {
	if p.quiet {
		return
	}
	p99 := "-"
	if s.N > 0 {
		p99 = short(s.P99)
	}
	p.line.Set("step %d/%d  %s msg/s  %s %.0f of %v  sent %.0f/s  received %.0f/s  backlog %d  lag %s  p99 so far %s",
		p.index[[2]int{s.Plan.Step, s.Plan.Repeat}], p.total, s.Plan.Rate, s.Phase, max(0, s.Elapsed.Seconds()), s.Plan.Schedule.Duration(),
		s.Attempted, s.Received, s.Backlog, short(s.Lag), p99)
}

// note shows a finding, which stays.
func (p *progress) note(text string) { p.line.Print("bench: note: %s", text) }

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
