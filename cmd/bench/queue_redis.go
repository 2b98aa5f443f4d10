//go:build !min && !noredis

package main

import (
	"cmp"
	"context"
	"fmt"
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
		named:   true,
		groups:  true,
		flags: append(redisPlace(),
			topicFlag(),
			&cli.StringFlag{Name: "redis-field", Usage: "field of an entry that holds the payload", Value: "p"},
			&cli.IntFlag{Name: "redis-pipeline", Usage: "messages in one request at most; the next request waits for the replies", Value: 1000},
			&cli.IntFlag{Name: "redis-max-pending", Usage: "messages of a producer without a reply", Value: 10_000},
			&cli.IntFlag{Name: "redis-wait", Usage: "replicas that must have a message before it counts as acknowledged (WAIT)", DefaultText: "none"},
			&cli.DurationFlag{Name: "redis-wait-timeout", Usage: "how long to wait for them; then the message has failed", Value: time.Second},
			&cli.Int64Flag{Name: "redis-maxlen", Usage: "drop the oldest messages of a partition beyond about so many (MAXLEN ~)", DefaultText: "none are dropped"},
			&cli.BoolFlag{Name: "redis-noack", Usage: "consumers do not acknowledge (NOACK)"},
			&cli.DurationFlag{Name: "redis-claim-after", Usage: "a message that its consumer did not acknowledge by then goes to another (XAUTOCLAIM)", Value: 30 * time.Second},
		),
		clean:   cleanRedis,
		placed:  redisPlace(),
		servers: func(c *cli.Context) []string { return hostPorts(c.String("redis-url"), "6379") },
		parse:   parseRedis,
	}}
}

// redisPlace are the flags that say where the server is and how it is spoken to.
func redisPlace() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "redis-url", Usage: "server and database; rediss:// asks for TLS", Value: "redis://127.0.0.1:6379/0"},
	}, brokerFlags()...)
}

// redisServer reads them.
func redisServer(c *cli.Context) (cfg redisstreams.Config, err error) {
	urls, err := serverURLs("redis-url", c.String("redis-url"), "redis", "rediss")
	if err != nil {
		return cfg, err
	}
	if len(urls) > 1 {
		return cfg, command.Misusef("--redis-url names %d servers: name one, the primary", len(urls))
	}
	cfg.URL = c.String("redis-url")
	cfg.Identity, err = identityOf(c, "REDIS")
	return cfg, err
}

// cleanRedis removes a run's streams, and its groups from streams of others.
func cleanRedis(c *cli.Context, run string) ([]string, error) {
	cfg, err := redisServer(c)
	if err != nil {
		return nil, err
	}
	topics, groups, err := redisstreams.RemoveStreams(c.Context, cfg, brokerName(run, ""), brokerNames(run))
	removed := []string{counted(topics, "topic", "topics") + " of run " + run + " from the server, with the streams of each"}
	if groups > 0 {
		removed = append(removed, fmt.Sprintf("%s of run %s from streams of others, which stay", counted(groups, "consumer group", "consumer groups"), run))
	}
	return removed, err
}

func parseRedis(c *cli.Context) (opener, error) {
	cfg, err := redisServer(c)
	if err != nil {
		return nil, err
	}
	if err := positive(c, "redis-pipeline", "redis-max-pending", "redis-wait-timeout", "redis-claim-after"); err != nil {
		return nil, err
	}
	cfg.PayloadField, cfg.MaxPending, cfg.Pipeline = c.String("redis-field"), c.Int("redis-max-pending"), c.Int("redis-pipeline")
	cfg.Wait, cfg.WaitTimeout, cfg.MaxLen = c.Int("redis-wait"), c.Duration("redis-wait-timeout"), c.Int64("redis-maxlen")
	cfg.NoAck, cfg.ClaimAfter = c.Bool("redis-noack"), c.Duration("redis-claim-after")
	if err := cfg.Check(); err != nil {
		return nil, command.Misuse(err)
	}
	topic, err := existingStream(c)
	if err != nil {
		return nil, err
	}
	return func(env queueEnv) queueFactory {
		cfg := cfg
		cfg.Partitions = env.partitions
		return func(ctx context.Context, name string) (queue.Queue, error) {
			cfg := cfg
			cfg.Name = brokerName(env.run, name)
			if key := cmp.Or(env.topic, topic); key != "" {
				cfg.Existing, cfg.Partitions, cfg.GroupPrefix, cfg.Name = true, 1, cfg.Name+"-", key
			}
			return redisstreams.New(ctx, cfg)
		}
	}, nil
}
