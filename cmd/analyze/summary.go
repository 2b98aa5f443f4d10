package main

import (
	"encoding/json"
	"errors"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
	"queuebench/internal/command"
	"queuebench/internal/storeflags"
)

func summaryCommand() *cli.Command {
	return &cli.Command{
		Name:      "summary",
		Usage:     "print percentiles, accounting and findings of a run",
		ArgsUsage: "RUN [RUN]",
		Description: "Prints, for each step of a run, the latency percentiles after the warm-up, the accounting\n" +
			"of every message, and what the numbers mean; with --json the same as one JSON object.\n\n" + runArgument + "\n\n" +
			"The word in brackets after a finding is its section in docs/tuning.md.\n\n" +
			"Exit status 3 if messages were lost or delivered twice where the queue promises otherwise.",
		UsageText: "   analyze summary RUN\n" +
			"   analyze summary RUN --warmup 0s --percentiles 50,99,99.9\n" +
			"   analyze summary RUN --from 2s --to 3s\n" +
			"   analyze summary --only end-to-end RUN\n" +
			"   analyze summary --json RUN\n" +
			"   analyze summary RUN --markdown --link https://example.org/benchmarks/",
		Flags: append(append(append(cutFlags(), onlyFlag(), &cli.BoolFlag{Name: "json", Usage: "print JSON, schema " + analysis.SummarySchema},
			&cli.BoolFlag{Name: "markdown", Usage: "print Markdown, for a pull request"},
			&cli.StringFlag{Name: "link", Usage: "with --markdown: `ADDRESS` of a published site or report; the link that is printed opens this run there, under this view"}, referenceFlag()), importFlags()...), storeflags.Flags()...),
		Action: func(c *cli.Context) error {
			v, err := viewOf(c)
			if err != nil {
				return err
			}
			if c.Bool("json") && c.Bool("markdown") {
				return command.Misusef("--json and --markdown: give one of them")
			}
			page, err := pageOfLink(c)
			if err != nil {
				return err
			}
			d, err := oneRun(c, v)
			if err != nil {
				return err
			}
			s := analysis.Summarize(d, v)
			if c.Bool("json") {
				enc := json.NewEncoder(c.App.Writer)
				enc.SetIndent("", "  ")
				err = enc.Encode(s)
			} else if c.Bool("markdown") {
				err = analysis.WriteMarkdown(c.App.Writer, s, linkTo(c, page, d.Manifest.Run, v))
			} else {
				err = analysis.WriteText(c.App.Writer, s)
			}
			if broken := s.Broken(); err == nil && len(broken) > 0 {
				return command.Broken(errors.New(broken[0].Text))
			}
			return err
		},
	}
}
