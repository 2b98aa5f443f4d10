//go:build !min && !norabbitmq

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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
		named:   true,
		groups:  true,
		flags: append(rabbitmqPlace(),
			topicFlag(),
			&cli.StringFlag{Name: "rabbitmq-routing-key", Usage: "routing key of messages to an exchange of --topic", DefaultText: "an empty one"},
			&cli.StringFlag{Name: "rabbitmq-binding-key", Usage: "binding key with which the run's own queues get what they read of an exchange of --topic or --through", DefaultText: "the routing key; with --through #, all of a topic exchange"},
			&cli.StringFlag{Name: "rabbitmq-type", Usage: "type of the queues: quorum or classic", Value: "quorum"},
			&cli.IntFlag{Name: "rabbitmq-replicas", Usage: "replicas of a quorum queue", DefaultText: "the server's choice"},
			&cli.BoolFlag{Name: "rabbitmq-transient", Usage: "leave the messages of a classic queue in memory"},
			&cli.BoolFlag{Name: "rabbitmq-confirms", Usage: "wait for the server's confirm of each message; =false takes it for acknowledged once the socket has it", Value: true},
			&cli.IntFlag{Name: "rabbitmq-max-pending", Usage: "messages of a producer without a confirm", Value: 10_000},
			&cli.DurationFlag{Name: "rabbitmq-confirm-timeout", Usage: "messages have failed, and the connection is opened again, when the server has confirmed nothing of what is under way for so long; times in which it says that it takes none do not count", Value: 10 * time.Second},
			&cli.IntFlag{Name: "rabbitmq-prefetch", Usage: "messages that a consumer has of a partition without an acknowledgement", Value: 1000},
			&cli.BoolFlag{Name: "rabbitmq-auto-ack", Usage: "consumers do not acknowledge"},
			&cli.BoolFlag{Name: "rabbitmq-timestamp", Usage: "stamp each message, in seconds, which is all that the protocol has"},
		),
		clean:   cleanRabbitMQ,
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

// cleanRabbitMQ removes a run's exchanges and queues.
func cleanRabbitMQ(c *cli.Context, run string) ([]string, error) {
	cfg, err := rabbitmqServer(c)
	if err != nil {
		return nil, err
	}
	n, err := rabbitmq.RemoveExchanges(c.Context, cfg, likelyNames(run))
	return []string{counted(n, "topic", "topics") + " of run " + run + " from the server, with the queues of each"}, err
}

func parseRabbitMQ(c *cli.Context) (opener, error) {
	cfg, err := rabbitmqServer(c)
	if err != nil {
		return nil, err
	}
	if err := positive(c, "rabbitmq-max-pending", "rabbitmq-prefetch", "rabbitmq-confirm-timeout"); err != nil {
		return nil, err
	}
	cfg.Type, cfg.Replicas = rabbitmq.Type(c.String("rabbitmq-type")), c.Int("rabbitmq-replicas")
	cfg.Transient, cfg.Unconfirmed, cfg.MaxPending = c.Bool("rabbitmq-transient"), !c.Bool("rabbitmq-confirms"), c.Int("rabbitmq-max-pending")
	cfg.ConfirmTimeout = c.Duration("rabbitmq-confirm-timeout")
	cfg.Prefetch, cfg.AutoAck, cfg.Stamp = c.Int("rabbitmq-prefetch"), c.Bool("rabbitmq-auto-ack"), c.Bool("rabbitmq-timestamp")
	if err := cfg.Check(); err != nil {
		return nil, command.Misuse(err)
	}
	topic, outlet, err := rabbitmqTheirs(c)
	if err != nil {
		return nil, err
	}
	// The other processes of a run consume, too, and may have come first.
	alone := !slices.Contains([]string{"produce", "consume", "work"}, c.Command.Name)
	return func(env queueEnv) queueFactory {
		cfg := cfg
		cfg.Partitions = env.partitions
		for g := range env.consumers {
			cfg.Groups = append(cfg.Groups, fmt.Sprintf("group-%d", g))
		}
		if cfg.Theirs = topic; env.topic != "" {
			cfg.Theirs = outlet
		}
		if cfg.Theirs != (rabbitmq.Place{}) {
			cfg.Partitions = 1
		}
		return func(ctx context.Context, name string) (queue.Queue, error) {
			cfg := cfg
			cfg.Name = brokerName(env.run, name)
			// What later steps find is left of the earlier ones, or came meanwhile.
			cfg.Theirs.Untouched = alone && cfg.Theirs.Queue != "" && !cfg.Theirs.WriteOnly && firstStep(name)
			return rabbitmq.New(ctx, cfg)
		}
	}, nil
}

// rabbitmqTheirs are what --topic and --through name; zero for none.
func rabbitmqTheirs(c *cli.Context) (topic, outlet rabbitmq.Place, err error) {
	name, err := existingStream(c)
	through := c.String("through")
	key, binding := c.String("rabbitmq-routing-key"), c.String("rabbitmq-binding-key")
	topic, outlet = rabbitmqNamed(name), rabbitmqNamed(through)
	switch {
	case err != nil:
		return topic, outlet, err
	case topic.Exchange == "" && key != "":
		return topic, outlet, command.Misusef("--rabbitmq-routing-key does nothing without --topic exchange:NAME: leave it out")
	case outlet.Exchange == "" && (topic.Exchange == "" || through != "") && binding != "":
		return topic, outlet, command.Misusef("--rabbitmq-binding-key does nothing without an exchange that is read, --topic exchange:NAME or --through exchange:NAME: leave it out")
	}
	topic.Key, topic.WriteOnly = key, through != ""
	topic.Binding, outlet.Binding = cmp.Or(binding, key), cmp.Or(binding, "#")
	read := &topic
	if through != "" {
		read = &outlet
	}
	if err := ofOurs(c, read.Queue, "rabbitmq-type", "rabbitmq-replicas"); err != nil {
		return topic, outlet, err
	}
	if n := c.Int("groups"); read.Queue != "" && n > 1 {
		return topic, outlet, command.Misusef("--groups %d on the queue %s, each of whose messages goes to one group only: say --groups 1, or name an exchange, exchange:NAME", n, read.Queue)
	}
	if name == "" {
		topic = rabbitmq.Place{}
	}
	return topic, outlet, nil
}

// rabbitmqNamed is a queue, or with exchange: before its name an exchange.
func rabbitmqNamed(text string) (p rabbitmq.Place) {
	exchange, ok := strings.CutPrefix(text, "exchange:")
	if p.Exchange = exchange; !ok {
		p.Exchange, p.Queue = "", strings.TrimPrefix(text, "queue:")
	}
	return p
}
