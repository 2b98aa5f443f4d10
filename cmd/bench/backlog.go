package main

import (
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/rawlog"
	"queuebench/runner"
	"queuebench/runner/schedule"
)

func backlogCommand() *cli.Command {
	return &cli.Command{
		Name:  "backlog",
		Usage: "fill a queue while its consumers are held, release them, and time the drain",
		Description: `Prints how large the backlog was, how long it took to be gone and at which rate,
below a table of what happened; its last line is the address of the raw log. The
consumers are open, and do not receive until they are released. The latencies are
those of a drain: they say how long messages lay, not how quick the queue is.

With --rate the load goes on at that rate until the backlog is gone, and must
leave the consumers room for that; --stop-at-release ends it. Without --rate the
queue is filled as fast as it takes messages, and the load ends with that. A
backlog that is not gone within --drain-timeout is exit status 1.`,
		UsageText: `   bench backlog --queue memory --fill-messages 50000
   bench backlog --queue memory --rate 2000 --fill-duration 1s --consumer-delay 100us
   bench backlog --rate 2000 --fill-duration 1s --commit-interval 50ms --stop-at-release`,
		Flags: append([]cli.Flag{
			&cli.Int64Flag{Name: "fill-messages", Aliases: []string{"backlog"}, Usage: "messages that are sent before the consumers are released", DefaultText: "those of --fill-duration"},
			&cli.StringFlag{Name: "fill-duration", Usage: "how long the queue is filled, at --rate", DefaultText: "until --fill-messages"},
			&cli.StringFlag{Name: "rate", Aliases: []string{"r"}, Usage: "messages per second, while the queue is filled and while it is drained", DefaultText: "as fast as the queue takes them, and then none"},
			&cli.BoolFlag{Name: "stop-at-release", Usage: "end the load when the consumers are released"},
		}, without(loadFlags(), unscheduled...)...),
		Action: func(c *cli.Context) error {
			return begin(c, func(c *cli.Context, k kind, cfg *runner.Config) (planner, error) {
				return planned(c, k, cfg, backlogDraft)
			})
		},
	}
}

// backlogDraft is a step that drains a backlog.
func backlogDraft(c *cli.Context, k kind) (draft, error) {
	d, err := baseDraft(c, k)
	if err != nil {
		return d, err
	}
	n := c.Int64("fill-messages")
	switch {
	case command.IsSet(c, "fill-messages") && (n < 1 || n > maxMessages):
		return d, command.Misusef("--fill-messages %d is not between 1 and %d", n, int64(maxMessages))
	case command.IsSet(c, "fill-messages") == command.IsSet(c, "fill-duration"):
		return d, command.Misusef("say how much the backlog is: --fill-messages 50000, or --rate 10000 --fill-duration 10s")
	case command.IsSet(c, "fill-duration") && !command.IsSet(c, "rate"):
		return d, command.Misusef("--fill-duration needs --rate: how many messages per second the queue is filled with")
	case !command.IsSet(c, "rate"):
		d.Schedule, d.Backlog = runner.FillAtOnce(n), &runner.Backlog{}
		return d, nil
	}
	if d.Rate, err = schedule.ParseRate(c.String("rate")); err != nil {
		return d, command.Misusef("--rate: %v", err)
	}
	fill := time.Duration(float64(n) / d.Rate.PerSecond() * float64(time.Second))
	if command.IsSet(c, "fill-duration") {
		if fill, err = duration("fill-duration", c.String("fill-duration")); err != nil {
			return d, err
		}
	}
	if fill <= 0 || fill > runner.MaxDuration {
		return d, command.Misusef("--fill-messages %d at --rate %s take longer than %v", n, d.Rate, runner.MaxDuration)
	}
	d.Settings["rate"] = d.Rate.String()
	d.Backlog = &runner.Backlog{Fill: fill, Continue: !c.Bool("stop-at-release")}
	length := fill
	if d.Backlog.Continue {
		length += d.Load.DrainTimeout
	}
	d.Schedule = steady(d.Rate, length)
	return d, nil
}

// printDrains says of each step how its backlog was drained.
func printDrains(out io.Writer, r *runner.Result) {
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Drain == nil {
			continue
		}
		name := ""
		if len(r.Steps) > 1 {
			name = fmt.Sprintf("step %d, repeat %d: ", s.Step.Step, s.Repeat)
		}
		fmt.Fprintln(out, name+drainText(s.Drain))
	}
}

func drainText(d *rawlog.Drain) string {
	text := fmt.Sprintf("backlog at release %d messages; ", d.Backlog)
	if d.DrainedNs == 0 {
		return text + fmt.Sprintf("not gone before the drain timeout: %d messages were left, %d received, %.0f per second", d.Left, d.Received, d.PerSecond)
	}
	text += fmt.Sprintf("gone after %s, %d messages received, %.0f per second", short(time.Duration(d.DrainedNs-d.ReleasedNs)), d.Received, d.PerSecond)
	if d.Continued {
		text += fmt.Sprintf("; the load went on, and %d messages under way count as gone", d.Gone)
	}
	return text
}

// notDrained is the error of a backlog that was not gone in time.
func notDrained(r *runner.Result) error {
	for i := range r.Steps {
		if d := r.Steps[i].Drain; d != nil && d.DrainedNs == 0 {
			return fmt.Errorf("step %d, repeat %d: the backlog was not gone before the drain timeout: %d messages were left; give a lower --rate, --stop-at-release, or a longer --drain-timeout", r.Steps[i].Step.Step, r.Steps[i].Repeat, d.Left)
		}
	}
	return nil
}
