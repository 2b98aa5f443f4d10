//go:build !min && !nokafka

package main

import (
	"context"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/queue"
	"queuebench/queue/kafka"
	"queuebench/queue/kafka/embedded"
)

// kafkaKinds are Kafka and what speaks its protocol.
func kafkaKinds() []kind {
	k := kind{name: "kafka", usage: "a topic of Apache Kafka", headers: true, named: true, groups: true, flags: kafkaFlags(), servers: kafkaHosts, insecure: kafkaInsecure, clean: cleanKafka, placed: kafkaPlaceFlags()}
	k.parse = func(c *cli.Context) (opener, error) { return parseKafka(c, "kafka") }
	r := k
	r.name, r.usage = "redpanda", "the same of Redpanda"
	r.parse = func(c *cli.Context) (opener, error) { return parseKafka(c, "redpanda") }
	return []kind{k, r}
}

func kafkaFlags() []cli.Flag {
	return append(kafkaPlaceFlags(),
		topicFlag(),
		&cli.IntFlag{Name: "replication", Usage: "replicas of a partition of a created topic", DefaultText: "the broker's default"},
		&cli.GenericFlag{Name: "topic-config", Value: new(command.Strings), Usage: "a setting of a created topic, such as min.insync.replicas=2; given again, several", DefaultText: "none"},
		&cli.StringFlag{Name: "reading", Usage: "streaming, as consumer groups do, or static: partitions by hand, until the end that there was at the start", Value: string(kafka.Streaming)},
		&cli.StringFlag{Name: "start-time", Usage: "consumers start at the first message of this time: RFC 3339, or milliseconds since 1970", DefaultText: "not set"},
		&cli.BoolFlag{Name: "only-new", Usage: "consumers start at the end of the topic"},
		&cli.IntFlag{Name: "max-backlog", Usage: "messages that a consumer has fetched and not received, beyond which it pauses its partitions", DefaultText: "what one fetch may return"},
		&cli.StringFlag{Name: "commit-policy", Usage: "when a group's position is committed: interval, batch or never", DefaultText: "interval"},
		&cli.DurationFlag{Name: "transaction-interval", Usage: "how often a producer with a transactional.id commits", DefaultText: "100ms"},
		&cli.BoolFlag{Name: "pathway-headers", Usage: "a record whose header pathway_diff is below 0 takes one back: it is counted, and no delivery", Value: true},
	)
}

// kafkaPlaceFlags say where the cluster is and how it is spoken to.
func kafkaPlaceFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "brokers", Usage: "servers as host:port, with commas (environment: KAFKA_BROKERS); embedded: a fake one in this process, the floor of client and harness"},
		&cli.StringFlag{Name: "kafka-config", Usage: "file of settings, a name=value a line, with librdkafka's names: see docs/kafka.md", DefaultText: "none"},
		&cli.GenericFlag{Name: "kafka-set", Aliases: []string{"X"}, Value: new(command.Strings), Usage: "such a setting, as name=value, over those of the file; given again, several", DefaultText: "none"},
	}
}

// parseKafka reads the flags of a queue on Kafka, whose results go by a name.
func parseKafka(c *cli.Context, name string) (opener, error) {
	s, notes, inProcess, err := kafkaSettings(c)
	if err != nil {
		return nil, err
	}
	cfg := kafka.Config{
		Kind: name, Settings: s, InProcess: inProcess, Reading: kafka.Reading(c.String("reading")),
		Replication: c.Int("replication"), MaxBacklog: c.Int("max-backlog"), Diffs: c.Bool("pathway-headers"),
	}
	if err := kafkaTopic(c, &cfg); err != nil {
		return nil, err
	}
	started, err := kafkaStart(c, &cfg)
	if err != nil {
		return nil, err
	}
	if err := kafkaReaders(c, &cfg); err != nil {
		return nil, err
	}
	sample := cfg
	if !sample.Existing {
		sample.Topic = "sample"
	}
	if err := sample.Check(); err != nil {
		return nil, command.Misuse(err)
	}
	tellNotes(c, append(notes, started...))
	return func(env queueEnv) queueFactory {
		return func(ctx context.Context, name string) (queue.Queue, error) {
			cfg := cfg
			cfg.Partitions = env.partitions
			if env.topic != "" {
				cfg.Topic, cfg.Existing = env.topic, true
			}
			cfg.GroupPrefix = topicName(env.run, name)
			if !cfg.Existing {
				cfg.Topic = topicName(env.run, name)
			}
			if cfg.InProcess {
				return embedded.Open(ctx, cfg)
			}
			return kafka.New(ctx, cfg)
		}
	}, nil
}

// kafkaHosts are the servers that the flags name.
func kafkaHosts(c *cli.Context) []string {
	s, _, inProcess, err := kafkaSettings(c)
	if err != nil || inProcess {
		return nil // parse says why
	}
	return s.Brokers
}

// kafkaInsecure is what of TLS is switched off.
func kafkaInsecure(c *cli.Context) (all []string) {
	s, _, _, err := kafkaSettings(c)
	switch {
	case err != nil || !strings.HasSuffix(s.Protocol, "ssl"): // parse says why
	case s.TLS.Insecure:
		all = append(all, "insecure: TLS certificates of the brokers were not verified (enable.ssl.certificate.verification=false), so nobody knows who answered")
	case s.TLS.AnyName:
		all = append(all, "insecure: the names in the brokers' TLS certificates were not compared with theirs (ssl.endpoint.identification.algorithm=none)")
	}
	return all
}

// cleanKafka removes the topics that a run made.
func cleanKafka(c *cli.Context, run string) ([]string, error) {
	s, notes, inProcess, err := kafkaSettings(c)
	if err != nil {
		return nil, err
	}
	if inProcess {
		return nil, command.Misusef("--brokers embedded ended with its run: there is nothing to remove")
	}
	tellNotes(c, notes)
	n, err := kafka.RemoveTopics(c.Context, s, topicPrefix(run))
	return []string{counted(n, "topic", "topics") + " of run " + run + " from the brokers"}, err
}

// topicName is the topic of a step of a run. All of a run begin alike, so that
// `bench clean` finds them.
func topicName(run, name string) string { return topicPrefix(run) + name }

func topicPrefix(run string) string { return "queuebench." + run + "." }

// kafkaReaders is how many consumers of a group share the partitions.
func kafkaReaders(c *cli.Context, cfg *kafka.Config) error {
	cfg.Readers = c.Int("consumers")
	if cfg.Reading != kafka.Static {
		return nil
	}
	switch c.Command.Name {
	case "consume", "backlog", "closed":
	default:
		return command.Misusef("--reading static ends at what there is when it starts, which in `bench %s` is nothing: use it with `bench consume`, or with `bench backlog`", c.Command.Name)
	}
	if !command.IsSet(c, "consumers") {
		cfg.Readers = min(runtime.GOMAXPROCS(0), max(1, c.Int("partitions")))
		return c.Set("consumers", itoa(cfg.Readers))
	}
	return nil
}
