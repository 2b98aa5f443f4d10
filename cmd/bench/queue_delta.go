package main

import (
	"context"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/queue"
	"queuebench/queue/deltalake"
)

func deltaKind() kind {
	return kind{
		name:  "delta",
		usage: "a Delta Lake table on object storage",
		store: true,
		flags: []cli.Flag{
			&cli.DurationFlag{Name: "commit-interval", Usage: "delta: period of the commit timer", Value: 100 * time.Millisecond},
			&cli.DurationFlag{Name: "poll-interval", Usage: "delta: pause of the reader after it found no new version", Value: 5 * time.Millisecond},
			&cli.Int64Flag{Name: "autocommit-duration-ms", Usage: "delta: commit interval and poll interval both, in milliseconds", DefaultText: "not set"},
			&cli.Int64Flag{Name: "batch-bytes", Usage: "delta: commit before the interval ends at so many bytes of payload", Value: 16 << 20},
			&cli.IntFlag{Name: "batch-messages", Usage: "delta: commit before the interval ends at so many messages", Value: 1_000_000},
			&cli.IntFlag{Name: "pipeline", Usage: "delta: batches under way at once; 1 is a serial writer", Value: 4},
			&cli.StringFlag{Name: "codec", Usage: "delta: compression of data files: none, snappy or zstd", Value: "none"},
			&cli.StringFlag{Name: "schema", Usage: "delta: columns of the table: data, or pathway (data, time, diff)", Value: "data"},
		},
		parse: parseDelta,
	}
}

// maxInterval of commits and polls: beyond it a unit was mistyped, and a run
// would only end by its drain timeout.
const maxInterval = 24 * time.Hour

func parseDelta(c *cli.Context) (opener, error) {
	cfg := deltalake.Config{
		CommitInterval: c.Duration("commit-interval"), PollInterval: c.Duration("poll-interval"),
		BatchBytes: c.Int64("batch-bytes"), BatchMessages: c.Int("batch-messages"), Pipeline: c.Int("pipeline"),
		Codec: deltalake.Codec(c.String("codec")),
	}
	switch s := c.String("schema"); s {
	case "data":
		cfg.Schema = deltalake.DataOnly
	case "pathway":
		cfg.Schema = deltalake.Pathway
	default:
		return nil, command.Misusef("--schema %q: say data or pathway", s)
	}
	if c.IsSet("autocommit-duration-ms") {
		if c.IsSet("commit-interval") || c.IsSet("poll-interval") {
			return nil, command.Misusef("--autocommit-duration-ms sets --commit-interval and --poll-interval both: give it, or give these")
		}
		ms := c.Int64("autocommit-duration-ms")
		if ms <= 0 || ms > maxInterval.Milliseconds() {
			return nil, command.Misusef("--autocommit-duration-ms %d: it is a number of milliseconds from 1 to a day", ms)
		}
		cfg.CommitInterval = time.Duration(ms) * time.Millisecond
		cfg.PollInterval = cfg.CommitInterval
	}
	for _, f := range []struct {
		name       string
		value, max int64
	}{
		{"batch-bytes", cfg.BatchBytes, deltalake.MaxBatchBytes}, {"batch-messages", int64(cfg.BatchMessages), deltalake.MaxBatchMessages},
		{"pipeline", int64(cfg.Pipeline), deltalake.MaxPipeline},
	} {
		if f.value < 1 || f.value > f.max {
			return nil, command.Misusef("--%s %d is not between 1 and %d", f.name, f.value, f.max)
		}
	}
	for _, f := range []struct {
		name  string
		value time.Duration
	}{{"commit-interval", cfg.CommitInterval}, {"poll-interval", cfg.PollInterval}} {
		if f.value <= 0 || f.value > maxInterval {
			return nil, command.Misusef("--%s %v is not between 1ns and %v", f.name, f.value, maxInterval)
		}
	}
	switch cfg.Codec {
	case deltalake.None, deltalake.Snappy, deltalake.Zstd:
	default:
		return nil, command.Misusef("--codec %q: say none, snappy or zstd", cfg.Codec)
	}
	return func(env queueEnv) queueFactory {
		cfg := cfg
		cfg.Store, cfg.Clock, cfg.Partitions = env.store, env.clock, env.partitions
		return func(_ context.Context, name string) (queue.Queue, error) {
			cfg := cfg
			cfg.Name = name
			return deltalake.New(cfg)
		}
	}, nil
}
