//go:build !min && !norabbitmq

package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/queue"
	"queuebench/queue/rabbitmq"
)

func rabbitmqKinds() []kind {
	return []kind{{
		name:    "rabbitmq",
		usage:   "queues of RabbitMQ",
		headers: true,
		flags: append(rabbitmqPlace(),
			&cli.StringFlag{Name: "rabbitmq-type", Usage: "type of the queues: quorum or classic", Value: "quorum"},
			&cli.IntFlag{Name: "rabbitmq-replicas", Usage: "replicas of a quorum queue", DefaultText: "the server's choice"},
			&cli.BoolFlag{Name: "rabbitmq-transient", Usage: "leave the messages of a classic queue in memory"},
			&cli.BoolFlag{Name: "rabbitmq-confirms", Usage: "wait for the server's confirm of each message; =false takes it for acknowledged once the socket has it", Value: true},
			&cli.IntFlag{Name: "rabbitmq-max-pending", Usage: "messages of a producer without a confirm", Value: 10_000},
			&cli.IntFlag{Name: "rabbitmq-prefetch", Usage: "messages that a consumer has of a partition without an acknowledgement", Value: 1000},
			&cli.BoolFlag{Name: "rabbitmq-auto-ack", Usage: "consumers do not acknowledge"},
			&cli.BoolFlag{Name: "rabbitmq-timestamp", Usage: "stamp each message, in seconds, which is all that the protocol has"},
		),
		clean: func(c *cli.Context, run string) (int, error) {
			cfg, err := rabbitmqServer(c)
			if err != nil {
				return 0, err
			}
			return rabbitmq.RemoveExchanges(c.Context, cfg, likelyNames(run))
		},
		placed:  rabbitmqPlace(),
		servers: func(c *cli.Context) []string { return hostPorts(c.String("rabbitmq-url"), "5672") },
		parse:   parseRabbitMQ,
	}}
}

// rabbitmqPlace are the flags that say where the server is and how it is spoken to.
func rabbitmqPlace() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "rabbitmq-url", Usage: "server and virtual host; amqps:// asks for TLS", Value: "amqp://127.0.0.1:5672/"},
	}, brokerFlags()...)
}

// rabbitmqServer reads them.
func rabbitmqServer(c *cli.Context) (cfg rabbitmq.Config, err error) {
	urls, err := serverURLs("rabbitmq-url", c.String("rabbitmq-url"), "amqp", "amqps")
	if err != nil {
		return cfg, err
	}
	if len(urls) > 1 {
		return cfg, command.Misusef("--rabbitmq-url names %d servers: name one", len(urls))
	}
	cfg.URL = c.String("rabbitmq-url")
	cfg.Identity, err = identityOf(c, "RABBITMQ")
	return cfg, err
}

func parseRabbitMQ(c *cli.Context) (opener, error) {
	cfg, err := rabbitmqServer(c)
	if err != nil {
		return nil, err
	}
	if err := positive(c, "rabbitmq-max-pending", "rabbitmq-prefetch"); err != nil {
		return nil, err
	}
	cfg.Type, cfg.Replicas = rabbitmq.Type(c.String("rabbitmq-type")), c.Int("rabbitmq-replicas")
	cfg.Transient, cfg.Unconfirmed, cfg.MaxPending = c.Bool("rabbitmq-transient"), !c.Bool("rabbitmq-confirms"), c.Int("rabbitmq-max-pending")
	cfg.Prefetch, cfg.AutoAck, cfg.Stamp = c.Int("rabbitmq-prefetch"), c.Bool("rabbitmq-auto-ack"), c.Bool("rabbitmq-timestamp")
	if err := cfg.Check(); err != nil {
		return nil, command.Misuse(err)
	}
	return func(env queueEnv) queueFactory {
		cfg := cfg
		cfg.Partitions = env.partitions
		for g := range env.consumers {
			cfg.Groups = append(cfg.Groups, fmt.Sprintf("group-%d", g))
		}
		return func(ctx context.Context, name string) (queue.Queue, error) {
			cfg := cfg
			cfg.Name = brokerName(env.run, name)
			return rabbitmq.New(ctx, cfg)
		}
	}, nil
}
