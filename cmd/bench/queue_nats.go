//go:build !min && !nonats

package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/internal/secret"
	"queuebench/queue"
	"queuebench/queue/jetstream"
)

func natsKinds() []kind {
	return []kind{{
		name:    "nats",
		usage:   "a stream of NATS JetStream",
		headers: true,
		named:   true,
		groups:  true,
		flags: append(natsPlace(),
			topicFlag(),
			&cli.StringFlag{Name: "nats-subject", Usage: "subject to publish to on the stream of --topic", DefaultText: "its first without wildcards"},
			&cli.StringFlag{Name: "nats-monitor", Usage: "address of the server's monitoring, http://host:8222, which tells how often it syncs its files", DefaultText: "not asked"},
			&cli.StringFlag{Name: "nats-storage", Usage: "where the stream is kept: file or memory", Value: "file"},
			&cli.IntFlag{Name: "nats-replicas", Usage: "servers that keep the stream", Value: 1},
			&cli.StringFlag{Name: "nats-persist", Usage: "default, or async: acknowledge before the file is written", Value: "default"},
			&cli.IntFlag{Name: "nats-max-pending", Usage: "messages of a producer without an acknowledgement; a server takes some 10,000 of a stream", Value: 4000},
			&cli.DurationFlag{Name: "nats-ack-timeout", Usage: "a message that was not acknowledged by then has failed", Value: 5 * time.Second},
			&cli.StringFlag{Name: "nats-acks", Usage: "how consumers acknowledge: explicit; all: the last of a batch for all before it, with one consumer a group; none", Value: "explicit"},
			&cli.DurationFlag{Name: "nats-ack-wait", Usage: "the server sends again what a consumer did not acknowledge by then", Value: 30 * time.Second},
			&cli.IntFlag{Name: "nats-max-ack-pending", Usage: "messages on their way to a group without an acknowledgement (the server's own default is 1000)", Value: 10_000},
		),
		servers: func(c *cli.Context) []string { return hostPorts(c.String("nats-url"), "4222") },
		clean:   cleanNATS,
		placed:  natsPlace(),
		parse:   parseNATS,
	}}
}

// natsPlace are the flags that say where the server is and how it is spoken to.
func natsPlace() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "nats-url", Usage: "servers, with commas between; tls:// asks for TLS, the environment's NATS_TOKEN is the token", Value: "nats://127.0.0.1:4222"},
		&cli.StringFlag{Name: "nats-creds", Usage: "file with the client's JWT and key, which nobody else may read", DefaultText: "none"},
	}, brokerFlags()...)
}

// natsServer reads them.
func natsServer(c *cli.Context) (cfg jetstream.Config, err error) {
	urls, err := serverURLs("nats-url", c.String("nats-url"), "nats", "tls", "ws", "wss")
	if err != nil {
		return cfg, err
	}
	cfg = jetstream.Config{URL: c.String("nats-url"), Token: secret.Of(os.Getenv("NATS_TOKEN")), CredsFile: c.String("nats-creds")}
	if cfg.Identity, err = identityOf(c, "NATS"); err != nil {
		return cfg, err
	}
	cfg.Identity.TLS = urls[0].Scheme == "tls"
	if cfg.CredsFile != "" {
		if err := secret.CheckFile(cfg.CredsFile); err != nil {
			return cfg, command.Misusef("--nats-creds: %w", err)
		}
	}
	return cfg, nil
}

// cleanNATS removes a run's streams, and its groups from streams of others.
func cleanNATS(c *cli.Context, run string) ([]string, error) {
	cfg, err := natsServer(c)
	if err != nil {
		return nil, err
	}
	streams, groups, err := jetstream.RemoveStreams(c.Context, cfg, brokerNames(run))
	removed := []string{counted(streams, "stream", "streams") + " of run " + run + " from the server"}
	if groups > 0 {
		removed = append(removed, fmt.Sprintf("%s of run %s from streams of others, which stay", counted(groups, "consumer", "consumers"), run))
	}
	return removed, err
}

func parseNATS(c *cli.Context) (opener, error) {
	cfg, err := natsServer(c)
	if err != nil {
		return nil, err
	}
	cfg.Monitor = c.String("nats-monitor")
	cfg.Storage, cfg.Replicas = jetstream.Storage(c.String("nats-storage")), c.Int("nats-replicas")
	cfg.MaxPending, cfg.AckTimeout = c.Int("nats-max-pending"), c.Duration("nats-ack-timeout")
	cfg.Acks, cfg.AckWait, cfg.MaxAckPending = jetstream.AckPolicy(c.String("nats-acks")), c.Duration("nats-ack-wait"), c.Int("nats-max-ack-pending")
	switch mode := c.String("nats-persist"); mode {
	case "default":
	case "async":
		cfg.Async = true
	default:
		return nil, command.Misusef("--nats-persist %q: say default or async", mode)
	}
	if m := cfg.Monitor; m != "" {
		if u, err := url.Parse(m); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
			return nil, command.Misusef("--nats-monitor: write http://host:8222, without a user")
		}
	}
	if cfg.Acks == jetstream.AckAll && c.Int("consumers") > 1 {
		return nil, command.Misusef("--nats-acks all with %d consumers a group: one would acknowledge what another has: say explicit, or --consumers 1", c.Int("consumers"))
	}
	if err := positive(c, "nats-replicas", "nats-max-pending", "nats-max-ack-pending", "nats-ack-timeout", "nats-ack-wait"); err != nil {
		return nil, err
	}
	if err := cfg.Check(); err != nil {
		return nil, command.Misuse(err)
	}
	topic, err := existingStream(c)
	if err != nil {
		return nil, err
	}
	if cfg.Subject = c.String("nats-subject"); cfg.Subject != "" && topic == "" {
		return nil, command.Misusef("--nats-subject does nothing without --topic: leave it out")
	}
	if err := ofOurs(c, topic, "nats-storage", "nats-replicas", "nats-persist"); err != nil {
		return nil, err
	}
	return func(env queueEnv) queueFactory {
		cfg := cfg
		cfg.Partitions = env.partitions
		return func(ctx context.Context, name string) (queue.Queue, error) {
			cfg := cfg
			cfg.Name = brokerName(env.run, name)
			if stream := cmp.Or(env.topic, topic); stream != "" {
				cfg.Existing, cfg.Partitions, cfg.GroupPrefix, cfg.Name = true, 1, cfg.Name+"-", stream
			}
			return jetstream.New(ctx, cfg)
		}
	}, nil
}
