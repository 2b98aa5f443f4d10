package main

import (
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/objectstore"
	"queuebench/queue"
	"queuebench/queue/deltalake"
	"queuebench/runner/schedule"
)

func deltaKind() kind {
	return kind{
		name:  "delta",
		usage: "a Delta Lake table on object storage",
		store: true,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "preset", Usage: "thin, or pathway: the round trips, timers, columns and burst generator of Pathway's connectors", Value: "thin"},
			&cli.StringFlag{Name: "commit-interval", Usage: "period of the commit timer; auto picks it and the poll interval for --target-latency or --target-cost", Value: "100ms"},
			&cli.DurationFlag{Name: "target-latency", Usage: "with --commit-interval auto, the cheapest intervals whose expected p50 is at most this", DefaultText: "not set"},
			&cli.Float64Flag{Name: "target-cost", Usage: "with --commit-interval auto, the fastest intervals that cost at most so many dollars per million messages", DefaultText: "not set"},
			&cli.DurationFlag{Name: "poll-interval", Usage: "pause of the reader after it found no new version", Value: 5 * time.Millisecond},
			&cli.Int64Flag{Name: "autocommit-duration-ms", Usage: "commit interval and poll interval both, in milliseconds", DefaultText: "not set"},
			&cli.Int64Flag{Name: "batch-bytes", Usage: "commit before the interval ends at so many bytes of payload", Value: 16 << 20},
			&cli.IntFlag{Name: "batch-messages", Usage: "commit before the interval ends at so many messages", Value: 1_000_000},
			&cli.IntFlag{Name: "pipeline", Usage: "batches under way at once; 1 is a serial writer", Value: 4},
			&cli.Int64Flag{Name: "inline-payload", Usage: "data files of up to so many bytes are copied into their commit, too, which saves consumers the GET of the data", DefaultText: "none"},
			&cli.DurationFlag{Name: "hedge-after", Usage: "a consumer's GET that takes longer is made once more, and the first answer counts", DefaultText: "never"},
			&cli.DurationFlag{Name: "retry-for", Usage: "how long a request that the store fails is tried again before the run ends", Value: retryFor},
			&cli.StringFlag{Name: "codec", Usage: "compression of data files: none, snappy or zstd", Value: "none"},
			&cli.StringFlag{Name: "producer-id", Usage: "name of the producers in the table, under which a restarted one goes on", DefaultText: "none"},
			&cli.BoolFlag{Name: "pooled-connections", Usage: "keep connections to the store open between requests; =false opens one for each", Value: true},
			&cli.StringFlag{Name: "schema", Usage: "columns of the table: data, or pathway (data, time, diff)", Value: "data"},
		},
		parse: parseDelta,
	}
}

// maxInterval of commits and polls: beyond it a unit was mistyped, and a run
// would only end by its drain timeout.
const maxInterval = 24 * time.Hour

