package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
	"queuebench/analysis/merge"
	"queuebench/internal/command"
	"queuebench/internal/storeflags"
	"queuebench/rawlog"
	"queuebench/rawlog/logstore"
)

func mergeCommand() *cli.Command {
	return &cli.Command{
		Name:      "merge",
		Usage:     "join runs of several hosts where they overlap in time",
		ArgsUsage: "RUN RUN [RUN …]",
		Description: "Writes one digest of runs that were started apart, each by a bench of its own against one queue, and prints\n" +
			"its path. Every command here takes it in the place of a run. It holds, step by step, the time in which all\n" +
			"of them were under load: their histograms and counts are added, and what lies outside is counted as trimmed.\n" +
			"Rates and hosts may differ; what else does is noted in the result.\n\n" +
			"RUN is the address that bench printed last: a folder, or s3://bucket/prefix/run-id?endpoint=…&region=…. It takes\n" +
			"raw logs, since a digest's intervals cannot be cut where the runs begin to overlap. (The workers of one run,\n" +
			"`bench work`, are joined without this: give their run to any command.)\n\n" +
			"Between hosts it needs what the runs measured of each other's clocks, by --clock-peer, or your word by\n" +
			"--clock-error. The overlap is shorter by that error at both of its ends.",
		UsageText: "   analyze merge ./lake/runs/east-1 ./lake/runs/west-1 -o both.digest.gz\n" +
			"   analyze merge ./lake/runs/east-1 ./lake/runs/west-1 --name both-1 --clock-error 50ms --from 1s\n" +
			"   analyze summary both.digest.gz",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "file to write", Value: "merged.digest.gz"},
			&cli.StringFlag{Name: "name", Usage: "run id of the result", DefaultText: "made of those of the runs"},
			&cli.DurationFlag{Name: "clock-error", Usage: "the clocks of hosts between which no offset was measured agree to within this, such as 50ms", DefaultText: "they are not trusted"},
			&cli.BoolFlag{Name: "same-queue", Usage: "other names of servers or stores are those of one queue"},
			&cli.IntFlag{Name: "max-bytes", Usage: "size of the file: intervals are made longer until it is kept, down to twelve a step", Value: analysis.DigestBytes},
			&cli.StringFlag{Name: "from", Usage: "let an interval begin here, such as 5s, by intended time since the start of each overlap"},
			&cli.StringFlag{Name: "to", Usage: "let an interval end here, such as 65s"},
		}, storeflags.Flags()...),
		Action: mergeRuns,
	}
}

// mergedName is what a run id may be.
var mergedName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

func mergeRuns(c *cli.Context) error {
	if c.NArg() < 2 {
		return command.Misusef("merge takes two runs or more: analyze merge RUN RUN -o merged.digest.gz")
	}
	path, err := outFile(c)
	if err != nil {
		return err
	}
	opt := merge.Options{Name: c.String("name"), ClockError: c.Duration("clock-error"), SameQueue: c.Bool("same-queue")}
	if opt.Name != "" && !mergedName.MatchString(opt.Name) {
		return command.Misusef("--name %.80q: letters, digits, dots, hyphens and underscores, beginning with a letter or digit", opt.Name)
	}
	if command.IsSet(c, "clock-error") && opt.ClockError <= 0 {
		return command.Misusef("--clock-error %v: it is within what clocks agree, such as 50ms", opt.ClockError)
	}
	if err := windowOf(c, &opt.View); err != nil {
		return err
	}
	sources, err := rawLogs(c)
	if err != nil {
		return err
	}
	line := command.NewLine(c.App.ErrWriter)
	defer line.Close()
	opt.Progress = func(address string, done, total int64) {
		line.Set("reading %s: %d %% of %.1f MB", address, 100*done/max(1, total), float64(total)/1e6)
	}
	d, err := merge.Runs(c.Context, sources, opt)
	if errors.Is(err, merge.ErrRefused) {
		return command.Misuse(err)
	}
	if err != nil {
		return err
	}
	if err := opt.View.Check(d); err != nil {
		return err
	}
	if d, err = d.Fit(c.Int("max-bytes")); err != nil {
		return err
	}
	if err := writeFile(path, func(w io.Writer) error { return analysis.PackDigest(w, d) }); err != nil {
		return err
	}
	line.Close()
	for _, note := range d.Manifest.Warnings {
		if strings.HasPrefix(note, "merged") { // the others are of each run, and stand in the result
			fmt.Fprintln(c.App.ErrWriter, "analyze: note:", note)
		}
	}
	return printWritten(c, path)
}

// rawLogs are the logs of the command's arguments.
func rawLogs(c *cli.Context) ([]rawlog.Source, error) {
	options, err := storeOptions(c)
	if err != nil {
		return nil, err
	}
	var all []rawlog.Source
	for _, address := range c.Args().Slice() {
		if info, err := os.Stat(address); err == nil && info.Mode().IsRegular() && !rawlog.IsManifestName(info.Name()) {
			return nil, command.Misusef("%s is a file: runs are merged from their raw logs, since the intervals of a digest cannot be cut where the runs begin to overlap; give the run's folder or s3:// address", address)
		}
		source, err := logstore.Open(c.Context, address, options)
		if err != nil {
			return nil, err
		}
		all = append(all, source)
	}
	return all, nil
}
