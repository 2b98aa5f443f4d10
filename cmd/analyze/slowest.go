package main

import (
	"encoding/json"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
	"queuebench/internal/command"
	"queuebench/internal/storeflags"
)

func slowestCommand() *cli.Command {
	return &cli.Command{
		Name:      "slowest",
		Usage:     "list the slowest messages of a run, and where their time went",
		ArgsUsage: "RUN [RUN]",
		Description: "Prints, for each step of a run, messages with a long end-to-end latency: producer, seq, partition, when\n" +
			"each was intended, sent, acknowledged and received, and the stage that took most of its time. Of each\n" +
			"step at most 100: the slowest after the warm-up, and the slowest of each fiftieth of the step.\n" +
			"With --json the same as one JSON object, times in ns since the epoch.\n\n" + runArgument,
		UsageText: "   analyze slowest RUN\n" +
			"   analyze slowest RUN --step 0 --from 1s --to 2s\n" +
			"   analyze slowest RUN --json",
		Flags: append(append(cutFlags(),
			&cli.IntFlag{Name: "step", Usage: "number of the step, from 0 on", Value: -1, DefaultText: "all"},
			&cli.IntFlag{Name: "repeat", Usage: "number of the repeat, from 0 on", Value: -1, DefaultText: "all"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON, schema " + analysis.SlowestSchema},
		), append(importFlags(), storeflags.Flags()...)...),
		Action: func(c *cli.Context) error {
			v, err := viewOf(c)
			if err != nil {
				return err
			}
			d, err := oneRun(c, v)
			if err != nil {
				return err
			}
			s := analysis.SlowestIn(d, v, c.Int("step"), c.Int("repeat"))
			if len(s.Steps) == 0 {
				return command.Misusef("--step %d --repeat %d: the run has no such step", c.Int("step"), c.Int("repeat"))
			}
			if c.Bool("json") {
				enc := json.NewEncoder(c.App.Writer)
				enc.SetIndent("", "  ")
				return enc.Encode(s)
			}
			return s.Write(c.App.Writer)
		},
	}
}