func parseDelta(c *cli.Context) (opener, error) {
	cfg := deltalake.Config{
		PollInterval: c.Duration("poll-interval"), AppID: c.String("producer-id"),
		BatchBytes: c.Int64("batch-bytes"), BatchMessages: c.Int("batch-messages"), Pipeline: c.Int("pipeline"),
		Codec: deltalake.Codec(c.String("codec")), InlineBytes: c.Int64("inline-payload"),
		HedgeAfter: c.Duration("hedge-after"), RetryFor: c.Duration("retry-for"),
	}
	switch s := c.String("schema"); s {
	case "data":
		cfg.Schema = deltalake.DataOnly
	case "pathway":
		cfg.Schema = deltalake.Pathway
	default:
		return nil, command.Misusef("--schema %q: say data or pathway", s)
	}
	if err := deltalake.CheckAppID(cfg.AppID); err != nil {
		return nil, command.Misusef("--producer-id: %w", err)
	}
	if err := presetDelta(c, &cfg); err != nil {
		return nil, err
	}
	target, err := targetOf(c)
	if err != nil {
		return nil, err
	}
	if text := c.String("commit-interval"); target == nil {
		if cfg.CommitInterval, err = time.ParseDuration(text); err != nil {
			return nil, command.Misusef("--commit-interval %q: write a duration such as 100ms, or auto", text)
		}
	} else {
		cfg.CommitInterval = time.Millisecond // until the store is measured
	}
	if command.IsSet(c, "autocommit-duration-ms") {
		if command.IsSet(c, "commit-interval") || command.IsSet(c, "poll-interval") {
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
	if n := cfg.InlineBytes; n < 0 || n > deltalake.MaxInlineBytes {
		return nil, command.Misusef("--inline-payload %d is not between 0 and %d bytes", n, deltalake.MaxInlineBytes)
	}
	if h := cfg.HedgeAfter; command.IsSet(c, "hedge-after") && (h <= 0 || h > maxInterval) {
		return nil, command.Misusef("--hedge-after %v is not between 1ns and %v: leave it out to hedge nothing", h, maxInterval)
	}
	for _, f := range []struct {
		name  string
		value time.Duration
	}{{"commit-interval", cfg.CommitInterval}, {"poll-interval", cfg.PollInterval}, {"retry-for", cfg.RetryFor}} {
		if f.value <= 0 || f.value > maxInterval {
			return nil, command.Misusef("--%s %v is not between 1ns and %v", f.name, f.value, maxInterval)
		}
	}
	switch cfg.Codec {
	case deltalake.None, deltalake.Snappy, deltalake.Zstd:
	default:
		return nil, command.Misusef("--codec %q: say none, snappy or zstd", cfg.Codec)
	}
	pooled := c.Bool("pooled-connections")
	return func(env queueEnv) queueFactory {
		cfg := cfg
		if !pooled && env.store != nil {
			env.store = objectstore.Unpooled(env.store)
		}
		cfg.Store, cfg.Clock, cfg.Partitions = env.store, env.clock, env.partitions
		return func(ctx context.Context, name string) (queue.Queue, error) {
			cfg := cfg
			cfg.Name = name
			if target != nil {
				if err := tune(ctx, c, &cfg, *target, env); err != nil {
					return nil, err
				}
			}
			return deltalake.New(cfg)
		}
	}, nil
}

// presetDelta lays a preset under the flags that are given.
func presetDelta(c *cli.Context, cfg *deltalake.Config) error {
	switch p := c.String("preset"); p {
	case "thin", "":
		return nil
	case "pathway":
		cfg.Design = deltalake.AsPathway
	default:
		return command.Misusef("--preset %q: say thin or pathway", p)
	}
	if command.IsSet(c, "hedge-after") {
		return command.Misusef("--hedge-after does nothing with --preset pathway, whose reader asks once")
	}
	if c.Int64("inline-payload") > 0 {
		return command.Misusef("--inline-payload does nothing with --preset pathway, which copies no data into its commits")
	}
	if command.IsSet(c, "pipeline") {
		return command.Misusef("--pipeline does nothing with --preset pathway, whose writer is a serial one")
	}
	cfg.Pipeline = 1
	if !command.IsSet(c, "schema") {
		cfg.Schema = deltalake.Pathway
	}
	if !command.IsSet(c, "codec") {
		cfg.Codec = deltalake.Snappy
	}
	generator := string(schedule.PathwayBurstArrivals)
	if command.IsSet(c, "arrivals") || !command.Named(c.Command, "arrivals") {
		return nil
	}
	return c.Set("arrivals", generator)
}

// targetOf is what --commit-interval auto is to reach; nil without it.
func targetOf(c *cli.Context) (*deltalake.Target, error) {
	latency, cost := command.IsSet(c, "target-latency"), command.IsSet(c, "target-cost")
	if c.String("commit-interval") != "auto" {
		if latency || cost {
			return nil, command.Misusef("--target-latency and --target-cost do nothing without --commit-interval auto")
		}
		return nil, nil
	}
	to := &deltalake.Target{P50: c.Duration("target-latency"), DollarsPerMillion: c.Float64("target-cost")}
	switch {
	case latency == cost:
		return nil, command.Misusef("--commit-interval auto needs a target: --target-latency 50ms, or --target-cost 0.02, one of them")
	case command.IsSet(c, "poll-interval") || command.IsSet(c, "autocommit-duration-ms"):
		return nil, command.Misusef("--commit-interval auto picks the poll interval, too: leave --poll-interval and --autocommit-duration-ms out")
	case c.String("preset") == "pathway":
		return nil, command.Misusef("--commit-interval auto does not know the timers of --preset pathway: name an interval")
	case latency && (to.P50 <= 0 || to.P50 > maxInterval):
		return nil, command.Misusef("--target-latency %v is not between 1ns and %v", to.P50, maxInterval)
	case cost && !(to.DollarsPerMillion > 0 && to.DollarsPerMillion < 1e6):
		return nil, command.Misusef("--target-cost %v: it is a number of dollars per million messages", to.DollarsPerMillion)
	}
	return to, nil
}

// tune measures the store and picks the intervals, and says so.
func tune(ctx context.Context, c *cli.Context, cfg *deltalake.Config, to deltalake.Target, env queueEnv) error {
	if to.Rate = env.rate; to.Rate <= 0 {
		return command.Misusef("--commit-interval auto needs a rate, which only the producers' side has: give the consumers the intervals that it chose")
	}
	to.Partitions, to.Consumers, to.Pipeline, to.Prices = cfg.Partitions, env.consumers, cfg.Pipeline, env.prices
	times, err := deltalake.Measure(ctx, cfg.Store, cfg.Name)
	if err != nil {
		return err
	}
	t := deltalake.Tune(to, times)
	cfg.CommitInterval, cfg.PollInterval = t.CommitInterval, t.PollInterval
	cfg.Tuned = fmt.Sprintf("at %v messages a second: %v", to.Rate, t)
	if !c.Bool("quiet") {
		fmt.Fprintln(c.App.ErrWriter, "auto,", cfg.Tuned)
	}
	return nil
}
