package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
	"queuebench/analysis/compare"
	"queuebench/internal/command"
	"queuebench/internal/storeflags"
)

func compareCommand() *cli.Command {
	return &cli.Command{
		Name:      "compare",
		Usage:     "compare runs: what differs, how sure that is, and in what else they differ",
		ArgsUsage: "BASE NEW…",
		Description: "Prints, for each rate and percentile, the base, the new, the change with its interval, and ~ where nothing is\n" +
			"shown; a footnote for every setting, machine and version that differs; and the smallest change that could have\n" +
			"been found. With --markdown for a pull request, with --json with the quantile-ratio curve.\n\n" +
			"Each argument is a side, and the first is the base. Several runs of a side get one label, LABEL=RUN LABEL=RUN …,\n" +
			"or --base RUN --base RUN --new RUN --new RUN. Repeats within a run and runs of a side are replicates, and are\n" +
			"compared by the rank test; four and more on either side can show something. With one run each, only their own\n" +
			"variation over time is known, and the result says so. docs/compare.md has the details.\n\n" +
			"RUN is what every command takes: the address that bench printed last, or a digest. " + sideArgument,
		UsageText: "   analyze digest RUN -o base.gz\n" +
			"   analyze compare base.gz RUN\n" +
			"   analyze compare before=base.gz after=RUN --percentiles 50,95,99 --markdown\n" +
			"   analyze compare --base base.gz --new RUN --json\n" +
			"   analyze compare base.gz RUN --plots figures --format png",
		Flags: append(append(cutFlags()[:2], // warm-up and cool-down
			&cli.GenericFlag{Name: "base", Usage: "a run of the base; once for each", Value: &command.Strings{}},
			&cli.GenericFlag{Name: "new", Usage: "a run of the other side; once for each", Value: &command.Strings{}},
			&cli.StringFlag{Name: "by", Usage: "compare the steps of the runs by this setting, which was varied in them (--vary): its first value is the base"},
			&cli.StringFlag{Name: "scaling", Usage: "also print the throughput of all runs against this setting, with efficiency"},
			&cli.StringFlag{Name: "percentiles", Usage: "percentiles to test, in percent, with commas between: the more, the less each can show", Value: "50,99"},
			&cli.StringFlag{Name: "latency", Usage: "latency to compare: end_to_end, end_to_end_from_send, publish, send_lag, to_broker, through_pipeline, broker_to_consumer, poll", Value: analysis.EndToEnd.String()},
			&cli.StringFlag{Name: "plots", Usage: "also write the figures to this `FOLDER`: the quantile-ratio curve of each pair, and the scaling"},
			&cli.StringFlag{Name: "format", Usage: "of the figures: svg, png or pdf", Value: "svg"},
			&cli.BoolFlag{Name: "markdown", Usage: "print Markdown"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON, schema " + compare.Schema},
		), storeflags.Flags()...),
		Action: func(c *cli.Context) error {
			v, err := viewOf(c)
			if err != nil {
				return err
			}
			if c.Bool("markdown") && c.Bool("json") {
				return command.Misusef("--markdown and --json: give one of them")
			}
			if err := checkPlots(c); err != nil {
				return err
			}
			var left unread
			sides, err := sidesOf(c, v, &left)
			if err != nil {
				return err
			}
			r, err := compared(c, sides, v)
			if err != nil {
				return err
			}
			r.Warnings = append(r.Warnings, left...)
			if err := printComparison(c, r); err != nil {
				return err
			}
			if err := plotComparison(c, r, v.Kind); err != nil {
				return err
			}
			return left.err()
		},
	}
}

// compared compares the sides, and adds the scaling where it was asked for. That
// alone is a result too: runs that scale need not have a load in common.
func compared(c *cli.Context, sides []compare.Side, v analysis.View) (*compare.Result, error) {
	setting := c.String("scaling")
	r, err := compare.Compare(sides, compare.Options{View: v})
	if setting == "" {
		return r, err
	}
	scaling := compare.ScalingOf(sides, v, setting)
	if len(scaling) == 0 {
		return nil, fmt.Errorf("nothing scales: no two steps at one rate have different values of the setting %q that are numbers", setting)
	}
	if errors.Is(err, compare.ErrSides) {
		r, err = &compare.Result{Schema: compare.Schema, Latency: v.Kind.String(), Level: compare.Level, Percentiles: []string{},
			Sides: []compare.Info{}, Pairs: []compare.Pair{}, Warnings: []string{}}, nil
	}
	if err != nil {
		return nil, err
	}
	r.Scaling = scaling
	return r, nil
}

func printComparison(c *cli.Context, r *compare.Result) error {
	switch {
	case c.Bool("json"):
		return printJSON(c.App.Writer, r)
	case c.Bool("markdown"):
		return compare.WriteMarkdown(c.App.Writer, r)
	}
	return compare.WriteText(c.App.Writer, r)
}

// printJSON prints a result for programs.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// sidesOf opens the runs of all sides.
func sidesOf(c *cli.Context, v analysis.View, left *unread) ([]compare.Side, error) {
	base, others := stringsOf(c, "base"), stringsOf(c, "new")
	by := c.String("by")
	if by != "" && len(base)+len(others) > 0 {
		return nil, command.Misusef("--by makes the sides from what varied in the runs: name these as arguments, without --base and --new")
	}
	type named struct {
		label     string
		addresses []string
	}
	var sides []named
	if len(base) > 0 {
		sides = append(sides, named{"base", base})
	}
	for _, argument := range c.Args().Slice() {
		name, address := labelled(argument)
		at := slices.IndexFunc(sides, func(s named) bool { return name != "" && s.label == name })
		if at >= 0 {
			sides[at].addresses = append(sides[at].addresses, address)
			continue
		}
		if name == "" {
			name = labelOf(address)
			for n := 2; slices.ContainsFunc(sides, func(s named) bool { return s.label == name }); n++ {
				name = fmt.Sprintf("%s #%d", labelOf(address), n)
			}
		}
		sides = append(sides, named{name, []string{address}})
	}
	if len(others) > 0 {
		sides = append(sides, named{"new", others})
	}
	least := 2
	if by != "" || c.String("scaling") != "" {
		least = 1
	}
	if len(sides) < least {
		return nil, command.Misusef("compare takes a BASE and at least one NEW, and was given %d of them: give the addresses that bench printed last, or digests", len(sides))
	}
	var out []compare.Side
	for _, s := range sides {
		side := compare.Side{Label: s.label}
		for _, a := range s.addresses {
			runs, err := openRuns(c, a, v, left)
			if err != nil {
				return nil, err
			}
			side.Runs = append(side.Runs, runs...)
		}
		out = append(out, side)
	}
	if by == "" {
		return out, nil
	}
	var runs []*analysis.Digest
	for _, s := range out {
		runs = append(runs, s.Runs...)
	}
	out, err := compare.Split(runs, by)
	if err == nil && len(out) < 2 {
		err = fmt.Errorf("the setting %q has one value in all steps: nothing varied by it", by)
	}
	return out, err
}
