//go:build !min && !noredis

package main

import (
	"context"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/queue"
	"queuebench/queue/redisstreams"
)

func redisKinds() []kind {
	return []kind{{
		name:    "redis",
		usage:   "Redis Streams",
		headers: true,
		flags: append([]cli.Flag{
			&cli.StringFlag{Name: "redis-url", Usage: "server and database; rediss:// asks for TLS", Value: "redis://127.0.0.1:6379/0"},
			&cli.IntFlag{Name: "redis-pipeline", Usage: "messages in one request at most; the next request waits for the replies", Value: 1000},
			&cli.IntFlag{Name: "redis-max-pending", Usage: "messages of a producer without a reply", Value: 10_000},
			&cli.IntFlag{Name: "redis-wait", Usage: "replicas that must have a message before it counts as acknowledged (WAIT)", DefaultText: "none"},
			&cli.DurationFlag{Name: "redis-wait-timeout", Usage: "how long to wait for them; then the message has failed", Value: time.Second},
			&cli.Int64Flag{Name: "redis-maxlen", Usage: "drop the oldest messages of a partition beyond about so many (MAXLEN ~)", DefaultText: "none are dropped"},
			&cli.BoolFlag{Name: "redis-noack", Usage: "consumers do not acknowledge (NOACK)"},
			&cli.DurationFlag{Name: "redis-claim-after", Usage: "a message that its consumer did not acknowledge by then goes to another (XAUTOCLAIM)", Value: 30 * time.Second},
		}, brokerFlags()...),
		servers: func(c *cli.Context) []string { return hostPorts(c.String("redis-url"), "6379") },
		parse:   parseRedis,
	}}
}

func parseRedis(c *cli.Context) (opener, error) {
	urls, err := serverURLs("redis-url", c.String("redis-url"), "redis", "rediss")
	if err != nil {
		return nil, err
	}
	if len(urls) > 1 {
		return nil, command.Misusef("--redis-url names %d servers: name one, the primary", len(urls))
	}
	if err := positive(c, "redis-pipeline", "redis-max-pending", "redis-wait-timeout", "redis-claim-after"); err != nil {
		return nil, err
	}
	cfg := redisstreams.Config{
		URL: c.String("redis-url"), MaxPending: c.Int("redis-max-pending"), Pipeline: c.Int("redis-pipeline"),
		Wait: c.Int("redis-wait"), WaitTimeout: c.Duration("redis-wait-timeout"), MaxLen: c.Int64("redis-maxlen"),
		NoAck: c.Bool("redis-noack"), ClaimAfter: c.Duration("redis-claim-after"),
	}
	if cfg.Identity, err = identityOf(c, "REDIS"); err != nil {
		return nil, err
	}
	if err := cfg.Check(); err != nil {
		return nil, command.Misuse(err)
	}
	return func(env queueEnv) queueFactory {
		cfg := cfg
		cfg.Partitions = env.partitions
		return func(ctx context.Context, name string) (queue.Queue, error) {
			cfg := cfg
			cfg.Name = brokerName(env.run, name)
			return redisstreams.New(ctx, cfg)
		}
	}, nil
}
