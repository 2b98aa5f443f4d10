package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
	"queuebench/internal/command"
	"queuebench/internal/storeflags"
	"queuebench/rawlog"
	"queuebench/rawlog/logstore"
	"queuebench/summarysql"
)

func sqlCommand() *cli.Command {
	return &cli.Command{
		Name:      "sql",
		Usage:     "print the query that computes the summary elsewhere",
		ArgsUsage: "RUN",
		Description: "Prints SQL that computes counts and percentiles of each step from the raw Parquet of a run, for a log that\n" +
			"outgrows one machine. It reads run.json only. Of a run of two hosts, whose clocks differ, and of one\n" +
			"that was cut off, the query would not be right, and none is printed.\n\n" + runArgument,
		UsageText: "   analyze sql RUN > summary.sql\n" +
			"   analyze sql --engine athena RUN --warmup 2s --percentiles 50,99",
		Flags: append(append(cutFlags(),
			&cli.StringFlag{Name: "engine", Usage: strings.Join(summarysql.Engines, ", "), Value: "duckdb"},
		), storeflags.Flags()...),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return command.Misusef("sql takes one RUN: give the address that bench printed last")
			}
			if engine := c.String("engine"); !slices.Contains(summarysql.Engines, engine) {
				return command.Misusef("--engine %q: say one of %s", engine, strings.Join(summarysql.Engines, ", "))
			}
			v, err := viewOf(c)
			if err != nil {
				return err
			}
			address := c.Args().First()
			m, err := manifestOf(c, address)
			if err != nil {
				return err
			}
			steps, err := sqlSteps(m, v)
			if err != nil {
				return err
			}
			location, err := sqlLocation(address)
			if err != nil {
				return err
			}
			percentiles := v.Percentiles
			if len(percentiles) == 0 {
				percentiles = analysis.DefaultPercentiles
			}
			query, err := summarysql.Query(c.String("engine"), location, steps, percentiles)
			if err != nil {
				return err
			}
			return command.Print(c.App.Writer, "%s", query)
		},
	}
}

// manifestOf reads the only manifest of a run.
func manifestOf(c *cli.Context, address string) (*rawlog.Manifest, error) {
	if isFile(address) {
		return nil, fmt.Errorf("%s is a file, and a query runs over the raw log: give the folder of a run", address)
	}
	options, err := storeOptions(c)
	if err != nil {
		return nil, err
	}
	source, err := logstore.Open(c.Context, address, options)
	if err != nil {
		return nil, err
	}
	names, err := source.List(c.Context)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !rawlog.IsManifestName(n) })
	switch {
	case len(names) == 0:
		return nil, rawlog.MissingManifest(address)
	case len(names) > 1 || names[0] != rawlog.ManifestName:
		return nil, fmt.Errorf("%s was recorded by several processes, whose stamps may need an offset: `analyze summary` applies it, a query does not", address)
	}
	obj, err := source.Open(c.Context, names[0])
	if err != nil {
		return nil, err
	}
	defer obj.Close()
	body := make([]byte, min(obj.Size(), rawlog.MaxManifestBytes))
	if _, err := obj.ReadAt(body, 0); err != nil && len(body) == 0 {
		return nil, err
	}
	m, err := rawlog.ReadManifest(strings.NewReader(string(body)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return m, nil
}

func sqlSteps(m *rawlog.Manifest, v analysis.View) ([]summarysql.Step, error) {
	if len(m.Steps) == 0 {
		return nil, errors.New("run.json has no step: the run was stopped before its first one ended")
	}
	if v.Steady {
		return nil, command.Misusef("--warmup steady: a query does not look at the data to find its own cut. `analyze summary RUN --warmup steady` says where it is; give that, such as --warmup 3s")
	}
	var out []summarysql.Step
	for i := range m.Steps {
		e := &m.Steps[i]
		if e.Loop != "" {
			return nil, fmt.Errorf("step %d is a %s step: a query is written for steps that follow a schedule", e.Step, e.Loop)
		}
		if e.CutOffNs != 0 || !e.Complete {
			return nil, fmt.Errorf("step %d was cut off: what lies beyond its watermark is unknown and not lost, which `analyze summary` tells and a query does not", e.Step)
		}
		warmup := analysis.DefaultWarmup(time.Duration(e.DurationNs))
		switch {
		case v.WarmupUntil != 0:
			warmup = time.Duration(max(0, v.WarmupUntil-e.StartedNs))
		case v.Warmup != nil:
			warmup = *v.Warmup
		case e.Drain != nil:
			warmup = 0
		case e.WarmupNs > 0:
			warmup = time.Duration(e.WarmupNs)
		case e.Arrivals == "burst":
			return nil, command.Misusef("step %d is of bursts: how much of it the default warm-up leaves depends on when they were due, which a query does not look at first. Say what to cut: --warmup 0s, or longer", e.Step)
		}
		if int64(warmup+v.Cooldown) >= e.DurationNs && e.DurationNs > 0 && warmup+v.Cooldown > 0 {
			return nil, fmt.Errorf("step %d, %s long: %w; give a shorter --warmup, or run longer", e.Step, time.Duration(e.DurationNs), analysis.ErrWarmup)
		}
		s := summarysql.Step{Step: e.Step, Repeat: e.Repeat, FromNs: e.StartedNs + int64(max(warmup, v.From)), UntilNs: math.MaxInt64, Groups: e.Groups}
		if v.Cooldown > 0 {
			s.UntilNs = e.StartedNs + e.DurationNs - int64(v.Cooldown)
		}
		if v.To > 0 {
			s.UntilNs = min(s.UntilNs, e.StartedNs+int64(v.To))
		}
		out = append(out, s)
	}
	return out, nil
}

// sqlLocation is where the tables lie, as an engine names it.
func sqlLocation(address string) (string, error) {
	address, _, _ = strings.Cut(address, "?")
	address = strings.TrimSuffix(strings.TrimSuffix(address, rawlog.ManifestName), "/")
	if strings.HasPrefix(address, "s3://") {
		return address, nil
	}
	path, err := filepath.Abs(strings.TrimPrefix(address, "file://"))
	return filepath.ToSlash(path), err
}
