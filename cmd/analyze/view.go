package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
	"queuebench/internal/command"
)

// cutFlags are the flags of analysis.View that change numbers, under the names
// that the page's address has too.
func cutFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "warmup", Usage: "cut this much from the start of each step, by intended time, such as 3s or 0s; steady: until the latency has settled; or until a time such as 2026-01-31T12:00:00Z (default: 30s for steps of two minutes and more, a tenth of the step below that)"},
		&cli.StringFlag{Name: "cooldown", Usage: "cut this much from the end of each step, by intended time", Value: "0s"},
		&cli.StringFlag{Name: "percentiles", Usage: "percentiles in percent, with commas between", Value: "50,75,85,95,99,99.9"},
		&cli.StringFlag{Name: "from", Usage: "look at each step from here on only, such as 5s, by intended time since its start; the warm-up stays cut"},
		&cli.StringFlag{Name: "to", Usage: "look at each step up to here only, such as 65s"},
	}
}

// viewFlags are all of them, for commands that draw.
func viewFlags() []cli.Flag {
	return append(cutFlags(),
		&cli.StringFlag{Name: "latency", Usage: "latency in the figures: end_to_end, end_to_end_from_send, publish, send_lag, to_broker, through_pipeline, broker_to_consumer, poll, imported", Value: analysis.EndToEnd.String()},
		&cli.StringFlag{Name: "scale", Usage: "latency axis of the figures: linear or log", Value: "linear"},
		&cli.StringFlag{Name: "interval", Usage: "the least that a point of latency over time covers, such as 5s", DefaultText: "the digest's own intervals"},
		&cli.StringFlag{Name: "lines", Usage: "what latency over time draws: percentiles of --percentiles, and any of " + strings.Join(analysis.LineParts, ", ") + ", with commas between, such as 50,99,max", DefaultText: "some percentiles, band, max and density"},
	)
}

// cutOf reads the first two of cutFlags: what is cut.
func cutOf(c *cli.Context) (v analysis.View, err error) {
	if err = v.SetWarmup(c.String("warmup")); err != nil {
		return v, command.Misusef("--warmup: %w", err)
	}
	if v.Cooldown, err = analysis.ParseCooldown(c.String("cooldown")); err != nil {
		return v, command.Misusef("--cooldown: %w", err)
	}
	return v, nil
}

// windowOf reads --from and --to.
func windowOf(c *cli.Context, v *analysis.View) (err error) {
	if v.From, err = analysis.ParseWindowEdge(c.String("from")); err != nil {
		return command.Misusef("--from: %w", err)
	}
	if v.To, err = analysis.ParseWindowEdge(c.String("to")); err != nil {
		return command.Misusef("--to: %w", err)
	}
	if err := v.CheckWindow(); err != nil {
		return command.Misusef("--from and --to: %w", err)
	}
	return nil
}

// viewOf reads the flags of viewFlags, or of cutFlags alone.
func viewOf(c *cli.Context) (analysis.View, error) {
	v, err := cutOf(c)
	if err != nil {
		return v, err
	}
	if err := windowOf(c, &v); err != nil {
		return v, err
	}
	if v.Percentiles, err = analysis.ParsePercentiles(c.String("percentiles")); err != nil {
		return v, command.Misusef("--percentiles: %w", err)
	}
	if text := c.String("latency"); text != "" {
		if v.Kind, err = analysis.ParseKind(text); err != nil {
			return v, command.Misusef("--latency: %w", err)
		}
	}
	switch s := c.String("scale"); s {
	case "", "linear":
	case "log":
		v.LogScale = true
	default:
		return v, command.Misusef("--scale %q: say linear or log", s)
	}
	if v.Interval, err = analysis.ParseInterval(c.String("interval")); err != nil {
		return v, command.Misusef("--interval: %w", err)
	}
	if v.Lines, err = analysis.ParseLines(c.String("lines")); err != nil {
		return v, command.Misusef("--lines: %w", err)
	}
	for _, line := range v.Lines {
		if !slices.Contains(analysis.LineParts, line) && !slices.ContainsFunc(v.Percentiles, func(p float64) bool { return analysis.FormatPercent(p) == line }) {
			return v, command.Misusef("--lines %s: it is none of --percentiles %s: name it there too", line, c.String("percentiles"))
		}
	}
	return v, nil
}

// onlyFlag reads less of a log.
func onlyFlag() cli.Flag {
	return &cli.StringFlag{Name: "only", Usage: "read only what this latency and the accounting take, at more than twice the speed: end-to-end"}
}

// onlyOf reads onlyFlag, which not every command has.
func onlyOf(c *cli.Context) (endToEnd bool, err error) {
	switch only := c.String("only"); only {
	case "":
		return false, nil
	case "end-to-end":
		return true, nil
	default:
		return false, command.Misusef("--only %s: the one latency that can be read by itself is end-to-end", only)
	}
}
