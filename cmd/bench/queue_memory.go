package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/queue"
	"queuebench/queue/memory"
)

func memoryKind() kind {
	return kind{
		inProcess: true,
		name:      "memory",
		headers:   true,
		usage:     "in this process: what the instrument itself takes",
		flags: []cli.Flag{
			&cli.DurationFlag{Name: "delay", Usage: "how long after it was taken a message can be received", DefaultText: "none"},
			&cli.IntFlag{Name: "capacity", Usage: "messages that a partition holds which its slowest group has not received; a producer waits for room beyond it", DefaultText: "65536"},
			&cli.IntFlag{Name: "receive-max", Usage: "messages that one poll of a consumer returns at most", DefaultText: "1024"},
			&cli.DurationFlag{Name: "service-time", Usage: "how long a consumer takes per message: a rate above its inverse builds a backlog", DefaultText: "none"},
			&cli.Int64Flag{Name: "drop-every", Usage: "acknowledge and never deliver each nth message, to see a loss found", DefaultText: "never"},
			&cli.Int64Flag{Name: "duplicate-every", Usage: "deliver each nth message twice, to see duplicates found", DefaultText: "never"},
			&cli.BoolFlag{Name: "refuse", Usage: "refuse every message, to see a failure found"},
		},
		parse: parseMemory,
	}
}

func parseMemory(c *cli.Context) (opener, error) {
	for _, name := range []string{"delay", "service-time"} {
		if d := c.Duration(name); d < 0 {
			return nil, command.Misusef("--%s %v is negative", name, d)
		}
	}
	for _, name := range []string{"drop-every", "duplicate-every"} {
		if n := c.Int64(name); n < 0 {
			return nil, command.Misusef("--%s %d is negative", name, n)
		}
	}
	for _, name := range []string{"capacity", "receive-max"} {
		if command.IsSet(c, name) && c.Int(name) < 1 {
			return nil, command.Misusef("--%s %d: it is at least 1", name, c.Int(name))
		}
	}
	cfg := memory.Config{Capacity: c.Int("capacity"), ReceiveMax: c.Int("receive-max"), Faults: memory.Faults{
		Delay: c.Duration("delay"), ServiceTime: c.Duration("service-time"),
		DropEvery: c.Int64("drop-every"), DuplicateEvery: c.Int64("duplicate-every"),
	}}
	if c.Bool("refuse") {
		cfg.Faults.Refuse = memory.RefuseByAck
	}
	if _, err := memory.New(cfg); err != nil {
		return nil, command.Misuse(err)
	}
	return func(env queueEnv) queueFactory {
		cfg := cfg
		cfg.Partitions, cfg.Clock = env.partitions, env.clock
		return func(context.Context, string) (queue.Queue, error) { return memory.New(cfg) }
	}, nil
}
